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

/** The contents of the store while no process has it open. */
interface Found {
  readonly id: string;
  readonly status: string;
  readonly journal: { readonly r: string; readonly s: [string, unknown][]; readonly a: [string, unknown][] };
}

interface Life {
  readonly child: ChildProcess;
  readonly url: string | undefined;
  readonly dead: () => boolean;
}

test(`a task survives ${RUNS} runs of crashes (CRASH_SEED=${seed})`, { timeout: 4000 * RUNS }, async () => {
  const kills = { planned: 0, happened: 0 };
  const waiting = Array.from({ length: RUNS }, (_, run) => run);
  const lane = async (): Promise<void> => {
    for (let run = waiting.pop(); run !== undefined; run = waiting.pop()) {
      const deaths = plan(run);
      kills.planned += deaths.length;
      try {
        const happened = await survive(join(root, `run-${run}`), deaths);
        kills.happened += happened;
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
  console.log(`${kills.happened} of ${kills.planned} planned kills happened`);
  // A crash may come too late to count; most must not.
  expect(kills.happened).toBeGreaterThan(RUNS);
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
  /** The steps that had run when the recorded end was found. */
  const recorded = new Map<string, number>();
  let killed = 0;
  for (const death of [...deaths, undefined]) {
    const life = await start(folder, death);
    await client.drive(life);
    if (life.dead()) killed++;
    await ended(life.child, () => life.child.kill(client.done ? 'SIGTERM' : 'SIGKILL'));
    const found = await look(folder);
    const effects = effectsIn(folder);
    // Nothing runs for a task that is not in the store, and a stored task is never lost.
    if (found === undefined) {
      expect(client.taskId, 'a task that was announced is in the store').toBeUndefined();
      expect(effects, 'effects of no task').toEqual([]);
      continue;
    }
    client.taskId ??= found.id;
    expect(found.id).toBe(client.taskId);
    if (client.acknowledged) expect(found.journal.a, 'an answer that was acknowledged').toHaveLength(1);
    for (const [step] of found.journal.s) if (!recorded.has(step)) recorded.set(step, timesOf(effects, step));
    for (const [step, times] of recorded)
      expect(timesOf(effects, step), `runs of step ${step}, whose end was recorded`).toBe(times);
    for (const { step, key } of effects) expect(key).toBe(`${found.journal.r}:${step}`);
    if (client.done) break;
  }
  expect(client.result).toMatchObject({ content: [{ text: 'one two please three' }] });
  expect(await look(folder)).toMatchObject({ status: 'completed' });
  expect([...recorded.keys()]).toEqual(['one', 'two', 'three']);
  // A step that begins proves that the one before it was recorded.
  const order = effectsIn(folder).map(({ step }) => ['one', 'two', 'three'].indexOf(step));
  expect(order).toEqual([...order].sort());
  return killed;
}

/** Begins the task, answers its question, and waits for its end; resumes when the server is available again. */
class Client {
  taskId: string | undefined;
  acknowledged = false;
  result: unknown;

  get done(): boolean {
    return this.result !== undefined;
  }

  async drive({ url, dead }: Life): Promise<void> {
    if (url === undefined) return;
    const ended = async (): Promise<boolean> => {
      try {
        await this.#go(url);
      } catch (error) {
        if (!isBroken(error)) throw error;
        // The connection breaks a moment before the exit of the process is seen.
        await until('the server that broke the connection has ended', dead);
      }
      return dead() || this.done;
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
    expect(this.acknowledged, 'asked again after the answer was acknowledged').toBe(false);
    const inputResponses = { go: { action: 'accept', content: { word: 'please' } } };
    await ask(url, 'tasks/update', { taskId, inputResponses });
    this.acknowledged = true;
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
  const dead = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const line = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  const [url] = await Promise.race([line, exit.then(() => [undefined])]);
  if (url === undefined) expect(child.signalCode, 'it ends by a kill').toBe('SIGKILL');
  return { child, url, dead };
}

async function look(folder: string): Promise<Found | undefined> {
  const store = lmdbStore(join(folder, 'store'));
  const found: unknown[] = [];
  for await (const [, task] of store.entries('task:')) found.push(task);
  await store.close();
  expect(found.length).toBeLessThanOrEqual(1);
  return found[0] as Found | undefined;
}

function effectsIn(folder: string): readonly { readonly step: string; readonly key: string }[] {
  const file = join(folder, 'effects');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => {
    const [step = '', key = ''] = line.split(' ');
    return { step, key };
  });
}

function timesOf(effects: readonly { readonly step: string }[], step: string): number {
  return effects.filter((effect) => effect.step === step).length;
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
