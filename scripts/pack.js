import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './files.js';

/**
 * @typedef {object} Packed
 * @property {string} tarball Its path.
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
    run(process.execPath, ['scripts/build.js']);
    // The build above is enough. The package's own prepack would delete dist first, while other processes may read it.
    const output = run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]);
    const [packed] = /** @type {any[]} */ (Object.values(JSON.parse(output)));
    use({ ...packed, tarball: join(folder, packed.filename) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} command @param {string[]} args */
function run(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  if (status === 0) return stdout;
  throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`);
}
