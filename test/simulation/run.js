// Simulates clusters, one from each seed: node test/simulation/run.js [--seeds N] [--from N] [--jobs N]
// Prints the trace of one seed: node test/simulation/run.js --seed N [--plant PROMISE]
// Shows that planted bugs are noticed: node test/simulation/run.js --plants
import { fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';

const { values: options } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20000' },
    from: { type: 'string', default: '1' },
    jobs: { type: 'string', default: String(Math.min(8, availableParallelism())) },
    seed: { type: 'string' },
    plant: { type: 'string' },
    plants: { type: 'boolean', default: false },
    digests: { type: 'boolean', default: false },
  },
});

/** The number of seeds that a process gets at a time; fewer where the first that fails is the last. */
const CHUNK = options.plants ? 4 : 20;
/** Each core has a process of its own, so a second thread that compiles would only take its time. New objects get more room, so that they are collected less often. */
const FLAGS = ['--no-concurrent-recompilation', '--max-semi-space-size=64'];
/** The number of failures that are printed. */
const PRINTED = 20;

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = `${root}node_modules/.cache/simulation-${process.pid}`;
const program = `${folder}/main.mjs`;
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
await bundle();

if (options.seed !== undefined) await printSeed(Number(options.seed));
else if (options.plants) await runPlants();
else await runAll();

/** Bundles the simulation with the sources of fullmcp, so that no build is needed. */
async function bundle() {
  const built = await rolldown({
    input: `${root}test/simulation/main.ts`,
    platform: 'node',
    resolve: { alias: { 'fullmcp/http': `${root}src/http.ts`, fullmcp: `${root}src/index.ts` } },
    external: (id) => id.startsWith('node:'),
  });
  await built.write({ file: program, format: 'esm', sourcemap: true, codeSplitting: false });
  await built.close();
}

/** @param {number} seed */
async function printSeed(seed) {
  process.setSourceMapsEnabled(true);
  const { replay } = await import(pathToFileURL(program).href);
  const { trace, violations } = await replay(seed, options.plant);
  console.log(trace.lines.join('\n'));
  for (const { invariant, detail } of violations) console.log(`seed ${seed}: ${invariant}: ${detail}`);
  console.log(`digest ${trace.digest}`);
  end(1, violations.length > 0 ? 1 : 0);
}

async function runAll() {
  const seeds = Number(options.seeds);
  const startedAt = performance.now();
  let [done, failures, events, simulatedMs] = [0, 0, 0, 0];
  await inProcesses(orders(Number(options.from), seeds, options.plant), (report) => {
    done += report.order.count;
    events += report.events;
    simulatedMs += report.simulatedMs;
    for (const failure of report.failures) if (failures++ < PRINTED) printFailure(failure);
    for (const digest of report.digests) console.log(`digest ${digest}`);
    if (done % 1000 === 0 && done < seeds) console.log(`${done} seeds, ${failures} failures, ${speed(done)}`);
  });
  console.log(`${speed(done)}, ${Math.round(events / done)} events each`);
  end(seeds, failures);

  /** @param {number} count */
  function speed(count) {
    const seconds = (performance.now() - startedAt) / 1000;
    const hours = Math.round(simulatedMs / 3_600_000);
    return `${(count / seconds).toFixed(0)} seeds per second (${hours} simulated hours)`;
  }
}

/** Runs each planted bug until its promise is broken. */
async function runPlants() {
  const { planted } = await import(pathToFileURL(program).href);
  /** @type {Map<string, number>} */
  const noticed = new Map();
  await inProcesses(searches(planted, noticed), ({ order: { plant }, failures }) => {
    const broken = failures.find(({ violations }) => violations.some(({ invariant }) => invariant === plant));
    if (broken !== undefined) noticed.set(plant, Math.min(broken.seed, noticed.get(plant) ?? broken.seed));
  });
  for (const [promise, bug] of planted) {
    const seed = noticed.get(promise);
    console.log(`plant: ${bug}: ${seed === undefined ? 'NOT NOTICED' : `seed ${seed}`}: ${promise}`);
  }
  const missed = planted.length - noticed.size;
  console.log(`simulation: plants ${planted.length} missed ${missed}`);
  process.exitCode = missed > 0 ? 1 : 0;
}

/**
 * The orders of each bug, until it is noticed.
 * @param {[promise: string, bug: string, from: number][]} planted
 * @param {Map<string, number>} noticed
 */
function* searches(planted, noticed) {
  for (const [promise, , from] of planted)
    for (const order of orders(from, Number(options.seeds), promise)) {
      if (noticed.has(promise)) break;
      yield order;
    }
}

/**
 * @param {number} from
 * @param {number} seeds
 * @param {string | undefined} plant
 */
function* orders(from, seeds, plant) {
  for (let at = 0; at < seeds; at += CHUNK)
    yield { from: from + at, count: Math.min(CHUNK, seeds - at), plant, mustDigest: options.digests };
}

/**
 * Lets processes run the orders, until there are none.
 * @param {Generator<object>} all
 * @param {(report: any) => void} onReport
 */
async function inProcesses(all, onReport) {
  const work = async () => {
    const child = fork(program, [], { execArgv: FLAGS, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    try {
      for (;;) {
        const { value: order, done } = all.next();
        if (done) return;
        child.send(order);
        const report = await new Promise((resolve, reject) => {
          child.once('message', resolve);
          child.once('exit', (code) => reject(new Error(`A process of the simulation ended with ${code}.`)));
        });
        child.removeAllListeners();
        onReport(report);
      }
    } finally {
      child.kill();
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Number(options.jobs)) }, work));
}

/** @param {{ seed: number, violations: { invariant: string, detail: string }[] }} failure */
function printFailure({ seed, violations }) {
  for (const { invariant, detail } of violations.slice(0, 3))
    console.log(`seed ${seed}: ${invariant}: ${detail}`);
}

/**
 * @param {number} seeds
 * @param {number} failures
 */
function end(seeds, failures) {
  console.log(`simulation: seeds ${seeds} failures ${failures}`);
  process.exitCode = failures > 0 ? 1 : 0;
}
