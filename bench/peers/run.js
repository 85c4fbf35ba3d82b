// Measures fullmcp beside the other libraries of its kind, all in one run and in turn: calls for each second of CPU time over HTTP and
// stdio, the start of a process, its live heap, and what the installation weighs; over HTTP also on Bun, for those with a fetch handler.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { about, interleaved } from '../numbers.js';
import { httpRound, requests, stdioCalls } from './calls.js';
import { contenders } from './contenders.js';
import { install, installBun, weight } from './installed.js';
import { startListening, startProgram } from './programs.js';

const record = fileURLToPath(new URL('../peers.json', import.meta.url));
const WARM_UP_MS = 1500;
const HEAP_CALLS_MS = 300;

/** @param {string[]} args */
export async function measurePeers(args) {
  const quick = args.includes('--quick');
  const rounds = quick ? 5 : 15;
  const loadBefore = loadavg()[0] ?? 0;
  for (const contender of contenders) install(contender);
  const bun = installBun();
  const http = await measureListening('http', { rounds, roundMs: 150 });
  const onBun = await measureListening('bun', { rounds, roundMs: 150, bun });
  const stdio = await measureStdio({ rounds: quick ? 3 : 9 });
  const start = await measureStart({ spawns: quick ? 5 : 15 });
  const rows = contenders.map((contender) => row(contender, { http, onBun, stdio, start }));
  print(rows);
  if (!quick) {
    const load = { before: loadBefore, after: loadavg()[0] ?? 0, processors: cpus().length };
    writeFileSync(record, `${JSON.stringify(recorded(rows, { bun, load }), rounded, 2)}\n`);
  }
}

async function measureListening(kind, { rounds, roundMs, bun }) {
  const running = [];
  for (const contender of contenders.filter(({ programs }) => programs[kind] !== undefined)) {
    const program = await startListening(contender, kind, bun);
    for (const revision of revisionsOf(contender))
      running.push({
        name: `${contender.name} ${revision}`,
        contender,
        program,
        request: await requests(program.port, revision),
      });
  }
  for (const { program, request } of running) await httpRound(program, request, WARM_UP_MS);
  const figures = await interleaved(
    Object.fromEntries(
      running.map(({ name, program, request }) => [name, () => httpRound(program, request, roundMs)]),
    ),
    rounds,
  );
  const heaps = {};
  for (const { contender, program, request } of running) {
    await httpRound(program, request, HEAP_CALLS_MS);
    heaps[contender.name] = await program.ask('heap');
  }
  for (const { program } of running) await program.stop();
  return { ...figures, heaps };
}

/** The kinds of calls that a contender answers. @param {import('./contenders.js').Contender} contender */
function revisionsOf({ session, modern }) {
  return [session ? 'session' : 'plain', ...(modern ? ['modern'] : [])];
}

async function measureStdio({ rounds }) {
  const running = [];
  for (const contender of contenders.filter(({ programs }) => programs.stdio !== undefined)) {
    const program = startProgram(contender, 'stdio');
    const calls = stdioCalls(program);
    await calls.first();
    await calls.round(10, 200);
    running.push({ name: contender.name, program, calls });
  }
  const figures = await interleaved(
    Object.fromEntries(running.map(({ name, calls }) => [name, () => calls.round(5, 200)])),
    rounds,
  );
  for (const { program } of running) await program.stop();
  return figures;
}

function measureStart({ spawns }) {
  const those = contenders.filter(({ programs }) => programs.stdio !== undefined);
  return interleaved(Object.fromEntries(those.map((one) => [one.name, () => startOnce(one)])), spawns);
}

/** The milliseconds from the start of a process to the answer of its first call. @param {import('./contenders.js').Contender} contender */
async function startOnce(contender) {
  const from = performance.now();
  const { child } = startProgram(contender, 'stdio', { isWatched: false });
  await stdioCalls({ child, ask: async () => process.cpuUsage() }).first();
  const milliseconds = performance.now() - from;
  child.kill('SIGKILL');
  await once(child, 'exit');
  return { milliseconds };
}

/** What was measured of a contender. Every figure is also given as a share of the bare program's in the same round. */
function row(contender, { http, onBun, stdio, start }) {
  const { name, main, session } = contender;
  const kind = session ? 'session' : 'plain';
  return {
    name,
    ...(main !== '' && weight(contender)),
    http2025: figure(http, 'perCpuSecond', `${name} ${kind}`, 'bare plain'),
    http2026: figure(http, 'perCpuSecond', `${name} modern`, 'bare modern'),
    bun2025: figure(onBun, 'perCpuSecond', `${name} ${kind}`, 'bare plain'),
    bun2026: figure(onBun, 'perCpuSecond', `${name} modern`, 'bare modern'),
    stdio: figure(stdio, 'perCpuSecond', name, 'bare'),
    start: figure(start, 'milliseconds', name, 'bare'),
    heapBytes: http.heaps[name],
  };
}

function figure(from, what, key, bare) {
  const value = from.medians[key]?.[what];
  return value === undefined ? undefined : { value, ofBare: from.ratio(what, key, bare) };
}

function recorded(rows, { bun, load }) {
  return { ...about(), bun: execFileSync(bun, ['--version'], { encoding: 'utf8' }).trim(), load, rows };
}

function print(rows) {
  const share = (one) => (one === undefined ? '–' : Number(one.ofBare.toPrecision(3)));
  console.table(
    rows.map(
      ({
        name,
        version,
        packages,
        bytes,
        http2025,
        http2026,
        bun2025,
        bun2026,
        stdio,
        start,
        heapBytes,
      }) => ({
        name,
        version,
        'HTTP 2025': share(http2025),
        'HTTP 2026': share(http2026),
        'Bun 2025': share(bun2025),
        'Bun 2026': share(bun2026),
        stdio: share(stdio),
        start: share(start),
        'heap MB': Number((heapBytes / 1e6).toFixed(1)),
        packages,
        MB: bytes && Number((bytes / 1e6).toFixed(1)),
      }),
    ),
  );
}

function rounded(_, value) {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}
