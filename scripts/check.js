// Runs all checks and prints a line for each; fails at the end if one failed. --verbose shows their full output.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import { root } from './files.js';

/** The files and folders whose words are checked. */
const WORDS = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'MAINTAINERS.md',
  'docs',
  'examples',
  'inspector',
  'scripts',
  'src',
  'test',
];

/** Files that did not change since the last check are not compiled again. */
const TSC =
  'node node_modules/typescript/bin/tsc --noEmit --incremental --tsBuildInfoFile node_modules/.cache/types';

/**
 * In the order in which they start: first those that take long.
 * @type {{ name: string, command: string, after?: string }[]}
 */
const STEPS = [
  { name: 'types', command: `${TSC}.json` },
  { name: 'build', command: 'node scripts/build.js' },
  { name: 'types of src alone', command: `${TSC}-src.json -p tsconfig.build.json` },
  { name: 'format and lint', command: 'biome ci --colors=off .' },
  { name: 'dead code', command: 'knip --no-config-hints' },
  { name: 'layers', command: 'node scripts/check-layers.js' },
  { name: 'map of the rooms', command: 'node scripts/rooms.js --check' },
  { name: 'names', command: 'node scripts/check-names.js' },
  { name: 'length', command: 'node scripts/check-length.js' },
  { name: 'snippets', command: 'node scripts/check-snippets.js' },
  { name: 'bridge of apps', command: 'node scripts/bridge.js --check' },
  { name: 'promises', command: 'node scripts/check-promises.js' },
  { name: 'numbers', command: 'node scripts/check-numbers.js' },
  { name: 'comparison', command: 'node bench/peers/page.js --check' },
  { name: 'how it is tested', command: 'node scripts/tested.js --check' },
  { name: 'messages', command: 'node scripts/check-messages.js' },
  { name: 'dependencies', command: 'node scripts/check-dependencies.js' },
  { name: 'version', command: 'node scripts/version.js --check' },
  { name: 'changelog', command: 'node scripts/changelog.js' },
  { name: 'tiers', command: 'node test/conformance/tiers.js --check' },
  { name: 'links', command: 'node scripts/check-links.js' },
  { name: 'list of pages', command: 'node scripts/check-pages.js' },
  { name: 'skill', command: 'node scripts/check-skill.js' },
  {
    name: 'words',
    command: `node scripts/check-words.js ${WORDS.join(' ')}`,
  },
  { name: 'package', command: 'node scripts/check-package.js', after: 'build' },
  { name: 'doc comments', command: 'node scripts/check-docs.js', after: 'build' },
  { name: 'reference', command: 'node scripts/reference.js --check', after: 'build' },
  { name: 'surface', command: 'node scripts/surface.js --check', after: 'build' },
  { name: 'pages of commands', command: 'node scripts/cli-docs.js --check', after: 'build' },
  { name: 'size', command: 'node scripts/check-size.js', after: 'build' },
  { name: 'page of the inspector', command: 'node scripts/check-inspector.js', after: 'build' },
];

const env = { ...process.env, PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH}` };
const verbose = process.argv.includes('--verbose');
const startedAt = performance.now();

/** @type {Map<string, Promise<{ name: string, command: string, ok: boolean, output: string }>>} */
const running = new Map();
const waiting = STEPS.values();
// More at once than there are cores only take memory and time from each other.
await Promise.all(Array.from({ length: availableParallelism() }, runWaiting));
const results = await Promise.all(running.values());

for (const { name, command, ok, output } of results) {
  if (!ok || verbose) console.log(`\n${name}: ${command}\n${output.trim()}`);
}
const failed = results.filter(({ ok }) => !ok);
const duration = seconds(performance.now() - startedAt);
if (failed.length === 0) console.log(`\nAll ${results.length} checks passed in ${duration}.`);
else
  console.log(
    `\n${failed.length} of ${results.length} checks failed in ${duration}: ${failed.map(({ name }) => name).join(', ')}.`,
  );
process.exitCode = failed.length === 0 ? 0 : 1;

async function runWaiting() {
  for (const step of waiting) {
    const end = run(step);
    running.set(step.name, end);
    await end;
  }
}

/** @param {{ name: string, command: string, after?: string }} step */
async function run({ name, command, after }) {
  if (after !== undefined && !(await running.get(after))?.ok) {
    console.log(`skip  ${name} (needs ${after}, which failed)`);
    return { name, command, ok: false, output: `Not run: ${after} failed.` };
  }
  const from = performance.now();
  const { code, output } = await shell(command);
  console.log(`${code === 0 ? 'ok  ' : 'FAIL'}  ${name.padEnd(20)} ${seconds(performance.now() - from)}`);
  return { name, command, ok: code === 0, output };
}

/**
 * @param {string} command
 * @returns {Promise<{ code: number | null, output: string }>}
 */
function shell(command) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, { cwd: root, env, shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', reject).on('close', (code) => resolve({ code, output }));
  });
}

/** @param {number} ms */
function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}
