// Rejects phrases that make English readers stumble, in pages, comments and string literals. Arguments: the files and folders to
// check. Default: everything.
import { readFileSync, statSync } from 'node:fs';
import { conclude, filesUnder, root } from './files.js';
import { tokenize } from './scan.js';

/**
 * @typedef {object} Passage Prose from one place of a file: a page, a comment or a string.
 * @property {string} text
 * @property {number} line The line of its first character.
 * @property {boolean} [title] Whether a noun clause in lower case at its beginning is wrong too, as in the name of a test.
 */

const EVERYTHING = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'docs',
  'examples',
  'scripts',
  'src',
  'test',
];
/** Pages that are generated from the doc comments in `src`, which are checked there. */
const GENERATED = /^docs\/reference\b/;
const CODE = /\.[cm]?[jt]sx?$/;
/** Files that quote the phrases. */
const QUOTING = [
  'scripts/check-words.js',
  'test/unit/scripts/check-promises.test.ts',
  'test/unit/scripts/check-words.test.ts',
];

/** @type {{ pattern: RegExp, instead: string }[]} */
const PHRASES = [
  {
    pattern:
      /(?<!\bthere\s+)\b(?:is|are|was|were)\s+no\s+(?!(?:longer|one|more|less|fewer|better|worse|different|matter)\b)\w+/gi,
    instead: 'write "is not a …", or "there is no …"',
  },
  {
    pattern:
      /\ba\s+text\b(?!\s+(?:block|file|editor|field|node|area|box|format|message|encoder|decoder|stream))|\btexts\b/gi,
    instead: 'write "a string", "strings", or name the kind of text',
  },
  { pattern: /\bunless\s+told\b/gi, instead: 'write "by default" or "Default: …"' },
  { pattern: /\bfor\s+ever\b/gi, instead: 'write "forever"' },
  { pattern: /\bbelongs?\s+into\b/gi, instead: 'write "belongs in", or "put … inside"' },
  { pattern: /\bin\s+vain\b/gi, instead: 'write "without success", or say what failed' },
  { pattern: /\bput(?:s|ting)?\s+up\s+with\b/gi, instead: 'write "tolerate", "accept" or "skip"' },
  {
    pattern: /\bof\s+(?:its|their|his|her)\s+own\s+accord\b/gi,
    instead: 'write "on its own" or "automatically"',
  },
];
const CLAUSE = /\b(?:What|Who|Whoever|Whatever)\s+(?!to\b)\w+/g;
const LOWER_CLAUSE = /^(?:what|who|whoever|whatever)\s+(?!to\b)\w+(?=(?:\s+\S+){2})/g;
const SUBJECT = 'begin with the subject, such as the client, the server or a call';

process.chdir(root);
/** @type {string[]} */
const failures = [];
const files = (process.argv.length > 2 ? process.argv.slice(2) : EVERYTHING).flatMap(filesOf);
for (const file of files) {
  const source = readFileSync(file, 'utf8');
  for (const passage of CODE.test(file) ? passagesOf(source) : [pageOf(source)]) check(file, passage);
}
conclude(failures, `${files.length} files contain none of the phrases that readers stumble over`);

/** @param {string} path */
function filesOf(path) {
  const name = path.replace(/^\.\/|\/$/g, '');
  const files = statSync(name).isFile() ? [name] : filesUnder(name);
  return files.filter(
    (file) => (CODE.test(file) || file.endsWith('.md')) && !GENERATED.test(file) && !QUOTING.includes(file),
  );
}

/** @param {string} file @param {Passage} passage */
function check(file, { text, line, title = false }) {
  // Code in backticks, and the name of a parameter, stand for a noun.
  const prose = text.replace(/`[^`]*`|@(?:param|property|typedef) \{[^}]*\} \S+/g, (code) =>
    code.replace(/[^\n]/g, 'x'),
  );
  /** @param {RegExpExecArray} found @param {string} instead */
  const report = ({ 0: { length }, index }, instead) => {
    const at = line + text.slice(0, index).split('\n').length - 1;
    const phrase = text.slice(index, index + length).replace(/\s+/g, ' ');
    failures.push(`${file}:${at} "${phrase}": ${instead}.`);
  };
  for (const { pattern, instead } of PHRASES)
    for (const found of prose.matchAll(pattern)) report(found, instead);
  for (const clause of title ? [CLAUSE, LOWER_CLAUSE] : [CLAUSE])
    for (const found of prose.matchAll(clause)) if (isClause(prose, found.index)) report(found, SUBJECT);
}

/**
 * Whether the words at `start` begin a sentence that is not a question. The text of a link names a page.
 * @param {string} text @param {number} start
 */
function isClause(text, start) {
  const end = /[.!?](?=["'`*)]*(?:\s|$))|\n\s*\n|\|/g;
  end.lastIndex = start;
  return text[start - 1] !== '[' && end.exec(text)?.[0] !== '?';
}

/**
 * A page without its code and its headings, which are not sentences.
 * @param {string} source
 * @returns {Passage}
 */
function pageOf(source) {
  const text = source.replace(/^( *)(`{3,}).*\n[\s\S]*?\n *\2$/gm, blank).replace(/^#+ .*$/gm, blank);
  return { text, line: 1 };
}

/**
 * The comments of a file, and those of its strings that are prose: they have a space.
 * @param {string} source
 * @returns {Passage[]}
 */
function passagesOf(source) {
  /** @type {import('./scan.js').Comment[]} */
  const comments = [];
  const strings = tokenize(source, comments)
    .filter(({ kind, text }) => (kind === 'string' || kind === 'template') && text.includes(' '))
    .map(({ kind, text, line }) => ({ text, line, title: kind === 'string' }));
  return [...joined(comments), ...strings];
}

/**
 * Comments without their marks; those on consecutive lines are one passage.
 * @param {import('./scan.js').Comment[]} comments
 */
function joined(comments) {
  /** @type {Passage[]} */
  const passages = [];
  let next = 0;
  for (const { text, line } of comments) {
    const prose = text.replace(/^(\/\/|\/\*+)|\*\/$|^\s*\*(?!\*)/gm, blank);
    const last = passages.at(-1);
    if (last !== undefined && line === next && text.startsWith('//')) last.text += `\n${prose}`;
    else passages.push({ text: prose, line });
    next = line + text.split('\n').length;
  }
  return passages;
}

/** @param {string} text As many spaces, so that lines and places stay the same. */
function blank(text) {
  return text.replace(/[^\n]/g, ' ');
}
