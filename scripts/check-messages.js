// Checks that the messages which docs/troubleshooting.md explains are in the source: `…` stands for a value, and the parts between
// must be in the strings of one file.
import { readFileSync } from 'node:fs';
import { conclude, filesUnder, root } from './files.js';
import { tokenize } from './scan.js';

const PAGE = 'docs/troubleshooting.md';
const HEAD = /^\| message \|/;

process.chdir(root);
const sources = filesUnder('src')
  .filter((file) => file.endsWith('.ts'))
  .map((file) => textsOf(readFileSync(file, 'utf8')));
/** @type {string[]} */
const failures = [];
let count = 0;

readFileSync(PAGE, 'utf8')
  .split('\n')
  .forEach((line, i, lines) => {
    if (!inMessageTable(lines, i)) return;
    count++;
    const message = firstCell(line);
    const parts = (message ?? '').split('…').flatMap((part) => (/[a-z]/i.test(part) ? [part.trim()] : []));
    if (message === undefined || parts.length === 0) {
      failures.push(`${PAGE}:${i + 1} has no message in its first cell. Write it in backticks.`);
    } else if (!sources.some((text) => parts.every((part) => text.includes(part)))) {
      failures.push(`${PAGE}:${i + 1} no file of src contains "${message}". Correct the row, or remove it.`);
    }
  });
conclude(failures, `${count} messages of ${PAGE} are in the source`);

/** All strings of a file, with line breaks between them. @param {string} source */
function textsOf(source) {
  return tokenize(source)
    .filter(({ kind }) => kind === 'string' || kind === 'template')
    .map(({ text }) => text.replaceAll('\\`', '`').replaceAll("\\'", "'").replaceAll('\\$', '$'))
    .join('\n');
}

/** @param {string[]} lines @param {number} i */
function inMessageTable(lines, i) {
  if (!lines[i]?.startsWith('| `')) return false;
  let head = i;
  while (lines[head - 1]?.startsWith('|')) head--;
  return HEAD.test(lines[head] ?? '');
}

/** @param {string} line */
function firstCell(line) {
  const found = /^\| (`+) ?(.+?) ?\1[ ,]/.exec(line);
  return found?.[2]?.replaceAll('\\|', '|');
}
