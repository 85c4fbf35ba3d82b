// Makes the documentation that the package and the site carry for programs: pages without comments and pictures, whose links lead to files
// that are there, and the lists for models, llms.txt and its longer forms. Nothing of it is written by hand.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { sections } from '../docs/pages.js';
import { filesUnder, readManifest, root } from './files.js';
import { isPlaceholder, sourceUrl } from './project.js';

/**
 * @typedef {object} DocPage
 * @property {string} file Its path below docs.
 * @property {string} name A short name.
 * @property {string} title Its first heading.
 * @property {string} section The section of docs/pages.js.
 * @property {string} sentence One sentence that says what the page is about.
 * @property {string} asks The words that people use when they look for it; may be empty.
 * @property {string} text The Markdown, as the package carries it.
 */

/** Where a build writes the pages: a part of the package, because the pages of a clone carry comments and links that only a clone can use. */
const DOCS_FOLDER = 'dist/docs';
/** The most bytes of llms-small.txt. */
export const SMALL_BYTES = 60_000;
/** Pages about the source, which the package does not have. */
const SOURCE_PAGES = ['architecture.md', 'rooms.md'];
/** Files beside docs that the package has, too. */
const BESIDE = ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE'];
const MAX_SENTENCE = 240;

/**
 * The pages that a model needs first, with the bytes that each may take. Of several names, the first that exists is taken. A page is cut
 * between its sections.
 * @type {readonly (readonly [names: readonly string[], bytes: number])[]}
 */
const SMALL_PAGES = [
  [['imports.md'], 5000],
  [['tools.md', 'server.md'], 13_500],
  [['asking.md'], 8500],
  [['tasks.md'], 7500],
  [['protect-a-server.md'], 7000],
  [['testing.md'], 7500],
  [['stdio.md'], 2500],
  [['http.md'], 4500],
];

/**
 * All pages in the order of docs/pages.js. The reference and the commands are found in their folders.
 * @returns {DocPage[]}
 */
export function docPages() {
  const listed = sections.flatMap(({ name: section, groups }) => [
    ...groups.flatMap(({ pages }) => pages.map((page) => ({ asks: '', ...page, section }))),
    ...filesOf(section).map((file) => ({ file, name: '', asks: '', section })),
  ]);
  const pages = listed.filter(
    ({ file }) => !SOURCE_PAGES.includes(file) && existsSync(`${root}docs/${file}`),
  );
  const known = new Set(pages.map(({ file }) => file));
  return pages.map(({ file, name, section, asks }) => {
    const source = readFileSync(`${root}docs/${file}`, 'utf8');
    const title = /^# (.+)$/m.exec(source)?.[1] ?? file;
    const about = section === 'Reference' ? namesOf(source) : firstSentence(source);
    // The heading says more than a short name does.
    const sentence = [...(name === '' || name === title ? [] : [`${title}.`]), about].join(' ').trim();
    const text = `${withOwnLinks(withoutComments(source), file, known).trimEnd()}\n`;
    return { file, name: name || title, title, section, sentence: sentence || title, asks, text };
  });
}

/** The pages of a section that docs/pages.js does not list one by one, the overview first. @param {string} section */
function filesOf(section) {
  const folder = { Reference: 'reference', Command: 'cli' }[section];
  const files = folder === undefined ? [] : filesUnder(`${root}docs/${folder}`);
  return files
    .filter((file) => file.endsWith('.md'))
    .map((file) => `${folder}/${posix.basename(file)}`)
    .sort((a, b) => Number(b.endsWith('/index.md')) - Number(a.endsWith('/index.md')));
}

/**
 * The lists for models. `link` makes the address of a page from its file; by default the addresses are relative to the list.
 * @param {readonly DocPage[]} pages
 * @param {{ link?: (file: string) => string }} [options]
 * @returns {Record<'llms.txt' | 'llms-full.txt' | 'llms-small.txt', string>}
 */
export function listsForModels(pages, { link = (file) => file } = {}) {
  return {
    'llms.txt': pageList(pages, link),
    'llms-full.txt': joined('All pages, one after the other. Each begins with its file.', pages),
    'llms-small.txt': joined(
      'The pages that are needed first, shortened. Each begins with its file; the whole pages are in llms.txt.',
      smallPages(pages),
    ),
  };
}

