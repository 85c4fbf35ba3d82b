// Every link of a page to another file of the repository, or to a heading, leads somewhere.
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { conclude, filesUnder, root } from './files.js';

const LINK = /\]\(([^()\s]+)\)/g;
const HEADING = /^#+ (.+)$/gm;
const FENCED = /^( *)(`{3,}).*\n[\s\S]*?\n *\2$/gm;

process.chdir(root);
const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...filesUnder('docs')].filter(
  (file) => file.endsWith('.md'),
);
/** @type {Map<string, { text: string, anchors: Set<string> }>} */
const known = new Map(pages.map((page) => [page, read(page)]));
/** @type {string[]} */
const failures = [];
let count = 0;
for (const [page, { text }] of known)
  for (const { 1: link = '', index } of text.matchAll(LINK)) check(page, link, lineAt(text, index));
conclude(failures, `${count} links between ${pages.length} pages lead somewhere`);

/** @param {string} page @param {string} link @param {number} line */
function check(page, link, line) {
  if (/^[a-z]+:/.test(link)) return;
  count++;
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : posix.join(posix.dirname(page), path);
  if (!existsSync(target)) failures.push(`${page}:${line} links to ${target}, which does not exist.`);
  else if (anchor !== undefined && !known.get(target)?.anchors.has(anchor))
    failures.push(
      `${page}:${line} links to #${anchor}, but ${target} has no such heading. Write the heading's words, in lower case, with hyphens.`,
    );
}

/** @param {string} page */
function read(page) {
  const text = readFileSync(page, 'utf8').replace(FENCED, (block) => block.replace(/[^\n]/g, ' '));
  /** @type {Map<string, number>} */
  const uses = new Map();
  const anchors = [...text.matchAll(HEADING)].map(([, heading = '']) => {
    const anchor = anchorOf(heading);
    const before = uses.get(anchor) ?? 0;
    uses.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  });
  return { text, anchors: new Set(anchors) };
}

/**
 * The name that GitHub gives a heading.
 * @param {string} heading
 */
function anchorOf(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

/** @param {string} text @param {number} index */
function lineAt(text, index) {
  return text.slice(0, index).split('\n').length;
}
