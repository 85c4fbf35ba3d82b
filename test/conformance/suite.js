// @ts-check
// The suite and the programs that it tests, as processes.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {object} Result
 * @property {boolean} holds Whether something was checked, and nothing failed or warned.
 * @property {number} passed
 * @property {number} failed
 * @property {number} warned
 * @property {number} skipped
 * @property {string[]} details A line for each check that failed or warned.
 */

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const modules = join(here, 'node_modules');
const SUITE = '@modelcontextprotocol/conformance';
/** The program of the suite. */
export const cli = join(modules, SUITE, 'dist/index.js');
/** The suite needs Node 22 or later; the tested programs run on the Node that runs this. */
export const node = join(modules, 'node/bin', process.platform === 'win32' ? 'node.exe' : 'node');
const results = join(root, '.conformance');
const SCENARIO_TIMEOUT_MS = 60_000;
const ALL_TIMEOUT_MS = 300_000;

/**
 * Starts client.js. A shell reads it, and the suite appends the address of the server. When a client takes too long, the suite
 * ends the shell, which must have become the client by then.
 */
export const CLIENT_COMMAND = `${process.platform === 'win32' ? '' : 'exec '}"${process.execPath}" "${join(here, 'client.js')}"`;

/** Installs the suite where it is missing or another version, builds fullmcp and makes it importable by name from here. */
export function prepare() {
  if (!isInstalled()) {
    // Node's binary comes from an install script, which a user's settings may have switched off.
    must('npm', ['ci', '--prefix', here, '--no-audit', '--no-fund', '--no-ignore-scripts']);
  }
  if (!existsSync(node)) {
    console.error(`npm did not install the Node that the suite needs: ${node} is missing.`);
    process.exit(1);
  }
  must(process.execPath, [join(root, 'scripts/build.js')]);
  const link = join(modules, 'fullmcp');
  if (!existsSync(link)) symlinkSync(root, link, 'junction');
  rmSync(results, { recursive: true, force: true });
}

function isInstalled() {
  const manifest = join(modules, SUITE, 'package.json');
  if (!existsSync(manifest) || !existsSync(node)) return false;
  const required = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')).dependencies[SUITE];
  return JSON.parse(readFileSync(manifest, 'utf8')).version === required;
}

/**
 * @param {string} command
 * @param {string[]} args
 */
function must(command, args) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', process.stderr, process.stderr],
    shell: process.platform === 'win32' && command === 'npm',
  });
  if (status === 0) return;
  console.error(`This command failed: ${command} ${args.join(' ')}${error ? `\n${error.message}` : ''}`);
  process.exit(1);
}

/**
 * The scenarios of the suite, each with the revisions that it applies to. Extensions need the newest, but those of authorization
 * work with the revision before it as well.
 * @param {import('./claims.js').Role} role
 * @returns {Promise<{ name: string, revisions: string[], extension: boolean }[]>}
 */
export async function scenariosOf(role) {
  const { output } = await suite(['list', `--${role}`]);
  const rows = [...output.matchAll(/^ *- (\S+) \[([^\]]*)\]$/gm)];
  if (rows.length === 0) throw new Error(`The suite lists no ${role} scenarios:\n${output}`);
  return rows.map(([, name = '', revisions = '']) => ({
    name,
    revisions: revisions === 'extension' ? revisionsOf(name) : revisions.split(','),
    extension: revisions === 'extension',
  }));
}

/** @param {string} extension */
function revisionsOf(extension) {
  return extension.startsWith('auth/') ? ['2025-11-25', '2026-07-28'] : ['2026-07-28'];
}

/** @typedef {{ url: string, errors: () => string, kill: () => void }} Started */

/**
 * Starts server.js on a free port.
 * @returns {Promise<Started>}
 */
export function startServer() {
  return start('server.js');
}

/**
 * Starts server.js, and a proxy in front of it.
 * @param {readonly string[]} revision The revision between the two, if not the newest.
 * @returns {Promise<Started>}
 */
export async function startProxy(...revision) {
  const server = await start('server.js');
  const proxy = await start('proxy.js', server.url, ...revision);
  const kill = () => {
    proxy.kill();
    server.kill();
  };
  return { url: proxy.url, errors: () => `${server.errors()}${proxy.errors()}`, kill };
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @returns {Promise<Started>}
 */
async function start(program, ...args) {
  const child = spawn(process.execPath, [join(here, program), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => void child.kill('SIGKILL');
  process.on('exit', kill);
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => process.exit(1));
  }
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (errors += text));
  const url = await new Promise((resolve, reject) => {
    createInterface(child.stdout).once('line', resolve);
    child.once('error', reject);
    child.once('close', () => reject(new Error(`The server did not start:\n${errors}`)));
  });
  return { url, errors: () => errors.trim(), kill };
}

