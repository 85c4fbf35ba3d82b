// `npm run chaos`: kills, ends and pauses replicas on each engine, runs the simulated cluster, and ends with one line of figures.
// CHAOS=5 runs five times as many strikes as CI can bear, in five times the time; CHAOS_SECONDS sets the time for each engine.
// CHAOS also multiplies the events that are emitted while processes and engines are killed; CHAOS_EVENTS sets their number.
// CHAOS_SEED repeats the order of the strikes. SEEDS is the number of simulated clusters; default 20,000.
// RECORD=1 writes records/chaos.json.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { recordText } from '../../scripts/records.js';

const folder = mkdtempSync(join(tmpdir(), 'fullmcp-chaos-'));
const file = join(folder, 'report');
const args = ['vitest', 'run', '--project=chaos', ...process.argv.slice(2)];
const killing = spawnSync('npx', args, { stdio: 'inherit', env: { ...process.env, CHAOS_REPORT: file } });
const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
rmSync(folder, { recursive: true, force: true });

const seeds = process.env.SEEDS ?? '20000';
const simulating = spawnSync(process.execPath, ['test/simulation/run.js', '--seeds', seeds], {
  stdio: ['ignore', 'pipe', 'inherit'],
  encoding: 'utf8',
});
process.stdout.write(simulating.stdout);

for (const line of lines) console.log(line);
const parts = [
  `postgres lost ${sumOf('postgres', ['lost', 'unheard'])} doubled ${sumOf('postgres', ['doubled', 'repeated'])}`,
  `redis lost ${sumOf('redis', ['lost', 'unheard'])} doubled ${sumOf('redis', ['doubled', 'repeated'])}`,
  `nats lost ${sumOf('nats', ['lost', 'unheard'])}`,
  ...['postgres', 'redis', 'nats', 'lmdb'].map((engine) => {
    const name = `events on ${engine}`;
    return `${name} lost ${sumOf(name, ['lost'])} doubled ${sumOf(name, ['doubled'])} disordered ${sumOf(name, ['disordered'])}`;
  }),
  simulating.stdout.trim().split('\n').at(-1)?.replace(':', ''),
];
const last = `chaos: ${parts.join('; ')}`;
console.log(last);
if (process.env.RECORD) recordText('chaos', [simulating.stdout, ...lines, last].join('\n'));
process.exit(killing.status || simulating.status || (killing.signal || simulating.signal ? 1 : 0));

/** @param {string} engine @param {readonly string[]} figures */
function sumOf(engine, figures) {
  const line = lines.find((each) => each.startsWith(`${engine}:`));
  if (line === undefined) return 'not run';
  // Before the first semicolon is what happened, such as steps that were cut off and repeated; after it, what must not happen.
  const broken = line.slice(line.indexOf(';'));
  return figures.reduce((sum, figure) => sum + Number(broken.match(new RegExp(` ${figure} (\\d+)`))?.[1]), 0);
}
