import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { lmdbStore } from 'fullmcp/lmdb';
import { afterAll, expect, test } from 'vitest';
import { modern } from '../../support/http/modern.js';
import { ended } from '../../support/processes.js';
import { headsIn, readStoredTask, type StoredTask } from '../../support/tasks.js';
import { until } from '../../support/until.js';

const RUNS = Number(process.env['CRASH_RUNS'] ?? 50);
const AT_ONCE = 5;
const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000);
const fixture = fileURLToPath(new URL('../fixtures/crash-server.mjs', import.meta.url));
const TASKS = 'io.modelcontextprotocol/tasks';
const meta = {
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, extensions: { [TASKS]: {} } },
};

const root = mkdtempSync(join(tmpdir(), 'fullmcp-crash-'));
const children = new Set<ChildProcess>();

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

/** How a server process ends: at one of its crash points, after a time, or not before the task ends. */
type Death = { readonly point: number } | { readonly afterMs: number } | undefined;

interface Life {
  readonly child: ChildProcess;
  readonly url: string | undefined;
  readonly isDead: () => boolean;
}

test(`a task completes after its server has crashed, and no recorded step runs again: ${RUNS} runs (CRASH_SEED=${seed})`, {
  timeout: 4000 * RUNS,
}, async () => {
  const kills = { planned: 0, actual: 0 };
  const waiting = Array.from({ length: RUNS }, (_, run) => run);
  const lane = async (): Promise<void> => {
    for (let run = waiting.pop(); run !== undefined; run = waiting.pop()) {
      const deaths = plan(run);
      kills.planned += deaths.length;
      try {
        // Two statements: `+= await` would lose the kills that other lanes count in the meantime.
        const actual = await survive(join(root, `run-${run}`), deaths);
        kills.actual += actual;
      } catch (error) {
        waiting.length = 0;
        const story = `CRASH_SEED=${seed}, run ${run}, deaths ${JSON.stringify(deaths)}`;
        throw new Error(`${story}: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      }
    }
  };
  // All lanes end before the test does, even if one has failed: none may start a process after that.
  const lanes = await Promise.allSettled(Array.from({ length: AT_ONCE }, lane));
  for (const { reason } of lanes.filter((ended) => ended.status === 'rejected')) throw reason;
  expect(children.size, 'processes left').toBe(0);
  console.log(`${kills.actual} of ${kills.planned} planned kills took place`);
  // A crash may come too late to count; most must not.
  expect(kills.actual).toBeGreaterThan(RUNS);
});

/** One or two crashes, at crash points of the server or at random times. */
function plan(run: number): readonly Death[] {
  const random = generator(seed * 1000 + run);
  return Array.from({ length: 1 + Math.floor(random() * 2) }, () =>
    random() < 0.7 ? { point: 1 + Math.floor(random() * 24) } : { afterMs: Math.floor(random() * 300) },
  );
}

/** Runs through the crashes until the task is done; returns how many there were. */
async function survive(folder: string, deaths: readonly Death[]): Promise<number> {
  mkdirSync(folder);
  const client = new Client();
  /** How often each step had run when its end was recorded. */
  const recorded = new Map<string, number>();
  let run: string | undefined;
  let killed = 0;
  for (const death of [...deaths, undefined]) {
    const life = await start(folder, death);
    await client.drive(life);
    if (life.isDead()) killed++;
    await ended(life.child, () => life.child.kill(client.isDone ? 'SIGTERM' : 'SIGKILL'));
    const task = await readTask(folder);
    const lines = linesIn(folder);
    // Nothing runs for a task that is not in the store, and a stored task is never lost.
    if (task === undefined) {
      expect(client.taskId, 'a task that was announced is in the store').toBeUndefined();
      expect(lines, 'effects of no task').toEqual([]);
      continue;
    }
    client.taskId ??= String(task['id']);
    expect(task['id']).toBe(client.taskId);
    const isEnded = task.status === 'completed';
    if (client.hasAnswered && !isEnded)
      expect(task.answers, 'an answer that was acknowledged').toHaveLength(1);
    run ??= task.run;
    // A process may be killed between the write and the line that reports it.
    for (const [at, [what, step]] of lines.entries())
      if (what === 'recorded' && !recorded.has(step)) recorded.set(step, runsOf(lines.slice(0, at), step));
    for (const [step] of task.steps) if (!recorded.has(step)) recorded.set(step, runsOf(lines, step));
    for (const [step, times] of recorded)
      expect(runsOf(lines, step), `runs of step ${step}, whose end was recorded`).toBe(times);
    for (const [what, step, key] of lines)
      if (what === 'run' && run !== undefined) expect(key).toBe(`${run}:${step}`);
    if (client.isDone) break;
  }
  expect(client.result).toMatchObject({ content: [{ text: 'one two please three' }] });
  expect(await readTask(folder)).toMatchObject({ status: 'completed' });
  expect([...recorded.keys()]).toEqual(['one', 'two', 'three']);
  // A step that begins proves that the one before it was recorded.
  const runs = linesIn(folder).filter(([what]) => what === 'run');
  const order = runs.map(([, step]) => ['one', 'two', 'three'].indexOf(step));
  expect(order).toEqual([...order].sort());
  return killed;
}

/** Starts the task, answers its question and waits for its end, over as many servers as that takes. */
class Client {
  taskId: string | undefined;
  hasAnswered = false;
  result: unknown;

  get isDone(): boolean {
    return this.result !== undefined;
  }

  async drive({ url, isDead }: Life): Promise<void> {
    if (url === undefined) return;
    const ended = async (): Promise<boolean> => {
      try {
        await this.#go(url);
      } catch (error) {
        if (!isBroken(error)) throw error;
        // The connection breaks a moment before the exit of the process is seen.
        await until('the server that broke the connection has ended', isDead);
      }
      return isDead() || this.isDone;
    };
    await until('the task has ended', ended, 30_000);
  }

  async #go(url: string): Promise<void> {
    if (this.taskId === undefined) {
      this.taskId = (await ask(url, 'tools/call', { name: 'work', arguments: {} }))['taskId'] as string;
      return;
    }
    const { taskId } = this;
    const task = await ask(url, 'tasks/get', { taskId });
    expect(['working', 'input_required', 'completed']).toContain(task['status']);
    if (task['status'] === 'completed') this.result = task['result'];
    if (task['status'] !== 'input_required') return;
    expect(this.hasAnswered, 'asked again after the answer was acknowledged').toBe(false);
    const inputResponses = { go: { action: 'accept', content: { word: 'please' } } };
    await ask(url, 'tasks/update', { taskId, inputResponses });
    this.hasAnswered = true;
  }
}

async function ask(
  url: string,
  method: string,
  params: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const headers = { 'mcp-name': (params['name'] ?? params['taskId']) as string };
  const { text } = await modern(url, method, params, { meta, headers });
  const { result, error } = JSON.parse(text) as { result?: Record<string, unknown>; error?: unknown };
  if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result;
}

function isBroken(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return ['ECONNRESET', 'ECONNREFUSED', 'EPIPE'].includes(code) || error instanceof SyntaxError;
}

async function start(folder: string, death: Death): Promise<Life> {
  const dieAt = death !== undefined && 'point' in death ? [String(death.point)] : [];
  const child = spawn(process.execPath, [fixture, folder, ...dieAt], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  const exit = once(child, 'exit').finally(() => children.delete(child));
  if (death !== undefined && 'afterMs' in death) setTimeout(() => child.kill('SIGKILL'), 150 + death.afterMs);
  const isDead = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const line = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  const [url] = await Promise.race([line, exit.then(() => [undefined])]);
  if (url === undefined) expect(child.signalCode, 'the signal that ended the process').toBe('SIGKILL');
  return { child, url, isDead };
}

async function readTask(folder: string): Promise<StoredTask | undefined> {
  const store = lmdbStore(join(folder, 'store'));
  const heads = await headsIn(store);
  expect(heads.length).toBeLessThanOrEqual(1);
  const task = heads[0] && (await readStoredTask(store, heads[0].value['id']));
  await store.close();
  return task;
}

/** The lines that the server wrote: `run` and `recorded`, the step, and its key. */
function linesIn(folder: string): readonly [what: string, step: string, key: string][] {
  const file = join(folder, 'effects');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => {
    const [what = '', step = '', key = ''] = line.split(' ');
    return [what, step, key];
  });
}

function runsOf(lines: readonly (readonly string[])[], step: string): number {
  return lines.filter(([what, name]) => what === 'run' && name === step).length;
}

// Mulberry32: small, and good enough to choose crash points.
function generator(from: number): () => number {
  let state = from >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