/**
 * @typedef {object} RunOptions
 * @property {import('./claims.js').Role} role
 * @property {string} revision
 * @property {string[]} under The options that select the tested program.
 * @property {(scenario: string) => boolean} maySkip Whether the scenario holds even if all its checks are skipped.
 */

/**
 * Runs one scenario in a process of its own.
 * @param {string} scenario
 * @param {RunOptions & { extension: boolean }} options
 * @returns {Promise<Result>}
 */
export async function runScenario(scenario, { role, revision, under, extension, maySkip }) {
  const folder = join(results, role, revision, scenario);
  mkdirSync(folder, { recursive: true });
  const args = [role, ...under, '--scenario', scenario, '--spec-version', revision, '-o', folder];
  // Extensions are not on the suite's timeline of revisions.
  if (extension) args.push('--force');
  const { code, output } = await suite(args);
  // A client that behaved and then exited with an error fails.
  return resultOf(folder, { maySkip: maySkip(scenario), hasFailed: code !== 0, output });
}

/**
 * Runs all scenarios of a revision that are not extensions against a server, in one process, which takes less time for each than
 * its start.
 * @param {RunOptions} options
 * @returns {Promise<Map<string, Result>>} By the names of the scenarios.
 */
export async function runAll({ role, revision, under, maySkip }) {
  const folder = join(results, role, revision, 'all');
  mkdirSync(folder, { recursive: true });
  const args = [role, ...under, '--suite', 'all', '--spec-version', revision, '-o', folder];
  const { output } = await suite(args, ALL_TIMEOUT_MS);
  const folders = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => basename(file) === 'checks.json')
    .map(dirname);
  return new Map(
    folders.map((one) => {
      const scenario = one.slice(`${role}-`.length).replace(/-\d{4}-\d\d-\d\dT[^T]*Z$/, '');
      const maybe = { maySkip: maySkip(scenario), hasFailed: false, output };
      return [scenario, resultOf(join(folder, one), maybe)];
    }),
  );
}

/**
 * @param {string} folder Where the suite has written what it found.
 * @param {{ maySkip: boolean, hasFailed: boolean, output: string }} run
 * @returns {Result}
 */
function resultOf(folder, { maySkip, hasFailed, output }) {
  const checks = read(folder, 'checks.json').flatMap((text) => /** @type {Check[]} */ (JSON.parse(text)));
  const having = (/** @type {string} */ status) => checks.filter((check) => check.status === status);
  const passed = having('SUCCESS').length;
  const bad = [...having('FAILURE'), ...having('WARNING')];
  const details = bad.map(
    ({ id, status, errorMessage, description }) => `${status} ${id}: ${errorMessage ?? description}`,
  );
  // A scenario that checked nothing proves nothing, and one that fails without a message is still a failure.
  const checked = passed > 0 || (maySkip && having('SKIPPED').length > 0);
  const silent = bad.length === 0 && (!checked || hasFailed);
  if (silent) details.push('The suite found no fault, but did not pass:', ...lines(output));
  else if (bad.length > 0) details.push(...read(folder, 'stderr.txt').flatMap(lines));
  return {
    holds: bad.length === 0 && !silent,
    passed,
    failed: having('FAILURE').length + (silent ? 1 : 0),
    warned: having('WARNING').length,
    skipped: having('SKIPPED').length,
    details,
  };
}

/** @param {string} text */
function lines(text) {
  return text.trim() === '' ? [] : text.trim().split('\n');
}

/** @typedef {{ id: string, status: string, description?: string, errorMessage?: string }} Check */

/**
 * The files that the suite wrote under this name, one for each run.
 * @param {string} folder
 * @param {string} name
 */
function read(folder, name) {
  // The name of a scenario may have slashes, and is part of the path.
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => basename(file) === name)
    .map((file) => readFileSync(join(folder, file), 'utf8'));
}

/**
 * @param {string[]} args
 * @param {number} timeout
 * @returns {Promise<{ code: number | null, output: string }>}
 */
function suite(args, timeout = SCENARIO_TIMEOUT_MS) {
  return new Promise((resolve, reject) => {
    const child = spawn(node, [cli, ...args], {
      // Compiling the suite takes a fifth of the time of a scenario.
      env: { ...process.env, NO_COLOR: '1', NODE_COMPILE_CACHE: join(modules, '.cache/suite') },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout,
      killSignal: 'SIGKILL',
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', reject).on('close', (code) => resolve({ code, output }));
  });
}
