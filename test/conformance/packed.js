// @ts-check
// Installs the packed package in build/packed, beside copies of server.js and client.js, so that the suite tests what npm gives to users.
// The tarball is the first argument; without one, the package is built and packed first.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'build/packed');

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
for (const program of ['server.js', 'client.js'])
  copyFileSync(join(root, 'test/conformance', program), join(folder, program));
if (process.argv[2] === undefined) run(process.execPath, ['scripts/pack.js', folder], root);
else copyFileSync(resolve(process.env['INIT_CWD'] ?? '.', process.argv[2]), join(folder, 'given.tgz'));
const [tarball = ''] = readdirSync(folder).filter((file) => file.endsWith('.tgz'));
run(
  'npm',
  ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', `./${tarball}`],
  folder,
);

/** @param {string} command @param {string[]} args @param {string} cwd */
function run(command, args, cwd) {
  const { status } = spawnSync(command, args, {
    cwd,
    stdio: ['ignore', process.stderr, process.stderr],
    shell: process.platform === 'win32' && command === 'npm',
  });
  if (status === 0) return;
  console.error(`This command failed: ${command} ${args.join(' ')}`);
  process.exit(1);
}
