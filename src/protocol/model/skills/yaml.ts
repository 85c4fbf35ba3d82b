// Reads the subset of YAML that front matter is written in: no anchors, aliases, tags, directives or complex keys. So nothing can
// grow when it is read, and every value is JSON.

import { checkPlain, InlineReader, MAX_DEPTH, resolveScalar, trimBlanks, YamlError } from './yaml-inline.js';

/** Reads a mapping. `firstLine` is the number of the text's first line in its file, for errors. Throws a `YamlError`. */
export function readYaml(text: string, firstLine: number): Record<string, unknown> {
  const reader = new BlockReader(text.split('\n'), firstLine);
  const value = reader.document();
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new YamlError('"key: value" is expected.', firstLine);
  return value as Record<string, unknown>;
}

/** A line that has more than blanks and a comment. */
interface Line {
  readonly indent: number;
  readonly text: string;
}

class BlockReader {
  readonly #lines: readonly string[];
  readonly #firstLine: number;
  #at = 0;

  constructor(lines: readonly string[], firstLine: number) {
    this.#lines = lines;
    this.#firstLine = firstLine;
  }

  document(): unknown {
    const value = this.#node(0, 0);
    if (this.#peek() !== undefined) throw this.#fail('The line is not indented like the lines above it.');
    return value;
  }

  /** The value that begins on the next line; null if that line is indented less than `least`. */
  #node(least: number, depth: number): unknown {
    const line = this.#peek();
    if (line === undefined || line.indent < least) return null;
    if (depth > MAX_DEPTH) throw this.#fail(`Values are nested more than ${MAX_DEPTH} deep.`);
    if (isItem(line.text)) return this.#sequence(line.indent, depth);
    if (keyOf(line.text) !== undefined) return this.#mapping(line.indent, depth);
    return this.#inline(line.indent, least - 1, depth);
  }

