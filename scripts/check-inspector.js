// Enforces the budgets of the inspector's page as it is shipped: the shell that the first paint and the first call need, and everything
// together. Also checks that the page names no address outside of itself.
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { brotliDecompressSync, gzipSync } from 'node:zlib';
import { conclude, filesUnder, kilobytes, root } from './files.js';

const SHELL_BYTES = 70_000;
// Everything outside of the shell is loaded when it is opened: the place of events makes the sum larger, and not the first paint.
const ALL_BYTES = 169_000;
const SHIPPED = 'dist/inspector';
const FOREIGN = /(?:src|href|import|fetch)\s*[=(]\s*["'`]https?:/;

process.chdir(root);
/** @type {string[]} */
const failures = [];
/** @type {Map<string, { text: string, bytes: number, shippedBytes: number }>} By path below dist/inspector. */
const files = new Map();
for (const file of filesUnder(SHIPPED)) {
  if (!/\.(?:br|json|d\.ts|txt)$/.test(file)) failures.push(`${file} is not compressed. Ship .br only.`);
  if (!file.endsWith('.br')) continue;
  const shipped = readFileSync(file);
  const content = brotliDecompressSync(shipped);
  files.set(file.slice(SHIPPED.length + 1, -'.br'.length), {
    text: content.toString('utf8'),
    bytes: gzipSync(content, { level: 9 }).length,
    shippedBytes: shipped.length,
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
// The font is as large in every form, and the page is drawn and used without it.
const code = [...shell].filter((name) => !name.endsWith('.woff2'));
budget('The shell of the inspector, gzipped, without its font,', code, { most: SHELL_BYTES, of: 'bytes' });
budget('The page of the inspector as it is shipped, in all,', files.keys(), {
  most: ALL_BYTES,
  of: 'shippedBytes',
});
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

/** @param {string} what @param {Iterable<string>} names @param {{ most: number, of: 'bytes' | 'shippedBytes' }} limit */
function budget(what, names, { most, of }) {
  const bytes = [...names].reduce((sum, name) => sum + (files.get(name)?.[of] ?? 0), 0);
  console.log(`${what} is ${kilobytes(bytes)} of ${kilobytes(most)}`);
  if (bytes > most)
    failures.push(
      `${what} is ${kilobytes(bytes)}; at most ${kilobytes(most)} are allowed. Load less, or later.`,
    );
}
