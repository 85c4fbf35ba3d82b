// Checks the tarball as the tools of a user do: publint checks the manifest, attw the types.
import { spawnSync } from 'node:child_process';
import { conclude, root } from './files.js';
import { withPackage } from './pack.js';

process.chdir(root);
/** @type {string[]} */
const failures = [];

withPackage(({ tarball }) => {
  runTool('publint', ['node_modules/publint/src/cli.js', 'run', tarball, '--strict']);
  runTool('attw', [
    'node_modules/@arethetypeswrong/cli/dist/index.js',
    tarball,
    '--profile',
    'esm-only',
    '--format',
    'ascii',
  ]);
});
conclude(failures, 'publint and attw report no problems');

/** @param {string} name @param {string[]} args */
function runTool(name, args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0)
    failures.push(`${name} rejects the package. Fix exports, files or types:\n${stdout}${stderr}`);
}
