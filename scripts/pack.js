// Packs the package, as npm does. `node scripts/pack.js <folder>` writes the tarball there and prints its facts as JSON. Unlike `npm pack`, it
// builds only what has changed, and leaves dist in its place while other processes may read it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isProgram, root } from './files.js';

/**
 * @typedef {object} Packed
 * @property {string} tarball Its path.
 * @property {number} size
 * @property {number} unpackedSize
 * @property {{ path: string, size: number }[]} files
 */

/**
 * Builds if something has changed, packs the package into a temporary folder, and removes that folder after `use`.
 * @param {(packed: Packed) => void} use
 */
export function withPackage(use) {
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-pack-'));
  try {
    use(packInto(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Builds if something has changed, and writes the tarball into a folder.
 * @param {string} folder
 * @returns {Packed}
 */
export function packInto(folder) {
  run(process.execPath, ['scripts/build.js']);
  const output = run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]);
  const [packed] = /** @type {any[]} */ (Object.values(JSON.parse(output)));
  return { ...packed, tarball: join(folder, packed.filename) };
}

/** @param {string} command @param {string[]} args */
function run(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  if (status === 0) return stdout;
  throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`);
}

if (isProgram(import.meta.url))
  console.log(JSON.stringify([packInto(resolve(process.argv[2] ?? '.'))], undefined, 2));
