import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Every file under a folder, with `/` between names, sorted; an empty array if the folder does not exist.
 * @param {string} folder
 * @param {{ into?: (name: string) => boolean }} [options] `into` decides which subfolders to enter.
 * @returns {string[]}
 */
export function filesUnder(folder, { into = (name) => name !== 'node_modules' } = {}) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return into(entry.name) ? filesUnder(path, { into }) : [];
      return entry.isFile() ? [path] : [];
    })
    .sort();
}

/** The bytes of all files below a folder, without nested packages. @param {string} folder */
export function bytesUnder(folder) {
  return filesUnder(folder).reduce((sum, file) => sum + statSync(file).size, 0);
}

/**
 * The pages that people write, by their path below the current folder. Those of the reference repeat doc comments, which are checked
 * where they are.
 */
export function readPages() {
  const pages = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', ...filesUnder('docs')].filter(
    (page) => page.endsWith('.md') && !page.startsWith('docs/reference/') && existsSync(page),
  );
  return new Map(pages.map((page) => [page, readFileSync(page, 'utf8')]));
}

/** @param {string} folder */
export function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** @param {number} bytes */
export function kilobytes(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

/**
 * Prints the failures, or a sentence if there are none, and sets the exit code.
 * @param {string[]} failures
 * @param {string} success
 */
export function conclude(failures, success) {
  for (const failure of failures) console.error(failure);
  if (failures.length > 0) process.exitCode = 1;
  else console.log(success);
}

/** Whether a module is the program that was started. @param {string} url Its `import.meta.url`. */
export function isProgram(url) {
  return process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(url);
}
