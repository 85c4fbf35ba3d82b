// `npm run bench -- engines`: what many processes cost on each engine. --quick takes a fifth of the time; --only names engines,
// with commas between them. Prints tables for docs/capacity.md.
import { writeFileSync } from 'node:fs';
import { arch, cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { about } from '../numbers.js';
import { measureCalls } from './calls.js';
import { measureStreams, measureWaiting } from './memory.js';
import { measurePasses, startAll, timed } from './passes.js';
import { callTable, streamTable, throughputTable, waitingTable } from './tables.js';
import { measureThroughput } from './throughput.js';

/** @param {readonly string[]} args */
export async function measureEngines(args) {
  const quick = args.includes('--quick');
  const only = args.includes('--only') ? (args[args.indexOf('--only') + 1] ?? '').split(',') : undefined;
  const loadBefore = loadavg()[0] ?? 0;
  const running = await startAll(only);
  try {
    const throughput = await measurePasses(running, quick ? 1 : 3, (engine) =>
      measureThroughput(engine, { roundMs: quick ? 500 : 1500 }),
    );
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
