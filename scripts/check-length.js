// Names the long files and the splinters of src. 50 to 250 lines are what a file of one idea usually has; a longer one that is one
// idea is better than a splinter: a short file that one neighbour alone reads. Both are notes, not failures.
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { conclude, filesUnder, root } from './files.js';
import { importsOf, tokenize } from './scan.js';

const NOTE_ABOVE = 250;
const SPLINTER_BELOW = 40;

process.chdir(root);
const files = filesUnder('src')
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, text: readFileSync(file, 'utf8') }))
  .map(({ file, text }) => ({
    file,
    lines: text.trimEnd().split('\n').length,
    imports: importedBy(file, text),
  }));
const readers = readersOf(files);
const long = files.filter(({ lines }) => lines > NOTE_ABOVE);
const splinters = files.filter(({ file, lines }) => lines < SPLINTER_BELOW && onlyNeighbour(file));

for (const { file, lines } of long) console.log(`note: ${file} has ${lines} lines`);
for (const { file, lines } of splinters)
  console.log(`note: ${file} has ${lines} lines, and only ${readers.get(file)?.[0]?.by} reads it`);
conclude(
  [],
  `${files.length} files, ${long.length} of them above ${NOTE_ABOVE} lines, ${splinters.length} of them splinters`,
);

/** @param {string} file @param {string} text @returns {{ to: string, isLazy: boolean }[]} */
function importedBy(file, text) {
  return importsOf(tokenize(text))
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier, dynamic }) => ({
      to: posix.join(posix.dirname(file), specifier).replace(/\.js$/, '.ts'),
      isLazy: dynamic,
    }));
}

/**
 * The files that import each file.
 * @param {{ file: string, imports: { to: string, isLazy: boolean }[] }[]} all
 * @returns {Map<string, { by: string, isLazy: boolean }[]>}
 */
function readersOf(all) {
  const found = new Map();
  for (const { file, imports } of all)
    for (const { to, isLazy } of imports) found.set(to, [...(found.get(to) ?? []), { by: file, isLazy }]);
  return found;
}

// A part that is loaded when it is first used has to be a file of its own.
/** @param {string} file */
function onlyNeighbour(file) {
  const all = readers.get(file) ?? [];
  const [only, ...others] = new Set(all.map(({ by }) => by));
  if (only === undefined || others.length > 0 || all.some(({ isLazy }) => isLazy)) return false;
  return posix.dirname(only) === posix.dirname(file);
}
