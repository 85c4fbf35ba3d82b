// `npm run bench -- events`: what events cost on each engine. --quick takes a fifth of the time; --only names engines, with commas
// between them. Prints tables for docs/capacity.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { measurePasses, startAll, timed } from '../engines/passes.js';
import { about } from '../numbers.js';
import { measureEvents, measureSubscriptions } from './measure.js';
import { eventTable, fanOutTable, subscriptionTable, webhookTable } from './tables.js';

const RESULTS = fileURLToPath(new URL('../results.json', import.meta.url));
/** Stores whose subscriptions are in the memory of the process, and beside it. */
const HELD = ['memory', 'lmdb'];

/** @param {readonly string[]} args */
export async function measureAllEvents(args) {
  const quick = args.includes('--quick');
  const only = args.includes('--only') ? (args[args.indexOf('--only') + 1] ?? '').split(',') : undefined;
  const count = quick ? 10_000 : 100_000;
  const load = { before: loadavg()[0] ?? 0, after: 0 };
  const running = await startAll(only);
  try {
    const options = { events: quick ? 1000 : 5000, rounds: quick ? 3 : 9 };
    const engines = await measurePasses(running, quick ? 1 : 3, (engine) => measureEvents(engine, options));
    const subscriptions = {};
    for (const name of HELD.filter((each) => running[each] !== undefined))
      subscriptions[name] = await timed(`subscriptions, ${name}`, () =>
        measureSubscriptions(running[name], { count }),
      );
    load.after = loadavg()[0] ?? 0;
    const model = cpus()[0]?.model.trim() || arch();
    console.log(
      `\nNode ${process.version}, ${cpus().length} processors (${model}); load ${load.before.toFixed(1)} before, ${load.after.toFixed(1)} after.`,
    );
    for (const table of [
      eventTable(engines),
      webhookTable(engines),
      fanOutTable(engines),
      subscriptionTable(subscriptions, count),
    ])
      console.log(`\n${table}`);
    if (!quick && only === undefined)
      save({ processors: cpus().length, load, engines, count, subscriptions });
  } finally {
    for (const engine of Object.values(running)) engine.stop();
  }
}

function save(figures) {
  const results = JSON.parse(readFileSync(RESULTS, 'utf8'));
  const round = (_, value) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
  const events = { ...about(), ...figures };
  writeFileSync(RESULTS, `${JSON.stringify({ ...results, events }, round, 2)}\n`);
}