/** @param {readonly DocPage[]} pages @param {(file: string) => string} link */
function pageList(pages, link) {
  const names = [...new Set(pages.map(({ section }) => section))];
  const lists = names.map((name) => {
    const lines = pages
      .filter(({ section }) => section === name)
      .map(({ file, name: page, sentence, asks }) =>
        [`- [${page}](${link(file)}): ${sentence}`, ...(asks ? [`Asked as: ${asks}`] : [])].join(' '),
      );
    return `## ${name}\n\n${lines.join('\n')}`;
  });
  const about =
    'Each line names a page, says what it is about, and ends with words that people ask for it with.';
  return `${heading()}\n\n${about}\n\n${lists.join('\n\n')}\n`;
}

/** @param {string} about @param {readonly Pick<DocPage, 'file' | 'text'>[]} pages */
function joined(about, pages) {
  const parts = pages.map(({ file, text }) => `<page file="${file}">\n\n${text.trim()}\n\n</page>`);
  return `${heading()}\n\n${about}\n\n${parts.join('\n\n')}\n`;
}

function heading() {
  const { name, version, description } = readManifest(root);
  return `# ${name} ${version}\n\n> ${description}`;
}

/** @param {readonly DocPage[]} pages */
function smallPages(pages) {
  return SMALL_PAGES.map(([names, bytes]) => {
    const page = names.flatMap((name) => pages.find(({ file }) => file === name) ?? [])[0];
    if (page === undefined)
      throw new Error(
        `llms-small.txt needs ${names.join(' or ')}. Correct SMALL_PAGES in ${import.meta.url}.`,
      );
    return { file: page.file, text: shortened(page, bytes) };
  });
}

