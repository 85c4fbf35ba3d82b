// `npm run chaos`: kills, ends and pauses replicas on each engine, runs the simulated cluster, and ends with one line of figures.
// CHAOS=5 runs five times as many strikes as CI can bear.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

const file = join(mkdtempSync(join(tmpdir(), 'fullmcp-chaos-')), 'report');
const args = ['vitest', 'run', 'test/chaos/engines.test.ts', ...process.argv.slice(2)];
const { status } = spawnSync('npx', args, { stdio: 'inherit', env: { ...process.env, CHAOS_REPORT: file } });
const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];

let simulated = 'simulation not run';
let simulationStatus = 0;
if (existsSync('test/simulation/run.js')) {
  const run = spawnSync(process.execPath, ['test/simulation/run.js', '--seeds', '20000'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  process.stdout.write(run.stdout);
  simulated = (run.stdout.trim().split('\n').at(-1) ?? '').replace(':', '');
  simulationStatus = run.status ?? 1;
}

/** @param {string} engine @param {string} figure */
function figureOf(engine, figure) {
  const line = lines.find((each) => each.startsWith(`${engine}:`));
  return line?.match(new RegExp(`${figure} (\\d+)`))?.[1] ?? 'not run';
}

for (const line of lines) console.log(line);
const parts = [
  `postgres lost ${figureOf('postgres', 'lost')} doubled ${figureOf('postgres', 'doubled')}`,
  `redis lost ${figureOf('redis', 'lost')} doubled ${figureOf('redis', 'doubled')}`,
  `nats lost ${figureOf('nats', 'lost')}`,
  simulated,
];
console.log(`chaos: ${parts.join('; ')}`);
process.exit(status || simulationStatus);
