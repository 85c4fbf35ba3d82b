import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../../', import.meta.url));

/** @typedef {import('./contenders.js').Contender} Contender */

/**
 * Installs what a contender needs, if it is not there yet. fullmcp is installed from the packed build.
 * @param {Contender} contender
 */
export function install({ name, folder, main, build }) {
  if (main === '') return;
  const cwd = here + folder;
  if (name === 'fullmcp') installPacked(cwd);
  else if (!existsSync(`${cwd}/node_modules/${main}`)) run('npm', ['ci', '--no-audit', '--no-fund'], cwd);
  if (build !== undefined && !existsSync(`${cwd}/dist`)) run(build[0], build.slice(1), cwd);
}

function installPacked(cwd) {
  const packed = run('node', ['scripts/pack.js', cwd], root);
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('[')));
  run(
    'npm',
    ['install', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', `./${filename}`, 'zod@4.6.7'],
    cwd,
  );
}

/** The path of Bun, which is installed beside the contenders. */
export function installBun() {
  const path = `${here}runtime/node_modules/bun/bin/bun.exe`;
  if (!existsSync(path))
    run('npm', ['ci', '--no-audit', '--no-fund', '--no-ignore-scripts'], `${here}runtime`);
  return path;
}

/**
 * What an installation weighs: its packages and the bytes of their files, without those that only a build needs.
 * @param {Contender} contender
 */
export function weight({ folder, main }) {
  const modules = join(here, folder, 'node_modules');
  const { packages } = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8'));
  const { version } = JSON.parse(readFileSync(join(modules, main, 'package.json'), 'utf8'));
  const paths = Object.keys(packages).filter((path) => !packages[path].dev);
  const bytes = paths.reduce((sum, path) => sum + sizeOf(join(here, folder, path)), 0);
  return { version, packages: paths.length, bytes };
}

/** The bytes of a package, without the packages inside it. @param {string} path @returns {number} */
function sizeOf(path) {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) return stat.isFile() ? stat.size : 0;
  const names = readdirSync(path).filter((name) => name !== 'node_modules');
  return names.reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

function run(command, args, cwd) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`\`${command} ${args.join(' ')}\` failed in ${cwd}:\n${stderr}${stdout}`);
  return stdout;
}
