// Checks the tarball as a user's tools will: publint for the manifest, attw for the types.
import { spawnSync } from 'node:child_process';
import { conclude, root } from './files.js';
import { withPackage } from './pack.js';

process.chdir(root);
/** @type {string[]} */
const failures = [];

withPackage(({ tarball }) => {
  look('publint', ['node_modules/publint/src/cli.js', 'run', tarball, '--strict']);
  look('attw', [
    'node_modules/@arethetypeswrong/cli/dist/index.js',
    tarball,
    '--profile',
    'esm-only',
    '--format',
    'ascii',
  ]);
});
conclude(failures, 'publint and attw find nothing');

/** @param {string} name @param {string[]} args */
function look(name, args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0)
    failures.push(`${name} rejects the package. Fix exports, files or types:\n${stdout}${stderr}`);
}
