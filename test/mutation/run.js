// Changes the source of a room in one place at a time (Stryker) and looks whether a test fails. Prints the score of each room and the
// changes that no test noticed.
//   npm run mutation                       every room
//   npm run mutation -- state jsonrpc      these rooms
//   npm run mutation -- --lines 300        only that many lines of each room, drawn with --seed (default 1)
//   npm run mutation -- --concurrency 1    one process of tests at a time; the default is 2
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rooms } from './rooms.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));
const PIECE = 20;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    lines: { type: 'string' },
    seed: { type: 'string', default: '1' },
    concurrency: { type: 'string', default: '2' },
  },
});
const unknown = positionals.filter((room) => rooms[room] === undefined);
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. The rooms are ${Object.keys(rooms).join(', ')}.`);
  process.exit(2);
}

prepare();
const figures = {};
for (const room of positionals.length > 0 ? positionals : Object.keys(rooms)) {
  const places = placesOf(room);
  figures[room] = score(mutate(room, places));
  const { killed, survived, mutants, percent } = figures[room];
  console.log(
    `${room}: ${percent} % (${killed} of ${mutants} noticed, ${survived.length} not${sampleOf(room, places)})`,
  );
  for (const line of survived) console.log(`  ${line}`);
}
console.log(
  `mutation: ${Object.entries(figures)
    .map(([room, { percent }]) => `${room} ${percent} %`)
    .join('; ')}`,
);

function prepare() {
  if (Number(process.versions.node.split('.')[0]) < 22)
    throw new Error(`Stryker needs Node 22 or newer; this is Node ${process.versions.node}.`);
  if (existsSync(`${here}node_modules/@stryker-mutator/core`)) return;
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: here, stdio: 'inherit' });
  if (status !== 0) throw new Error('Stryker could not be installed.');
}

/** The part of a room that was changed, if it was not all of it. @param {string} room @param {string[]} places */
function sampleOf(room, places) {
  if (values.lines === undefined) return '';
  const all = filesOf(room).reduce((sum, file) => sum + lengthOf(file), 0);
  return `; in ${Math.min(places.length * PIECE, all)} of ${all} lines, drawn with the seed ${values.seed}`;
}

/** Runs Stryker over places of a room, and returns its report. @param {string} room @param {string[]} places */
function mutate(room, places) {
  const folder = join(tmpdir(), 'fullmcp-mutation');
  mkdirSync(folder, { recursive: true });
  const report = join(folder, `${room.replaceAll('/', '-')}.json`);
  const config = join(folder, `${room.replaceAll('/', '-')}.config.json`);
  rmSync(report, { force: true });
  writeFileSync(config, JSON.stringify(configOf(places, report)));
  const { status } = spawnSync(
    process.execPath,
    [`${here}node_modules/@stryker-mutator/core/bin/stryker.js`, 'run', config],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, MUTATION_TESTS: rooms[room]?.join(',') },
    },
  );
  if (status !== 0) throw new Error(`Stryker failed in ${room}.`);
  return JSON.parse(readFileSync(report, 'utf8'));
}

function configOf(places, report) {
  return {
    testRunner: 'vitest',
    plugins: [`${here}node_modules/@stryker-mutator/vitest-runner/dist/src/index.js`],
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: true },
    mutate: places,
    // Words of messages are checked by tests of their own; changing them all would only count them.
    mutator: { excludedMutations: ['StringLiteral'] },
    coverageAnalysis: 'perTest',
    concurrency: Number(values.concurrency),
    dryRunTimeoutMinutes: 15,
    // On a busy machine, a slow test must not be taken for one that a change keeps from ending.
    timeoutMS: 20_000,
    timeoutFactor: 4,
    ignoreStatic: true,
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: report },
    ignorePatterns: ['/dist', '/build', '/coverage', '/docs/pictures', '/bench', '/site'],
    tempDirName: join(tmpdir(), 'fullmcp-mutation', 'sandbox'),
    // The names of paths are found by vitest; Stryker must not rewrite the configuration of the compiler.
    tsconfigFile: 'none',
    allowEmpty: true,
  };
}

/** The files of a room, or as many pieces of 20 lines as `--lines` allows, drawn by the seed. @param {string} room */
function placesOf(room) {
  const files = filesOf(room);
  if (values.lines === undefined) return files;
  const lotOf = (piece) => createHash('sha256').update(`${values.seed} ${piece}`).digest('hex');
  const order = files
    .flatMap(piecesOf)
    .map((piece) => ({ piece, lot: lotOf(piece) }))
    .sort((one, other) => (one.lot < other.lot ? -1 : 1));
  return order.slice(0, Math.ceil(Number(values.lines) / PIECE)).map(({ piece }) => piece);
}

function filesOf(room) {
  return readdirSync(`${root}src/${room}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `src/${room}/${name}`)
    .sort();
}

function piecesOf(file) {
  return Array.from(
    { length: Math.ceil(lengthOf(file) / PIECE) },
    (_, index) => `${file}:${index * PIECE + 1}-${(index + 1) * PIECE}`,
  );
}

function lengthOf(file) {
  return readFileSync(root + file, 'utf8').split('\n').length;
}

function score({ files }) {
  const mutants = Object.entries(files).flatMap(([file, { mutants: all }]) =>
    all.map((mutant) => ({ file, ...mutant })),
  );
  const noticed = mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout');
  const missed = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  const counted = noticed.length + missed.length;
  return {
    mutants: counted,
    killed: noticed.length,
    percent: counted === 0 ? 100 : Math.round((noticed.length / counted) * 1000) / 10,
    survived: missed.map(
      ({ file, location, mutatorName, replacement, status }) =>
        `${file}:${location.start.line} ${mutatorName} → ${String(replacement).replaceAll(/\s+/g, ' ').slice(0, 60)}${status === 'NoCoverage' ? ' (no test runs it)' : ''}`,
    ),
  };
}