  #sequence(indent: number, depth: number): unknown[] {
    const items: unknown[] = [];
    for (let line = this.#peek(); line?.indent === indent && isItem(line.text); line = this.#peek()) {
      const rest = line.text.slice(1).trimStart();
      if (rest === '' || rest.startsWith('#')) {
        this.#at++;
        items.push(this.#node(indent + 1, depth + 1));
      } else {
        // The text after the dash is read as if it stood alone on its line.
        const column = indent + line.text.length - rest.length;
        const isBlock = isItem(rest) || keyOf(rest) !== undefined;
        items.push(isBlock ? this.#within(column, rest, depth + 1) : this.#inline(column, indent, depth + 1));
      }
    }
    return items;
  }

  #within(column: number, rest: string, depth: number): unknown {
    const lines = [...this.#lines];
    lines[this.#at] = ' '.repeat(column) + rest;
    const inner = new BlockReader(lines, this.#firstLine);
    inner.#at = this.#at;
    const value = inner.#node(column, depth);
    this.#at = inner.#at;
    return value;
  }

  #mapping(indent: number, depth: number): Record<string, unknown> {
    const entries = new Map<string, unknown>();
    for (let line = this.#peek(); line !== undefined && line.indent >= indent; line = this.#peek()) {
      const key = line.indent === indent ? keyOf(line.text) : undefined;
      if (key === undefined) throw this.#fail('"key: value" is expected, indented like the lines above it.');
      if (entries.has(key.name)) throw this.#fail(`The key ${JSON.stringify(key.name)} is there twice.`);
      if (key.name === '<<') throw this.#fail('Merge keys ("<<") are not supported.');
      const rest = line.text.slice(key.end).trimStart();
      const column = indent + line.text.length - rest.length;
      entries.set(
        key.name,
        rest === '' || rest.startsWith('#')
          ? this.#below(indent, depth)
          : this.#inline(column, indent, depth),
      );
    }
    return Object.fromEntries(entries);
  }

  /** The value below a key. A sequence may be indented like the key itself. */
  #below(indent: number, depth: number): unknown {
    this.#at++;
    const next = this.#peek();
    const isList = next?.indent === indent && isItem(next.text);
    return this.#node(isList ? indent : indent + 1, depth + 1);
  }

  /** A value that begins in this column of the current line, below a key or dash with the indentation `parent`. */
  #inline(column: number, parent: number, depth: number): unknown {
    const text = (this.#lines[this.#at] as string).slice(column);
    const first = text[0] as string;
    if (first === '|' || first === '>') return this.#blockScalar(text, parent);
    if (!'"\'[{'.includes(first)) return this.#plain(text, parent);
    const rest = [text, ...this.#lines.slice(this.#at + 1)].join('\n');
    const reader = new InlineReader(rest, this.#line());
    const value = reader.value(depth);
    const after = rest.slice(reader.at).split('\n', 1)[0] as string;
    if (!/^[ \t]*(?:[ \t]#.*)?$/.test(after)) throw reader.fail('Nothing may follow the value on its line.');
    const until = this.#at + reader.line - this.#line();
    for (const line of this.#lines.slice(this.#at + 1, until + 1))
      if (line.trim() !== '' && indentOf(line) <= parent) throw this.#fail('The value must be indented.');
    this.#at = until + 1;
    return value;
  }

  #plain(text: string, parent: number): unknown {
    const line = this.#line();
    let value = this.#plainLine(text);
    checkPlain(value, line);
    let blanks = 0;
    let hasComment = /[ \t]#/.test(text);
    for (this.#at++; this.#at < this.#lines.length && !hasComment; this.#at++) {
      const next = this.#lines[this.#at] as string;
      if (next.trim() === '') {
        blanks++;
        continue;
      }
      if (indentOf(next) <= parent || next.trimStart().startsWith('#')) break;
      value += (blanks === 0 ? ' ' : '\n'.repeat(blanks)) + this.#plainLine(next.trimStart());
      blanks = 0;
      hasComment = /[ \t]#/.test(next);
    }
    return resolveScalar(value, line);
  }

  /** A line of an unquoted value, without its comment. */
  #plainLine(text: string): string {
    const comment = /[ \t]#/.exec(text);
    const value = trimBlanks(comment === null ? text : text.slice(0, comment.index));
    if (/:(?:[ \t]|$)/.test(value))
      throw this.#fail('An unquoted value has a colon that is followed by a space; put the value in quotes.');
    return value;
  }

  #blockScalar(header: string, parent: number): string {
    const match = /^[|>]([1-9]?)([-+]?)([1-9]?)[ \t]*(?:[ \t]#.*)?$/.exec(header);
    if (match === null || (match[1] && match[3]))
      throw this.#fail(`${JSON.stringify(header.slice(0, 20))} is not the beginning of a block of text.`);
    this.#at++;
    const from = this.#at;
    const firstText = this.#lines.slice(from).find((line) => line.trim() !== '');
    const stated = Number(match[1] || match[3] || 0);
    const indent = stated > 0 ? Math.max(parent, 0) + stated : indentOf(firstText ?? '');
    const isInside = (line: string): boolean =>
      line.trim() === '' || (indentOf(line) >= indent && indent > parent);
    while (this.#at < this.#lines.length && isInside(this.#lines[this.#at] as string)) this.#at++;
    const content = this.#lines
      .slice(from, this.#at)
      .map((line) => (line.trim() === '' && line.length <= indent ? '' : line.slice(indent)));
    let end = content.length;
    while (end > 0 && content[end - 1] === '') end--;
    const body = content.slice(0, end);
    const text = header[0] === '|' ? body.join('\n') : foldLines(body);
    if (match[2] === '-') return text;
    return match[2] === '+'
      ? text + '\n'.repeat(content.length - end + (end > 0 ? 1 : 0))
      : end > 0
        ? `${text}\n`
        : '';
  }

  #peek(): Line | undefined {
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at] as string;
      const text = trimBlanks(line.trimStart());
      if (text === '' || text.startsWith('#')) continue;
      const indent = indentOf(line);
      if (line[indent] === '\t') throw this.#fail('Tabs cannot indent YAML; use spaces.');
      return { indent, text };
    }
    return undefined;
  }

  #line(): number {
    return this.#firstLine + this.#at;
  }

  #fail(message: string): YamlError {
    return new YamlError(message, this.#line());
  }
}

function isItem(text: string): boolean {
  return text[0] === '-' && (text.length === 1 || text[1] === ' ' || text[1] === '\t');
}

/** The key that a line begins with, and the place after its colon. */
function keyOf(text: string): { readonly name: string; readonly end: number } | undefined {
  if (text[0] === '"' || text[0] === "'") {
    const reader = new InlineReader(text, 0);
    try {
      const name = reader.quoted();
      const colon = text.length - text.slice(reader.at).trimStart().length;
      return /^:(?:[ \t]|$)/.test(text.slice(colon)) ? { name, end: colon + 1 } : undefined;
    } catch {
      // The quote closes on a later line: it is a value.
      return undefined;
    }
  }
  const colon = /:(?:[ \t]|$)/.exec(text)?.index ?? -1;
  const name = colon < 0 ? '' : trimBlanks(text.slice(0, colon));
  const isKey = name !== '' && !'&*!|>%@`[]{},#?'.includes(name[0] as string) && !isItem(name);
  // YAML would make a number, a boolean or null of such a key.
  if (!isKey || /[ \t]#/.test(name) || resolveScalar(name, 0) !== name) return undefined;
  return { name, end: colon + 1 };
}

function indentOf(line: string): number {
  let indent = 0;
  while (line[indent] === ' ') indent++;
  return indent;
}

// Between two lines of text a line break is a space, unless one of them is indented further or there are empty lines.
function foldLines(lines: readonly string[]): string {
  let folded = '';
  let blanks = 0;
  let before: string | undefined;
  for (const line of lines) {
    if (line === '') {
      blanks++;
      continue;
    }
    const isIndented = /^[ \t]/.test(line) || (before !== undefined && /^[ \t]/.test(before));
    const breaks = before === undefined || !isIndented ? blanks : blanks + 1;
    folded += (before === undefined || breaks > 0 ? '\n'.repeat(breaks) : ' ') + line;
    blanks = 0;
    before = line;
  }
  return folded;
}
