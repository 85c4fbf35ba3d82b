// Which tests a change can reach. Vitest knows, too, but it compiles every module first, which takes longer than the tests of most changes.
import { posix } from 'node:path';
import { importsOf, tokenize } from './scan.js';

const CODE = /\.[cm]?[jt]sx?$/;
/** Types are gone when a test runs. */
const TYPES_ALONE = /\b(?:import|export) type [^;'"]*? from ['"][^'"]*['"];/g;

/**
 * The tests that import one of the changed files, themselves or through others, and those that have changed.
 * @param {readonly string[]} changed
 * @param {readonly string[]} files All files, with paths from the root.
 * @param {(file: string) => string} read
 */
export function testsReaching(changed, files, read) {
  const importers = importersOf(files, read);
  const reached = new Set(changed);
  for (const file of reached) for (const importer of importers.get(file) ?? []) reached.add(importer);
  return [...reached].filter((file) => file.endsWith('.test.ts') && files.includes(file)).sort();
}

/**
 * The files that import each file.
 * @param {readonly string[]} files @param {(file: string) => string} read
 */
function importersOf(files, read) {
  const known = new Set(files);
  /** @type {Map<string, string[]>} */
  const importers = new Map();
  for (const file of files.filter((one) => CODE.test(one)))
    for (const { specifier } of importsOf(tokenize(read(file).replaceAll(TYPES_ALONE, '')))) {
      const imported = candidates(file, specifier).find((one) => known.has(one));
      if (imported !== undefined) importers.set(imported, [...(importers.get(imported) ?? []), file]);
    }
  return importers;
}

/**
 * The files that a specifier may mean.
 * @param {string} file @param {string} specifier
 */
function candidates(file, specifier) {
  if (specifier === 'fullmcp') return ['src/index.ts'];
  if (specifier.startsWith('fullmcp/')) return [`src/${specifier.slice('fullmcp/'.length)}.ts`];
  if (!specifier.startsWith('.')) return [];
  const path = posix.join(posix.dirname(file), specifier.replace(/\?.*$/, ''));
  return [path, path.replace(/\.js$/, '.ts'), path.replace(/\.js$/, '.tsx')];
}
