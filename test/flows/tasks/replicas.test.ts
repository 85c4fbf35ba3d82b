import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { modern } from '../../support/http/modern.js';
import { ended } from '../../support/processes.js';
import { until } from '../../support/until.js';

// Processes that share a store on disk, and are killed, paused for longer than their leases, and stopped.

const LEASE_MS = 1000;
const STEP_MS = 150;
const TASKS = 6;
const REPLICAS = 2;

const fixture = fileURLToPath(new URL('../fixtures/replica-server.mjs', import.meta.url));
const extension = 'io.modelcontextprotocol/tasks';
const meta = {
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, extensions: { [extension]: {} } },
};
const root = mkdtempSync(join(tmpdir(), 'fullmcp-replicas-'));
const children = new Set<ChildProcess>();

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

interface Replica {
  readonly child: ChildProcess;
  readonly url: string;
}

async function start(folder: string): Promise<Replica> {
  const child = spawn(process.execPath, [fixture, folder, String(LEASE_MS), String(STEP_MS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  void once(child, 'exit').finally(() => children.delete(child));
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, url };
}

/** Calls any replica that responds. */
async function ask(
  replicas: readonly Replica[],
  method: string,
  params: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const headers = { 'mcp-name': (params['name'] ?? params['taskId']) as string };
  const { url } = replicas[Math.floor(Math.random() * replicas.length)] as Replica;
  const { text } = await modern(url, method, params, { meta, headers });
  const { result, error } = JSON.parse(text) as { result?: Record<string, unknown>; error?: unknown };
  if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result;
}

function linesIn(folder: string): readonly string[][] {
  const file = join(folder, 'effects');
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
}

const disruptions: readonly ('kill' | 'pause' | 'stop')[] = [
  'pause',
  'kill',
  'stop',
  'pause',
  'kill',
  'pause',
];

test('tasks of processes that are killed, paused or stopped are continued by others, and no recorded step runs again', {
  timeout: 180_000,
}, async () => {
  const folder = mkdtempSync(join(root, 'run-'));
  const replicas = await Promise.all(Array.from({ length: REPLICAS }, () => start(folder)));
  const paused = new Set<ChildProcess>();
  const awake = () => replicas.filter(({ child }) => !paused.has(child));
  const ids: string[] = [];
  for (let n = 0; n < TASKS; n++)
    ids.push((await ask(awake(), 'tools/call', { name: 'work', arguments: {} }))['taskId'] as string);
  const results = new Map<string, unknown>();
  /** Answers and follows the tasks, at whichever process responds. */
  const follow = async (): Promise<void> => {
    for (const taskId of ids) {
      if (results.has(taskId)) continue;
      // A process may be ended in the middle of a request.
      const task = await ask(awake(), 'tasks/get', { taskId }).catch(() => undefined);
      expect(['working', 'input_required', 'completed', undefined]).toContain(task?.['status']);
      if (task?.['status'] === 'completed') results.set(taskId, task['result']);
      if (task?.['status'] !== 'input_required') continue;
      const inputResponses = { word: { action: 'accept', content: { word: 'please' } } };
      await ask(awake(), 'tasks/update', { taskId, inputResponses }).catch(() => undefined);
    }
  };
  for (const disruption of disruptions) {
    await setTimeout(Math.random() * 2 * STEP_MS);
    await follow();
    const at = Math.floor(Math.random() * replicas.length);
    const { child } = replicas[at] as Replica;
    if (disruption === 'pause') {
      paused.add(child);
      child.kill('SIGSTOP');
      const began = performance.now();
      await until('its leases have ended', async () => {
        await follow();
        return performance.now() - began > 2 * LEASE_MS;
      });
      child.kill('SIGCONT');
      paused.delete(child);
    } else {
      paused.add(child);
      await ended(child, () => child.kill(disruption === 'kill' ? 'SIGKILL' : 'SIGTERM'));
      replicas[at] = await start(folder);
    }
  }
  await until(
    'all tasks are completed',
    async () => {
      await follow();
      return results.size === TASKS;
    },
    60_000,
  );
  for (const result of results.values())
    expect(result).toMatchObject({ content: [{ text: 'one two please three four five' }] });
  const recorded = new Set<string>();
  const begun = new Map<string, number>();
  // The key of a step is the id of its run and the name of the step, however often the step begins.
  for (const [what, key = ''] of linesIn(folder)) {
    expect(recorded, `${what} ${key} after the step was recorded`).not.toContain(key);
    if (what === 'recorded') recorded.add(key);
    else begun.set(key, (begun.get(key) ?? 0) + 1);
  }
  expect(begun.size, 'keys of steps').toBe(5 * TASKS);
  for (const key of recorded) expect(begun.has(key)).toBe(true);
  const repeated = [...begun.values()].filter((times) => times > 1).length;
  console.log(`${disruptions.length} disruptions, ${begun.size} steps, ${repeated} of them repeated`);
  await Promise.all(replicas.map(({ child }) => ended(child, () => child.kill('SIGTERM'))));
});
