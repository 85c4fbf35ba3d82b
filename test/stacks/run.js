// Runs random stacks: node test/stacks/run.js [--count N] [--from N] [--jobs N]
// Prints the smallest stack that fails as the stack of one seed does: node test/stacks/run.js --seed N
// Puts back one defect after another, and expects that the stacks find it: node test/stacks/run.js --defects [--count N]
// Runs them with the sources of another checkout: node test/stacks/run.js --against ../other
import { fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { inspect, parseArgs } from 'node:util';
import { rolldown } from 'rolldown';
import { recordText } from '../../scripts/records.js';
import { defects, putBack } from './defects.js';

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: process.env.STACKS ?? '20000' },
    from: { type: 'string', default: '1' },
    jobs: { type: 'string', default: String(Math.min(8, availableParallelism())) },
    seed: { type: 'string' },
    against: { type: 'string' },
    defects: { type: 'boolean', default: false },
  },
});

/** The number of seeds that a process gets at a time. */
const CHUNK = 25;
/** The number of failures that are printed. */
const PRINTED = 20;

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = options.against === undefined ? root : `${resolve(options.against)}/`;
const folder = `${root}node_modules/.cache/stacks-${process.pid}`;
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

if (options.seed !== undefined) await printSeed(Number(options.seed));
else if (options.defects) await findDefects();
else await runAll();

/**
 * Bundles the stacks with the sources of fullmcp, so that no build is needed. Returns the program.
 * @param {import('./defects.js').Defect} [defect]
 */
async function bundle(defect) {
  const program = `${folder}/main.mjs`;
  let wasPutBack = defect === undefined;
  const built = await rolldown({
    input: `${root}test/stacks/main.ts`,
    platform: 'node',
    plugins: [
      {
        name: 'fullmcp',
        resolveId(id) {
          if (id === 'fullmcp') return `${sources}src/index.ts`;
          if (id.startsWith('fullmcp/')) return `${sources}src/${id.slice(8)}.ts`;
          const inner = /^(?:\.\.\/)+(src\/.*)\.js$/.exec(id)?.[1];
          return inner === undefined ? null : `${sources}${inner}.ts`;
        },
        transform(code, id) {
          const changed = defect && putBack(defect, code, id);
          wasPutBack ||= changed !== undefined;
          return changed;
        },
      },
    ],
    external: (id) => !/^(?:\.|\/|fullmcp)/.test(id),
    onLog: () => undefined,
  });
  await built.write({ file: program, format: 'esm', sourcemap: true, codeSplitting: false });
  await built.close();
  if (!wasPutBack) throw new Error(`"${defect?.name}" was not put back: ${defect?.file} is not bundled.`);
  return program;
}

/** @param {number} seed */
async function printSeed(seed) {
  process.setSourceMapsEnabled(true);
  const { smallest, stackOf } = await import(pathToFileURL(await bundle()).href);
  const found = await smallest(seed);
  console.log(inspect(found?.spec ?? stackOf(seed), { depth: 20, breakLength: 140 }));
  if (found !== undefined) console.log(`seed ${seed}: ${found.failure.promise}: ${found.failure.detail}`);
  end(1, found === undefined ? 0 : 1);
  process.exit();
}

async function runAll() {
  const count = Number(options.count);
  const startedAt = performance.now();
  let [done, failures] = [0, 0];
  const cpu = await inProcesses(await bundle(), Number(options.from), count, (report) => {
    done += report.count;
    for (const failure of report.failures) if (failures++ < PRINTED) printFailure(failure);
    if (done % 5000 === 0 && done < count) console.log(`${done} stacks, ${failures} failures`);
    return true;
  });
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(
    `${Math.round(done / seconds)} stacks per second, ${Math.round(done / cpu)} per second of CPU time`,
  );
  end(count, failures);
}

/** Fails if a defect is not found. */
async function findDefects() {
  const count = Number(options.count);
  let missed = 0;
  for (const defect of defects) {
    const found = [];
    let done = 0;
    await inProcesses(await bundle(defect), Number(options.from), count, (report) => {
      done += report.count;
      found.push(...report.failures);
      return found.length === 0;
    });
    const [first] = found.sort((one, other) => one.seed - other.seed);
    if (first === undefined) missed++;
    console.log(`${first === undefined ? 'NOT FOUND' : 'found'} after ${done} stacks: ${defect.name}`);
    if (first !== undefined) printFailure(first);
  }
  console.log(`defects: ${defects.length} found ${defects.length - missed}`);
  process.exitCode = missed > 0 ? 1 : 0;
}

/**
 * Lets processes run the seeds, until all have run or `onReport` returns false. Returns the seconds of CPU time that they took.
 * @param {string} program
 * @param {number} from
 * @param {number} count
 * @param {(report: any) => boolean} onReport
 */
async function inProcesses(program, from, count, onReport) {
  let at = 0;
  let cpu = 0;
  const work = async () => {
    const child = fork(program, [], {
      env: { ...process.env, STACKS_CHILD: '1' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    let own = 0;
    try {
      while (at < count) {
        const order = { from: from + at, count: Math.min(CHUNK, count - at) };
        at += order.count;
        child.send(order);
        const report = await new Promise((resolve, reject) => {
          child.once('message', resolve);
          child.once('exit', (code) =>
            reject(new Error(`A process ended with ${code} at seeds from ${order.from}.`)),
          );
        });
        child.removeAllListeners();
        own = (report.cpu.user + report.cpu.system) / 1e6;
        if (!onReport(report)) at = count;
      }
    } finally {
      cpu += own;
      child.kill();
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Number(options.jobs)) }, work));
  return cpu;
}

/** @param {{ seed: number, promise: string, detail: string }} failure */
function printFailure({ seed, promise, detail }) {
  console.log(`seed ${seed}: ${promise}: ${detail}`);
}

/**
 * @param {number} count
 * @param {number} failures
 */
function end(count, failures) {
  const last = `stacks: ${count} failures ${failures}`;
  console.log(last);
  if (process.env.RECORD && options.seed === undefined && options.against === undefined)
    recordText('stacks', last);
  process.exitCode = failures > 0 ? 1 : 0;
}
