// Reads Markdown line by line. Each line is looked at once for each level of nesting, and nesting is bounded.

export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'rule' }
  | { readonly kind: 'quote'; readonly blocks: readonly Block[] }
  | {
      readonly kind: 'list';
      readonly isOrdered: boolean;
      readonly start: number;
      readonly items: readonly (readonly Block[])[];
    }
  | { readonly kind: 'table'; readonly rows: readonly (readonly string[])[] }
  | { readonly kind: 'paragraph'; readonly text: string };

const MAX_LINES = 5000;
const MAX_DEPTH = 6;

export function blocksOf(text: string): readonly Block[] {
  return read(text.split('\n', MAX_LINES), 0);
}

/** Whether it is more readable as Markdown: it has a heading, a list, a table or a fence. */
export function looksLikeMarkdown(text: string): boolean {
  const blocks = read(text.slice(0, 4000).split('\n', 200), MAX_DEPTH - 1);
  return (
    blocks.some(({ kind }) => kind !== 'paragraph' && kind !== 'rule') ||
    /\*\*[^*\n]{1,80}\*\*/.test(text.slice(0, 4000))
  );
}

function read(lines: readonly string[], depth: number): readonly Block[] {
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    const trimmed = line.trim();
    if (trimmed === '') {
      at++;
      continue;
    }
    const fence = fenceOf(trimmed);
    if (fence) {
      const end = lines.findIndex((each, index) => index > at && each.trim() === fence);
      const until = end < 0 ? lines.length : end;
      const language = trimmed.slice(fence.length).trim().slice(0, 40);
      blocks.push({ kind: 'code', language, text: lines.slice(at + 1, until).join('\n') });
      at = until + 1;
      continue;
    }
    const level = headingLevel(trimmed);
    if (level > 0) {
      blocks.push({ kind: 'heading', level, text: trimmed.slice(level).trim() });
      at++;
    } else if (isRule(trimmed)) {
      blocks.push({ kind: 'rule' });
      at++;
    } else if (trimmed.startsWith('>') && depth < MAX_DEPTH) {
      const until = endOf(lines, at, (each) => each.trim().startsWith('>'));
      const inner = lines.slice(at, until).map((each) => each.trim().slice(1).replace(/^ /, ''));
      blocks.push({ kind: 'quote', blocks: read(inner, depth + 1) });
      at = until;
    } else if (markerOf(line) && depth < MAX_DEPTH) {
      const list = readList(lines, at, depth);
      blocks.push(list.block);
      at = list.until;
    } else if (trimmed.includes('|') && isDelimiter(lines[at + 1])) {
      const until = endOf(lines, at, (each) => each.includes('|'));
      const rows = [line, ...lines.slice(at + 2, until)].map(cellsOf);
      blocks.push({ kind: 'table', rows });
      at = until;
    } else {
      const until = endOf(lines, at + 1, (each) => !startsBlock(each));
      blocks.push({ kind: 'paragraph', text: lines.slice(at, until).join('\n') });
      at = until;
    }
  }
  return blocks;
}

function endOf(lines: readonly string[], from: number, isInside: (line: string) => boolean): number {
  let at = from;
  while (at < lines.length && isInside(lines[at] ?? '')) at++;
  return at;
}

function startsBlock(line: string): boolean {
  const trimmed = line.trim();
  return (
    trimmed === '' ||
    trimmed.startsWith('>') ||
    fenceOf(trimmed) !== undefined ||
    headingLevel(trimmed) > 0 ||
    markerOf(line) !== undefined
  );
}

function fenceOf(trimmed: string): string | undefined {
  return trimmed.startsWith('```') ? '```' : trimmed.startsWith('~~~') ? '~~~' : undefined;
}

function headingLevel(trimmed: string): number {
  let level = 0;
  while (level < 6 && trimmed[level] === '#') level++;
  return level > 0 && trimmed[level] === ' ' ? level : 0;
}

function isRule(trimmed: string): boolean {
  const [first = ''] = trimmed;
  if (!'-*_'.includes(first) || trimmed.length < 3) return false;
  return Array.from(trimmed).every((each) => each === first || each === ' ');
}

function isDelimiter(line: string | undefined): boolean {
  const trimmed = line?.trim() ?? '';
  return trimmed.includes('-') && Array.from(trimmed).every((each) => '|-: '.includes(each));
}

function cellsOf(line: string): readonly string[] {
  const trimmed = line.trim();
  const inner = trimmed.slice(trimmed.startsWith('|') ? 1 : 0, trimmed.endsWith('|') ? -1 : undefined);
  return inner.split('|', 40).map((cell) => cell.trim());
}

interface Marker {
  readonly indent: number;
  /** Where the text of the item begins. */
  readonly text: number;
  readonly number?: number;
}

function markerOf(line: string): Marker | undefined {
  let indent = 0;
  while (line[indent] === ' ' || line[indent] === '\t') indent++;
  const first = line[indent] ?? '';
  if ('-*+'.includes(first) && first !== '' && line[indent + 1] === ' ') return { indent, text: indent + 2 };
  let end = indent;
  while (end - indent < 9 && (line[end] ?? '') >= '0' && (line[end] ?? '') <= '9') end++;
  if (end === indent || !'.)'.includes(line[end] ?? ' ') || line[end + 1] !== ' ') return undefined;
  return { indent, text: end + 2, number: Number(line.slice(indent, end)) };
}

function readList(lines: readonly string[], from: number, depth: number): { block: Block; until: number } {
  const first = markerOf(lines[from] ?? '') ?? { indent: 0, text: 0 };
  const isOrdered = first.number !== undefined;
  const items: Block[][] = [];
  let item: string[] = [];
  let at = from;
  for (; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const marker = markerOf(line);
    if (marker && marker.indent <= first.indent + 1 && (marker.number !== undefined) === isOrdered) {
      if (at > from) items.push([...read(item, depth + 1)]);
      item = [line.slice(marker.text)];
      continue;
    }
    const isIndented = line.startsWith(' '.repeat(first.indent + 2)) || line.startsWith('\t');
    const isBlankInside = line.trim() === '' && /^\s/.test(lines[at + 1] ?? '');
    if (!isIndented && !isBlankInside) break;
    item.push(line.slice(Math.min(first.text, line.length - line.trimStart().length)));
  }
  items.push([...read(item, depth + 1)]);
  return { block: { kind: 'list', isOrdered, start: first.number ?? 1, items }, until: at };
}
