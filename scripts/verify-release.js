// Builds a commit twice in empty folders, packs it as a release is packed, and compares both packages with each other and with a
// tarball, down to modes, times and order:
//
//   npm run verify-release <tarball> [-- --commit <name>]
//
// The commit is that of the checkout, so check out the tag of the release first. Nothing of the checkout but its history is used: the
// packages that the build needs come from the lock file.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isProgram, root } from './files.js';
import { differencesOf, readTarball } from './tarball.js';

const SHOWN = 20;

if (isProgram(import.meta.url)) {
  try {
    process.exitCode = main();
  } catch (error) {
    console.error(/** @type {Error} */ (error).message);
    process.exitCode = 2;
  }
}

function main() {
  const options = /** @type {const} */ ({ commit: { type: 'string', default: 'HEAD' } });
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [tarball] = positionals;
  if (tarball === undefined || positionals.length > 1)
    throw new Error('Usage: npm run verify-release <tarball> [-- --commit <name>]');
  const path = resolve(process.env['INIT_CWD'] ?? '.', tarball);
  const given = read(path, tarball);
  const commit = git('rev-parse', '--verify', `${values.commit}^{commit}`);
  warnAboutNode(commit);
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-verify-'));
  try {
    // The folders have names of different lengths, so that a path in what was built is noticed.
    const [first, second] = [join(folder, 'a'), join(folder, 'a-second-build')].map((place) =>
      build(commit, place),
    );
    const failures = compare(given, readTarball(first), readTarball(second));
    for (const line of failures) console.error(line);
    if (failures.length > 0) return 1;
    console.log(
      `${tarball} is what commit ${commit} builds: ${given.entries.length} files, sha256 ${given.sha256}.`,
    );
    return 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The lines that say why a tarball is not the release, or that two builds of its commit are not the same.
 * @param {import('./tarball.js').Tarball} given
 * @param {import('./tarball.js').Tarball} first @param {import('./tarball.js').Tarball} second
 */
export function compare(given, first, second) {
  const unstable = differencesOf(first, second, { one: 'the first build', other: 'the second build' });
  if (unstable.length === 0 && first.sha256 !== second.sha256) unstable.push('The compressed bytes differ.');
  if (unstable.length > 0) return list('Two builds of the commit are not the same:', unstable);
  const different = differencesOf(given, first, { one: 'the tarball', other: 'the build' });
  if (different.length > 0) return list('The tarball is not what the commit builds:', different);
  if (given.sha256 !== first.sha256)
    console.log(
      'Every file, mode, time and their order are the same. Only the compression differs, as it does between versions of Node and kinds of processors.',
    );
  return [];
}

/** @param {string} title @param {string[]} differences */
function list(title, differences) {
  const more = differences.length - SHOWN;
  return [
    title,
    ...differences.slice(0, SHOWN).map((one) => `  ${one}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

/** The bytes of the package that a commit makes in an empty folder. @param {string} commit @param {string} folder */
function build(commit, folder) {
  const [checkout, packed] = [join(folder, 'checkout'), join(folder, 'packed')];
  mkdirSync(packed, { recursive: true });
  run('git', ['clone', '--quiet', '--no-checkout', root, checkout], root);
  run('git', ['-c', 'core.autocrlf=false', 'checkout', '--quiet', '--detach', commit], checkout);
  console.log(`Building ${commit} in ${checkout}`);
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], checkout);
  run(process.execPath, ['scripts/pack.js', packed], checkout);
  const [name = ''] = readdirSync(packed);
  const bytes = readFileSync(join(packed, name));
  rmSync(folder, { recursive: true, force: true });
  return bytes;
}

/** @param {string} path @param {string} name */
function read(path, name) {
  try {
    return readTarball(readFileSync(path));
  } catch (error) {
    throw new Error(`${name} cannot be read. ${/** @type {Error} */ (error).message}`);
  }
}

/** Compressed files of the package depend on the version of Node. @param {string} commit */
function warnAboutNode(commit) {
  const expected = git('show', `${commit}:.node-version`);
  const own = process.version.slice(1);
  if (own !== expected)
    console.log(
      `This is Node ${own}, and releases are packed by Node ${expected}. If something differs, use that version.`,
    );
}

/** @param {string[]} args */
function git(...args) {
  return execFileSync('git', args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();
}

/** @param {string} command @param {string[]} args @param {string} cwd */
function run(command, args, cwd) {
  const shell = process.platform === 'win32' && command === 'npm';
  // The variables of the npm that runs this script would be settings of the npm in the new folder.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(?!config_)/i.test(name)),
  );
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    shell,
    env,
    maxBuffer: 1e8,
  });
  if (status === 0) return stdout;
  throw new Error(`${command} ${args.join(' ')} failed in ${cwd}:\n${stdout}${stderr}`);
}
