// Checks that each ```ts block in README.md and docs/ is the text of a file, or of a region of one, that compiles and runs.
// --write copies the text into the pages. docs/reference is generated from doc comments instead: see reference.js.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { conclude, filesUnder, root } from './files.js';
import { regionOf, SNIPPET } from './markdown.js';

process.chdir(root);
const write = process.argv.includes('--write');
/** @type {string[]} */
const failures = [];
let count = 0;

for (const page of ['README.md', ...filesUnder('docs')]) {
  if (page.endsWith('.md') && !page.startsWith('docs/reference/') && existsSync(page)) checkPage(page);
}
conclude(failures, `${count} snippets match their files`);

/** @param {string} page */
function checkPage(page) {
  const lines = readFileSync(page, 'utf8').split('\n');
  const out = [];
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? '';
    out.push(line);
    const fence = /^\s*(`{3,})(\S*)/.exec(line);
    if (fence === null) continue;
    const end = lines.findIndex((text, at) => at > i && text.trim() === fence[1]);
    if (end < 0) {
      failures.push(`${page}:${i + 1} opens a block that is never closed. Add ${fence[1]} below it.`);
      return;
    }
    const body = lines.slice(i + 1, end);
    out.push(
      ...(isTypeScript(fence[2] ?? '') || SNIPPET.test(lines[i - 1] ?? '')
        ? checkBlock(page, i, lines[i - 1] ?? '', body)
        : body),
      lines[end] ?? '',
    );
    i = end;
  }
  if (write) save(page, lines.join('\n'), out.join('\n'));
}

/**
 * The lines that the block should have; its own lines if its file cannot be read.
 * @param {string} page @param {number} at @param {string} above @param {string[]} body
 */
function checkBlock(page, at, above, body) {
  count++;
  const mark = SNIPPET.exec(above);
  if (mark === null) {
    failures.push(
      `${page}:${at + 1} is a ts block without a file. Write <!-- snippet: path#region --> on the line above.`,
    );
    return body;
  }
  const expected = snippet(mark[1] ?? '', mark[2]);
  if (typeof expected === 'string') {
    failures.push(`${page}:${at} ${expected}`);
    return body;
  }
  const drift = expected.findIndex((text, i) => text !== body[i]);
  if (!write && (drift >= 0 || body.length !== expected.length)) {
    const first = drift >= 0 ? drift : expected.length;
    failures.push(
      `${page}:${at + 2 + first} differs from ${mark[1]}. Run: node scripts/check-snippets.js --write`,
      `  - ${body[first] ?? '(the block ends)'}`,
      `  + ${expected[first] ?? '(the region ends)'}`,
    );
  }
  return expected;
}

/**
 * The lines that a block should have, or why there are none.
 * @param {string} file @param {string | undefined} region
 * @returns {string[] | string}
 */
function snippet(file, region) {
  if (!existsSync(file)) return `names ${file}, which does not exist. Write it, or name another.`;
  const lines = regionOf(readFileSync(file, 'utf8'), region);
  return typeof lines === 'string' ? `names ${file}, which ${lines}` : lines;
}

/** @param {string} language */
function isTypeScript(language) {
  return /^(ts|tsx|mts|typescript)\b/.test(language);
}

/** @param {string} page @param {string} before @param {string} after */
function save(page, before, after) {
  if (before === after) return;
  writeFileSync(page, after);
  console.log(`wrote ${page}`);
}
