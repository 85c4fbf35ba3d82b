// `npm run bench -- engines`: what many processes cost on each engine. --quick takes a fifth of the time; --only names engines,
// with commas between them. Prints tables for docs/capacity.md.
import { writeFileSync } from 'node:fs';
import { arch, cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { about, median } from '../numbers.js';
import { measureCalls } from './calls.js';
import { measureStreams, measureWaiting } from './memory.js';
import { engines } from './start.js';
import { callTable, streamTable, throughputTable, waitingTable } from './tables.js';
import { measureThroughput } from './throughput.js';

/** @param {readonly string[]} args */
export async function measureEngines(args) {
  const quick = args.includes('--quick');
  const only = args.includes('--only') ? (args[args.indexOf('--only') + 1] ?? '').split(',') : undefined;
  const loadBefore = loadavg()[0] ?? 0;
  const running = await startAll(only);
  try {
    const throughput = await measurePasses(running, quick ? 1 : 3, { roundMs: quick ? 500 : 1500 });
    const calls = await timed('plain calls', () =>
      measureCalls(running, { rounds: quick ? 5 : 15, roundMs: quick ? 100 : 300 }),
    );
    const count = quick ? 1000 : 10_000;
    const waiting = {};
    // With tasks in the memory of the process itself, there is nothing to put aside.
    for (const name of ['lmdb', 'postgres', 'redis', 'nats'].filter((each) => running[each] !== undefined))
      waiting[name] = await timed(`waiting, ${name}`, () => measureWaiting(running[name], { count }));
    const streams = await timed('streams', () =>
      measureStreams(running[Object.keys(running)[0] ?? ''], { count: quick ? 500 : 5000 }),
    );
    const load = { before: loadBefore, after: loadavg()[0] ?? 0 };
    report({ throughput, calls, waiting, streams, count, load });
    if (!quick && only === undefined) save({ throughput, calls: calls.medians, waiting, streams, load });
  } finally {
    for (const engine of Object.values(running)) engine.stop();
  }
}

async function startAll(only) {
  /** @type {Record<string, import('./start.js').Engine>} */
  const running = {};
  for (const [name, start] of Object.entries(engines)) {
    if (only !== undefined && !only.includes(name)) continue;
    const engine = await start();
    if (engine === undefined) console.log(`SKIPPED: ${name} is not installed on this machine.`);
    else running[name] = engine;
  }
  return running;
}

/** All engines in turn, pass after pass, each pass starting with another one. The median of the passes counts. */
async function measurePasses(running, passes, options) {
  /** @type {Record<string, Record<string, number[]>>} */
  const samples = {};
  const names = Object.keys(running);
  for (let pass = 0; pass < passes; pass++) {
    for (const name of [...names.slice(pass % names.length), ...names.slice(0, pass % names.length)]) {
      const figures = await timed(name, () => measureThroughput(running[name], options));
      samples[name] ??= {};
      for (const [figure, value] of Object.entries(figures)) {
        samples[name][figure] ??= [];
        samples[name][figure].push(value);
      }
    }
  }
  return Object.fromEntries(
    names.map((name) => [
      name,
      Object.fromEntries(Object.entries(samples[name] ?? {}).map(([figure, all]) => [figure, median(all)])),
    ]),
  );
}

async function timed(name, work) {
  const from = performance.now();
  const result = await work();
  console.log(`${name.padEnd(20)} ${((performance.now() - from) / 1000).toFixed(1)} s`);
  return result;
}

function report({ throughput, calls, waiting, streams, count, load }) {
  const model = cpus()[0]?.model.trim() || arch();
  console.log(
    `\nNode ${process.version}, ${cpus().length} processors (${model}); load ${load.before.toFixed(1)} before, ${load.after.toFixed(1)} after.`,
  );
  console.log(`\n${throughputTable(throughput)}`);
  console.log(`\n${callTable(calls)}`);
  console.log(`\n${waitingTable(waiting, count)}`);
  console.log(`\n${streamTable(streams)}`);
}

function save(results) {
  const file = fileURLToPath(new URL('../engines.json', import.meta.url));
  const stamp = {
    ...about(),
    processors: cpus().length,
  };
  const round = (_, value) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
  writeFileSync(file, `${JSON.stringify({ ...stamp, ...results }, round, 2)}\n`);
}
