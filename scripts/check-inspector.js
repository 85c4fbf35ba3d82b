// Enforces the budgets of the inspector's page as it is shipped: the shell that the first paint and the first call need, and everything
// together. Also checks that the page names no address outside of itself.
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { brotliDecompressSync, gzipSync } from 'node:zlib';
import { conclude, filesUnder, kilobytes, root } from './files.js';

const SHELL_BYTES = 60_000;
const ALL_BYTES = 200_000;
const SHIPPED = 'dist/inspector';
const FOREIGN = /(?:src|href|import|fetch)\s*[=(]\s*["'`]https?:/;

process.chdir(root);
/** @type {string[]} */
const failures = [];
/** @type {Map<string, { text: string, bytes: number }>} By path below dist/inspector. */
const files = new Map();
for (const file of filesUnder(SHIPPED)) {
  if (!/\.(?:br|json|d\.ts)$/.test(file)) failures.push(`${file} is not compressed. Ship .br only.`);
  if (!file.endsWith('.br')) continue;
  const content = brotliDecompressSync(readFileSync(file));
  files.set(file.slice(SHIPPED.length + 1, -'.br'.length), {
    text: content.toString('utf8'),
    bytes: gzipSync(content, { level: 9 }).length,
  });
}

const page = files.get('index.html')?.text ?? '';
if (page === '') failures.push('dist/inspector has no index.html. Run: npm run build');
if (/<script(?![^>]*\ssrc=)/.test(page))
  failures.push('The page has an inline script, which its policy refuses.');
for (const [name, { text }] of files)
  if (FOREIGN.test(text)) failures.push(`${name} requests something from elsewhere. Ship it with the page.`);

const shell = new Set(['index.html']);
for (const [, address = ''] of page.matchAll(/(?:src|href)="\.\/([^"]+)"/g)) addWithImports(address);
budget('The shell of the inspector, gzipped,', shell, SHELL_BYTES);
budget('The page of the inspector, gzipped, in all,', files.keys(), ALL_BYTES);
conclude(failures, `the page of the inspector has ${files.size} files and is within its budgets`);

/** @param {string} name */
function addWithImports(name) {
  const file = files.get(name);
  if (file === undefined || shell.has(name)) return;
  shell.add(name);
  for (const [, to = ''] of file.text.matchAll(
    /(?:^|[;}\n])import(?:[^"'()]*?from)?\s*["']\.\/([^"']+)["']/g,
  ))
    addWithImports(posix.join(posix.dirname(name), to));
}

/** @param {string} what @param {Iterable<string>} names @param {number} most */
function budget(what, names, most) {
  const bytes = [...names].reduce((sum, name) => sum + (files.get(name)?.bytes ?? 0), 0);
  console.log(`${what} is ${kilobytes(bytes)} of ${kilobytes(most)}`);
  if (bytes > most)
    failures.push(
      `${what} is ${kilobytes(bytes)}; at most ${kilobytes(most)} are allowed. Load less, or later.`,
    );
}
