// Runs the files of npm test that import what differs from main, committed or not: npm run test:changed. Another branch may be named instead.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { filesUnder, root } from './files.js';
import { testsReaching } from './reached-tests.js';

process.chdir(root);
const [base = 'main'] = process.argv.slice(2);
/** A change of these may change any test. */
const OF_ALL = ['package.json', 'package-lock.json', 'tsconfig.json', 'vitest.config.ts'];

const changed = [
  ...git('diff', '--name-only', git('merge-base', 'HEAD', base)[0] ?? base),
  ...git('ls-files', '--others', '--exclude-standard'),
];
const files = ['src', 'inspector', 'test', 'examples', 'scripts'].flatMap((folder) => filesUnder(folder));
const tests = testsReaching(changed, files, (file) => readFileSync(file, 'utf8'));
const all = changed.some((file) => OF_ALL.includes(file));
if (!all && tests.length === 0) console.log(`No test imports what differs from ${base}.`);
else {
  console.log(
    all
      ? `All tests: ${OF_ALL.join(', ')} apply to each of them.`
      : `${tests.length} files with tests import what differs from ${base}.`,
  );
  const projects = ['--project=quick', '--project=alone', '--passWithNoTests'];
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...projects, ...(all ? [] : tests)];
  process.exitCode = spawnSync(process.execPath, vitest, { stdio: 'inherit' }).status ?? 1;
}

/** The lines that a command of Git prints. @param {string[]} args */
function git(...args) {
  const { status, stdout, stderr } = spawnSync('git', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args[0]} failed: ${stderr}`);
  return stdout.split('\n').filter((line) => line !== '');
}
