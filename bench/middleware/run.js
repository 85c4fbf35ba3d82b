// `npm run bench -- middleware`: what each built-in middleware adds to a call in the same process. --quick takes a fifth of the time.
import { readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { isMet } from '../budgets.js';
import { startServer } from '../child.js';
import { about, interleaved } from '../numbers.js';
import { kinds } from './kinds.js';

const RESULTS = fileURLToPath(new URL('../results.json', import.meta.url));

/** @param {readonly string[]} args */
export async function measureMiddleware(args) {
  const quick = args.includes('--quick');
  const loadBefore = loadavg()[0] ?? 0;
  const figures = await measure({ rounds: quick ? 9 : 41, calls: quick ? 4000 : 10_000 });
  const table = Object.entries(kinds)
    .filter(([name]) => name !== 'none')
    .map(([name, { what, budget }]) => ({
      what,
      value: 100 * (figures.ratio('microseconds', name, 'none') - 1),
      unit: '%',
      better: /** @type {const} */ ('less'),
      ...(budget !== undefined && { budget }),
      microseconds: figures.difference('microseconds', name, 'none'),
    }));
  console.log(
    `${'added to an in-process tools/call'.padEnd(44)}${'time'.padStart(10)}${'µs'.padStart(10)}${'budget'.padStart(10)}`,
  );
  for (const row of table) {
    const limit = row.budget === undefined ? '' : `≤ ${row.budget} %`;
    console.log(
      `${row.what.padEnd(44)}${`${row.value.toFixed(1)} %`.padStart(10)}${row.microseconds.toFixed(2).padStart(10)}${limit.padStart(10)}${isMet(row) ? '' : '  MISSED'}`,
    );
  }
  console.log(`${kinds['none']?.what}: ${figures.medians.none.microseconds.toFixed(2)} µs`);
  if (!quick) save(table, figures, { before: loadBefore, after: loadavg()[0] ?? 0 });
  process.exitCode = table.every(isMet) ? 0 : 1;
}

/** @param {{ rounds: number, calls: number }} options */
async function measure({ rounds, calls }) {
  const running = await Promise.all(
    Object.keys(kinds).map(async (name) => ({
      name,
      server: await startServer('in-process-middleware', { args: [name] }),
    })),
  );
  const run = ({ server }) => server.ask({ what: 'run', calls });
  // Twice, so that the code is optimized before the first round.
  for (const one of [...running, ...running]) await run(one);
  const figures = await interleaved(
    Object.fromEntries(running.map((one) => [one.name, async () => ({ microseconds: await run(one) })])),
    rounds,
  );
  for (const { server } of running) await server.stop();
  return figures;
}

function save(table, { medians }, load) {
  const results = JSON.parse(readFileSync(RESULTS, 'utf8'));
  const middleware = {
    ...about(),
    load,
    budgets: table,
    medians,
  };
  const round = (_, value) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
  writeFileSync(RESULTS, `${JSON.stringify({ ...results, middleware }, round, 2)}\n`);
}
