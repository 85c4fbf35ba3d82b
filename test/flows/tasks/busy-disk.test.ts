import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { ended } from '../../support/processes.js';
import { until } from '../../support/until.js';

/** `LOAD=0.2` has a fifth of the tasks. */
const TASKS = Math.round(10_000 * Number(process.env['LOAD'] ?? '1'));
/** A disk may need a tenth of a second for a write while another process waits for it, too. */
const PATIENCE_MS = 1_800_000;

const fixture = fileURLToPath(new URL('../fixtures/busy-disk-server.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fullmcp-busy-disk-'));
const children = new Set<ChildProcess>();

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const linesOf = (name: string): string[] => {
  const file = join(folder, name);
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
};

/** Another process that writes to the same disk and waits for it, all the time. */
const noise = `
  import { fsyncSync, openSync, writeSync } from 'node:fs';
  const file = openSync(process.argv[1], 'w');
  const bytes = Buffer.alloc(1 << 20, 'x');
  let writes = 0;
  process.on('SIGTERM', () => { console.log(writes); process.exit(0); });
  (function write() { writeSync(file, bytes, 0, bytes.length, 0); fsyncSync(file); writes++; setImmediate(write); })();`;

function start(args: readonly string[]) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  return { child, output: () => output };
}

async function run(...args: string[]) {
  const { child, output } = start([fixture, folder, ...args]);
  const [code] = await once(child, 'exit');
  expect(code, 'the exit code of the process').toBe(0);
  return JSON.parse(output()) as {
    readonly runs: number;
    readonly errors: readonly string[];
    readonly atStart: { readonly runs: number; readonly answered: Record<string, number> };
  };
}

test(`${TASKS} tasks that wait on a busy disk lose nothing when their process ends and when the next one is killed`, {
  timeout: PATIENCE_MS,
}, async () => {
  const busy = start(['--input-type=module', '-e', noise, join(folder, 'noise')]);
  const created = await run('create', String(TASKS));
  expect(new Set(linesOf('created')).size).toBe(TASKS);
  expect(created.errors).toEqual([]);

  const { child } = start([fixture, folder, 'answer']);
  await until(
    'a part of the tasks is answered',
    () => linesOf('answered').length > TASKS / 4,
    PATIENCE_MS / 2,
  );
  await ended(child, () => child.kill('SIGKILL'));
  const answered = linesOf('answered').length;
  expect(answered).toBeLessThan(TASKS);

  const resumed = await run('resume');
  expect(resumed.errors).toEqual([]);
  // Every answer that was acknowledged is known, and tasks that wait for theirs do not run when a process starts.
  const { input_required: asked = 0, lost = 0, failed = 0 } = resumed.atStart.answered;
  expect({ asked, lost, failed }).toEqual({ asked: 0, lost: 0, failed: 0 });
  expect(resumed.atStart.runs).toBeLessThanOrEqual(answered);
  // Every task has paid under its one key. Only a step that the kill cut off has run twice.
  const paid = linesOf('paid');
  expect(new Set(paid).size).toBe(TASKS);
  expect(paid.length - TASKS).toBeLessThanOrEqual(100);

  await ended(busy.child, () => busy.child.kill('SIGTERM'));
  expect(Number(busy.output()), 'the writes of the other process').toBeGreaterThan(10);
});
