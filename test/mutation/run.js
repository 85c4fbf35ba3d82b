// Changes the source of a room in one place at a time (Stryker) and looks whether a test fails. Prints the score of each room and the
// changes that no test noticed.
//   npm run mutation                       every room
//   npm run mutation -- state jsonrpc      these rooms
//   npm run mutation -- --lines 300        only that many lines of each room, drawn with --seed (default 1)
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Random } from '../openapi/support/random.ts';
import { rooms } from './rooms.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));
const PIECE = 20;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { lines: { type: 'string' }, seed: { type: 'string', default: '1' } },
});
const unknown = positionals.filter((room) => rooms[room] === undefined);
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. The rooms are ${Object.keys(rooms).join(', ')}.`);
  process.exit(2);
}

prepare();
const figures = {};
for (const room of positionals.length > 0 ? positionals : Object.keys(rooms)) {
  figures[room] = score(mutate(room));
  const { killed, survived, mutants, percent } = figures[room];
  console.log(`${room}: ${percent} % (${killed} of ${mutants} noticed, ${survived.length} not)`);
  for (const line of survived) console.log(`  ${line}`);
}
console.log(
  `mutation: ${Object.entries(figures)
    .map(([room, { percent }]) => `${room} ${percent} %`)
    .join('; ')}`,
);

function prepare() {
  if (existsSync(`${here}node_modules/@stryker-mutator/core`)) return;
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: here, stdio: 'inherit' });
  if (status !== 0) throw new Error('Stryker could not be installed.');
}

/** Runs Stryker over a room, and returns its report. @param {string} room */
function mutate(room) {
  const folder = join(tmpdir(), 'fullmcp-mutation');
  mkdirSync(folder, { recursive: true });
  const report = join(folder, `${room.replaceAll('/', '-')}.json`);
  const config = join(folder, `${room.replaceAll('/', '-')}.config.json`);
  rmSync(report, { force: true });
  writeFileSync(config, JSON.stringify(configOf(room, report)));
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

function configOf(room, report) {
  return {
    testRunner: 'vitest',
    plugins: [`${here}node_modules/@stryker-mutator/vitest-runner/dist/src/index.js`],
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: true },
    mutate: placesOf(room),
    // Words of messages are checked by tests of their own; changing them all would only count them.
    mutator: { excludedMutations: ['StringLiteral'] },
    coverageAnalysis: 'perTest',
    concurrency: 2,
    dryRunTimeoutMinutes: 15,
    ignoreStatic: true,
    reporters: ['json'],
    jsonReporter: { fileName: report },
    ignorePatterns: ['/dist', '/build', '/coverage', '/docs/pictures', '/bench', '/inspector', '/site'],
    tempDirName: join(tmpdir(), 'fullmcp-mutation', 'sandbox'),
    // The names of paths are found by vitest; Stryker must not rewrite the configuration of the compiler.
    tsconfigFile: 'none',
    allowEmpty: true,
  };
}

/** The files of a room, or as many pieces of 20 lines as `--lines` allows, drawn by the seed. @param {string} room */
function placesOf(room) {
  const files = readdirSync(`${root}src/${room}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `src/${room}/${name}`)
    .sort();
  if (values.lines === undefined) return files;
  const pieces = files.flatMap(piecesOf);
  const random = new Random(Number(values.seed));
  const order = pieces.map((piece) => ({ piece, at: random.next() })).sort((one, other) => one.at - other.at);
  return order.slice(0, Math.ceil(Number(values.lines) / PIECE)).map(({ piece }) => piece);
}

function piecesOf(file) {
  const count = readFileSync(root + file, 'utf8').split('\n').length;
  return Array.from(
    { length: Math.ceil(count / PIECE) },
    (_, index) => `${file}:${index * PIECE + 1}-${(index + 1) * PIECE}`,
  );
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
