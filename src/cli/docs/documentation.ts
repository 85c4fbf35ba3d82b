// The documentation that comes with the package: its pages, as the list llms.txt names them, and their sections.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fullmcp } from '../../client/model/options.js';
import { closestName } from '../../schema/explain/closest-name.js';
import { CommandError } from '../command/failures.js';

/** A page of the documentation. */
export interface DocPage {
  /** Its path below the folder, such as `cli/run.md`. */
  readonly file: string;
  readonly name: string;
  /** The section of the documentation that it belongs to, such as `Guides`. */
  readonly section: string;
  /** One sentence that says what it is about. */
  readonly sentence: string;
  /** The words that people ask for it with. */
  readonly asks: string;
}

/** A part of a page, from one heading to the next. */
export interface DocPart {
  readonly page: DocPage;
  /** Its heading; that of the page for the part at the top. */
  readonly heading: string;
  /** The anchor of the heading; empty for the part at the top. */
  readonly anchor: string;
  /** The Markdown, with the heading. */
  readonly text: string;
}

const LIST = 'llms.txt';
const MAX_FILE_BYTES = 4_000_000;
const MAX_PAGES = 5000;
/** The longest name of a page that is looked up. */
export const MAX_NAME = 300;
const ASKS = ' Asked as: ';
/** The words that may stand before the name of a page, in this order. */
const STARTS = ['docs://fullmcp/', './', 'dist/', 'docs/'];

/** The pages of a folder. They are read when they are needed. */
export class Documentation {
  readonly pages: readonly DocPage[];
  readonly #folder: string;
  readonly #byFile: ReadonlyMap<string, DocPage>;
  readonly #parts = new Map<string, readonly DocPart[]>();

  /** Throws a `CommandError` if the folder has no documentation. */
  constructor(folder: string) {
    this.#folder = folder;
    this.pages = listedPages(readText(join(folder, LIST)));
    this.#byFile = new Map(this.pages.map((page) => [page.file, page]));
  }

  /**
   * The page with a name such as `tasks`, `tasks.md`, `docs/tasks.md` or `docs://fullmcp/tasks.md`. Only pages of the list are found, so
   * that no name leads out of the folder.
   */
  find(typed: string): DocPage | undefined {
    const [path = ''] = typed.slice(0, MAX_NAME).trim().split('#');
    const name = STARTS.reduce(withoutStart, path);
    return this.#byFile.get(name) ?? this.#byFile.get(`${name}.md`);
  }

  /** The names of pages that somebody may have meant. */
  closeTo(typed: string): string | undefined {
    return closestName(typed.slice(0, MAX_NAME).replace(/\.md$/, ''), [
      ...this.pages.map(({ file }) => file.replace(/\.md$/, '')),
    ]);
  }

  /** The parts of a page, in order. */
  partsOf(page: DocPage): readonly DocPart[] {
    const known = this.#parts.get(page.file);
    if (known !== undefined) return known;
    const parts = partsIn(page, readText(join(this.#folder, page.file)));
    this.#parts.set(page.file, parts);
    return parts;
  }

  /** The Markdown of a page. */
  textOf(page: DocPage): string {
    return this.partsOf(page)
      .map(({ text }) => text)
      .join('');
  }
}

/** The documentation of the package that this program belongs to. */
export function ownDocumentation(): Documentation {
  return new Documentation(join(packageFolder(), 'dist/docs'));
}

/** The folder of the package that this program belongs to. */
export function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

function withoutStart(text: string, start: string): string {
  return text.startsWith(start) ? text.slice(start.length) : text;
}

function readText(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > MAX_FILE_BYTES)
      throw new CommandError('failed', `${file} is larger than ${MAX_FILE_BYTES} bytes.`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(
      'failed',
      `The documentation cannot be read (${code}: ${file}). Install the package again: npm install fullmcp@${fullmcp.version}`,
    );
  }
}

/** The pages that a list names, one on a line: `- [name](file): sentence Asked as: words`. */
function listedPages(list: string): readonly DocPage[] {
  const pages: DocPage[] = [];
  let section = '';
  for (const line of list.split('\n')) {
    if (line.startsWith('## ')) section = line.slice('## '.length).trim();
    const [, name, file, about = ''] = /^- \[([^\]]*)\]\(([^)\s]*)\): (.*)$/.exec(line) ?? [];
    if (name === undefined || file === undefined || pages.length === MAX_PAGES) continue;
    const at = about.lastIndexOf(ASKS);
    const [sentence, asks] =
      at < 0 ? [about, ''] : [about.slice(0, at).trim(), about.slice(at + ASKS.length).trim()];
    pages.push({ file, name, section, sentence, asks });
  }
  return pages;
}

function partsIn(page: DocPage, text: string): readonly DocPart[] {
  const anchorOf = anchors();
  const parts: { heading: string; anchor: string; lines: string[] }[] = [
    { heading: page.name, anchor: '', lines: [] },
  ];
  let fence = '';
  for (const line of text.split('\n')) {
    const [, mark = ''] = /^ *(`{3,}|~{3,})/.exec(line) ?? [];
    const [, marks = '', heading = ''] = (fence === '' && /^(#{1,6}) (.+)$/.exec(line)) || [];
    if (mark !== '' && fence === '') fence = mark;
    else if (mark !== '' && mark.startsWith(fence)) fence = '';
    const anchor = heading === '' ? '' : anchorOf(heading);
    const [top] = parts;
    if (marks.length === 1 && top !== undefined && parts.length === 1) top.heading = heading;
    else if (marks.length === 2 || marks.length === 3) parts.push({ heading, anchor, lines: [] });
    parts.at(-1)?.lines.push(line);
  }
  return parts.map(({ heading, anchor, lines }, at) => {
    const isLast = at === parts.length - 1;
    return { page, heading, anchor, text: `${lines.join('\n')}${isLast ? '' : '\n'}` };
  });
}

/** Makes the anchors of a page's headings as GitHub does: a repeated heading gets a number. */
function anchors(): (heading: string) => string {
  const counts = new Map<string, number>();
  return (heading) => {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    const times = counts.get(anchor) ?? 0;
    counts.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  };
}