/** The first sections of a page, as many as fit, and the headings of the others. @param {DocPage} page @param {number} bytes */
function shortened({ file, text }, bytes) {
  const parts = sectionsOf(text);
  const kept = [];
  let size = 0;
  for (const part of parts) {
    size += Buffer.byteLength(part);
    if (size > bytes && kept.length > 0) break;
    kept.push(part);
  }
  const left = parts.slice(kept.length).flatMap((part) => /^#{2,3} (.+)$/m.exec(part)?.[1] ?? []);
  const more = left.length > 0 ? [`More in ${file}: ${left.join('; ')}.`] : [];
  return [kept.join('').trim(), ...more].join('\n\n');
}

/** A page cut before each heading of the second and third level. @param {string} text */
function sectionsOf(text) {
  /** @type {string[]} */
  const parts = [''];
  for (const { lines, isCode } of segmentsOf(text))
    for (const line of lines) {
      if (!isCode && /^#{2,3} /.test(line)) parts.push('');
      parts[parts.length - 1] += `${line}\n`;
    }
  return parts;
}

/** The page without HTML comments outside of code. @param {string} source */
export function withoutComments(source) {
  return changeProse(source, (prose) => {
    let text = '';
    let at = 0;
    for (;;) {
      const start = nextComment(prose, at);
      const end = start < 0 ? -1 : prose.indexOf('-->', start);
      if (end < 0) return (text + prose.slice(at)).replace(/\n{3,}/g, '\n\n');
      text += prose.slice(at, start);
      at = end + '-->'.length;
      // A comment on lines of its own takes them with it.
      if (prose[at] === '\n') text = text.replace(/(^|\n)[ \t]+$/, '$1');
      if ((text === '' || text.endsWith('\n')) && prose[at] === '\n') at += 1;
    }
  }).replace(/\n{3,}/g, '\n\n');
}

/** The next comment that is not in backticks. @param {string} prose @param {number} from */
function nextComment(prose, from) {
  for (let at = prose.indexOf('<!--', from); at >= 0; at = prose.indexOf('<!--', at + 4)) {
    const line = prose.slice(prose.lastIndexOf('\n', at) + 1, at);
    if ((line.split('`').length - 1) % 2 === 0) return at;
  }
  return -1;
}

/**
 * The page with links to files of the package only. Pictures become their description; a link to the repository becomes its address, or the
 * words alone while the project has no address.
 * @param {string} text @param {string} file @param {ReadonlySet<string>} known The pages of the package.
 */
export function withOwnLinks(text, file, known) {
  return changeProse(text, (prose) =>
    prose
      .replace(/!\[([^\]\n]*)\]\([^)\s]+\)\n?/g, (_, words) =>
        words.includes(' ') ? `(Picture: ${words})\n` : '',
      )
      .replace(/\[((?:[^\]\n[]|\n(?!\n))*)\]\(([^)\s]+)\)/g, (link, words, target) => {
        if (/^[a-z]+:/.test(target) || target.startsWith('#')) return link;
        const [path = ''] = target.split('#');
        const place = posix.normalize(posix.join('docs', posix.dirname(file), path));
        const isThere = known.has(place.replace(/^docs\//, ''));
        if (BESIDE.includes(place)) return `[${words}](../${target})`;
        if (isThere) return link;
        return isPlaceholder ? named(words, place) : `[${words}](${sourceUrl(place)})`;
      }),
  );
}

/** The words of a link, with the place if they do not say it. @param {string} words @param {string} place */
function named(words, place) {
  return words.includes(posix.basename(place, '.md')) ? words : `${words} (\`${place}\` in the repository)`;
}

/** The functions, values and classes of a page of the reference, as a sentence. @param {string} source */
function namesOf(source) {
  const [own = ''] = source.split(/^## Types$/m);
  const names = [...own.matchAll(/^### (\S+)$/gm)].map(([, name]) => `\`${name}\``);
  if (names.length === 0) return firstSentence(source);
  const entry = /^# (.+)$/m.exec(source)?.[1] ?? '';
  return `Every export of \`${entry}\` with its types: ${names.join(', ')}.`;
}

/** The first sentence of a page that is prose. @param {string} source */
function firstSentence(source) {
  const prose = segmentsOf(withoutComments(source))
    .filter(({ isCode }) => !isCode)
    .map(({ lines }) => lines.join('\n'))
    .join('\n\n');
  const paragraph = prose
    .split(/\n{2,}/)
    .map((part) => part.trim())
    .find((part) => part !== '' && !/^(?:#|\||!|<|>|[-*] |\d+\. )/.test(part));
  const plain = (paragraph ?? '')
    .replace(/\[([^\]]*)\]\([^)\s]*\)/g, '$1')
    .replaceAll('**', '')
    .replace(/\s+/g, ' ')
    .trim();
  const [sentence = ''] = /^.*?[.:](?=\s|$)/.exec(plain) ?? [plain];
  const whole = sentence.replace(/:$/, '.');
  return whole.length <= MAX_SENTENCE ? whole : `${whole.slice(0, whole.lastIndexOf(' ', MAX_SENTENCE))} …`;
}

/** Changes the parts of a page that are not blocks of code. @param {string} text @param {(prose: string) => string} change */
function changeProse(text, change) {
  return segmentsOf(text)
    .map(({ lines, isCode }) => (isCode ? lines.join('\n') : change(lines.join('\n'))))
    .join('\n');
}

/**
 * The lines of a page, in turns of prose and blocks of code.
 * @param {string} text
 * @returns {{ lines: string[], isCode: boolean }[]}
 */
function segmentsOf(text) {
  /** @type {{ lines: string[], isCode: boolean }[]} */
  const segments = [{ lines: [], isCode: false }];
  let fence = '';
  for (const line of text.split('\n')) {
    const [, mark = ''] = /^ *(`{3,}|~{3,})/.exec(line) ?? [];
    const isOpening = fence === '' && mark !== '';
    const isClosing = fence !== '' && mark.startsWith(fence) && line.trim() === mark;
    if (isOpening) segments.push({ lines: [], isCode: true });
    segments.at(-1)?.lines.push(line);
    if (isClosing) segments.push({ lines: [], isCode: false });
    if (isOpening) fence = mark;
    if (isClosing) fence = '';
  }
  return segments;
}

/**
 * Writes the pages, llms.txt and llms-small.txt into a folder. llms-full.txt is for the site: in the package, it would be every page again.
 * @param {string} folder
 */
export function writeDocs(folder) {
  const next = `${folder}.next`;
  rmSync(next, { recursive: true, force: true });
  const pages = docPages();
  const { 'llms.txt': list, 'llms-small.txt': small } = listsForModels(pages);
  const files = [
    ...pages.map(({ file, text }) => [file, text]),
    ['llms.txt', list],
    ['llms-small.txt', small],
  ];
  for (const [file = '', text = ''] of files) {
    mkdirSync(posix.dirname(`${next}/${file}`), { recursive: true });
    writeFileSync(`${next}/${file}`, text);
  }
  rmSync(folder, { recursive: true, force: true });
  renameSync(next, folder);
}

/** Writes dist/docs if a page, the table of pages or this script has changed. */
export function buildDocs() {
  const stamp = `${root}build/docs.stamp`;
  const inputs = [...filesUnder(`${root}docs`), `${root}scripts/package-docs.js`, `${root}package.json`];
  const hash = createHash('sha256');
  for (const file of inputs) {
    const { mtimeMs, size } = statSync(file);
    hash.update(`${file} ${mtimeMs} ${size}\n`);
  }
  const print = hash.digest('hex');
  const folder = `${root}${DOCS_FOLDER}`;
  if (existsSync(folder) && existsSync(stamp) && readFileSync(stamp, 'utf8') === print) return;
  mkdirSync(`${root}build`, { recursive: true });
  writeDocs(folder);
  writeFileSync(stamp, print);
}
