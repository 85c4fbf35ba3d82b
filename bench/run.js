// Measures fullmcp, the official SDK and the bare floor in turn, in one run. --quick takes a fifth of the time;
// --against <checkout> measures another build of fullmcp in the same rounds. With `engines` as the first argument, measures many
// processes on each engine instead; with `events`, events on each engine; with `auth`, the check of credentials; with `middleware`, each
// built-in middleware; with `audit`, the log of calls; with `streams`, ten thousand open streams; with `search`, a search over ten
// thousand tools; with `composition`, servers that are mounted and proxied; with `code`, programs of models; with `peers`, the other
// libraries for MCP.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { about } from './numbers.js';

const here = fileURLToPath(new URL('.', import.meta.url));
prepare();
if (process.argv[2] === 'engines') {
  const { measureEngines } = await import('./engines/run.js');
  await measureEngines(process.argv.slice(3));
  process.exit();
}

if (process.argv[2] === 'events') {
  const { measureAllEvents } = await import('./events/run.js');
  await measureAllEvents(process.argv.slice(3));
  process.exit();
}

if (process.argv[2] === 'auth') {
  const { measureAuth } = await import('./auth/run.js');
  await measureAuth(process.argv.slice(3), otherBuild());
  process.exit();
}

if (process.argv[2] === 'audit') {
  await import('./middleware/audit.js');
  process.exit();
}

if (process.argv[2] === 'streams') {
  const { measureAllStreams } = await import('./streams/run.js');
  await measureAllStreams(process.argv.slice(3), otherBuild());
  process.exit();
}

if (process.argv[2] === 'search') {
  const { measureSearch } = await import('./search/run.js');
  await measureSearch(process.argv.slice(3));
  process.exit();
}

if (process.argv[2] === 'composition') {
  const { measureComposition } = await import('./composition/run.js');
  await measureComposition(process.argv.slice(3));
  process.exit();
}

if (process.argv[2] === 'code') {
  const { measureCode } = await import('./code/run.js');
  await measureCode(process.argv.slice(3));
  process.exit();
}

if (process.argv[2] === 'peers') {
  const { measurePeers } = await import('./peers/run.js');
  await measurePeers(process.argv.slice(3));
  process.exit();
}

if (process.argv[2] === 'middleware') {
  const { measureMiddleware } = await import('./middleware/run.js');
  await measureMiddleware(process.argv.slice(3));
  process.exit();
}

const { isMet, rows } = await import('./budgets.js');
const { measureClient } = await import('./measures/client.js');
const { measureColdStart } = await import('./measures/cold-start.js');
const { measureCommand } = await import('./measures/command.js');
const { measureHeap } = await import('./measures/heap.js');
const { measureHttp } = await import('./measures/http.js');
const { measureInProcess } = await import('./measures/in-process.js');
const { measureStdio } = await import('./measures/stdio.js');

const quick = process.argv.includes('--quick');
const rounds = quick ? 7 : 21;
const against = otherBuild();

const measured = {
  http: await step(
    'HTTP',
    measureHttp({ rounds: 2 * rounds, roundMs: quick ? 100 : 150, warmUpMs: quick ? 500 : 1500, against }),
  ),
  inProcess: await step('in-process', measureInProcess({ rounds, against })),
  stdio: await step(
    'stdio',
    measureStdio({ rounds, sequential: quick ? 200 : 500, windows: quick ? 2 : 5, against }),
  ),
  client: await step('client', measureClient({ rounds, calls: quick ? 500 : 1000, against })),
  coldStart: await step('cold start', measureColdStart({ spawns: quick ? 5 : 15, against })),
  command: await step('command', measureCommand({ spawns: quick ? 7 : 21 })),
  heap: await step('heap', measureHeap({ clients: quick ? 200 : 500, idleMs: quick ? 2500 : 5000 })),
};
const table = rows(measured, against !== undefined);

console.log(`\n${line('', 'fullmcp', 'budget', 'official', against && 'before')}`);
for (const row of table) {
  const { what, value, before, official, budget, unit, better } = row;
  const limit = budget === undefined ? '' : `${better === 'more' ? '≥' : '≤'} ${format(budget)} ${unit}`;
  const missed = isMet(row) ? '' : '  MISSED';
  const theirs = official === undefined ? '' : `${format(official)} ${unit}`;
  const previous = before === undefined ? undefined : `${format(before)} ${unit}`;
  console.log(line(what, `${format(value)} ${unit}`, limit, theirs, previous) + missed);
}
for (const name of ['floor', 'fullmcp']) {
  const { perSecond, perCpuSecond, serverBusy, clientBusy } = measured.http.medians[name];
  const [wall, cpu] = [perSecond, perCpuSecond].map((count) => Math.round(count));
  const [server, client] = [serverBusy, clientBusy].map((share) => Math.round(share * 100));
  console.log(
    `${name}: ${wall} requests/s, ${cpu} requests per CPU second; the server used ${server} % of a core, the client ${client} %`,
  );
}

if (!quick && against === undefined) {
  const { auth, middleware, streams, search, composition, events, code } = JSON.parse(
    readFileSync(`${here}results.json`, 'utf8'),
  );
  const results = {
    ...about(),
    budgets: table,
    medians: mapMedians(measured),
    // Measured by a run of its own.
    ...(auth && { auth }),
    ...(middleware && { middleware }),
    ...(streams && { streams }),
    ...(search && { search }),
    ...(composition && { composition }),
    ...(events && { events }),
    ...(code && { code }),
  };
  writeFileSync(`${here}results.json`, `${JSON.stringify(results, round, 2)}\n`);
}
process.exitCode = table.every(isMet) ? 0 : 1;

function prepare() {
  if (process.env.FULLMCP_DIST === undefined) run('node', ['../scripts/build.js']);
  if (!existsSync(`${here}node_modules/@modelcontextprotocol/server`))
    run('npm', ['ci', '--no-audit', '--no-fund']);
}

/** The `dist` of the checkout that `--against` names. */
function otherBuild() {
  const at = process.argv.indexOf('--against');
  if (at === -1) return undefined;
  const dist = resolve(process.env.INIT_CWD ?? process.cwd(), process.argv[at + 1] ?? '', 'dist');
  if (existsSync(`${dist}/index.js`)) return dist;
  throw new Error(
    `--against needs a checkout that is built, but ${dist}/index.js does not exist. Build it first.`,
  );
}

/**
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: here, stdio: 'inherit' });
  if (status !== 0) throw new Error(`\`${command} ${args.join(' ')}\` failed.`);
}

/**
 * @template T
 * @param {string} name
 * @param {Promise<T>} work
 */
async function step(name, work) {
  const from = performance.now();
  const result = await work;
  console.log(`${name.padEnd(12)} ${((performance.now() - from) / 1000).toFixed(1)} s`);
  return result;
}

function mapMedians(measures) {
  return Object.fromEntries(
    Object.entries(measures).map(([name, figures]) => [name, figures.medians ?? figures]),
  );
}

function line(what, value, budget, official, before = '') {
  const figures = [value, budget, official, before].map((text) => text.padStart(12));
  return `${what.padEnd(64)}${figures.join('')}`.trimEnd();
}

function format(value) {
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);
}

function round(_, value) {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}
