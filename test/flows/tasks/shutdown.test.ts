import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { lmdbStore } from 'fullmcp/lmdb';
import { afterAll, describe, expect, test } from 'vitest';
import { modern } from '../../support/http/modern.js';
import { ended } from '../../support/processes.js';
import { headsIn } from '../../support/tasks.js';
import { soon, until } from '../../support/until.js';

const SHUTDOWNS = Number(process.env['SHUTDOWNS'] ?? 20);
const AT_ONCE = 2;
const TASKS = 3;
const STEPS = 40;

const fixture = fileURLToPath(new URL('../fixtures/shutdown-server.mjs', import.meta.url));
const extension = 'io.modelcontextprotocol/tasks';
const meta = {
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, extensions: { [extension]: {} } },
};
const root = mkdtempSync(join(tmpdir(), 'fullmcp-shutdown-'));
const children = new Set<ChildProcess>();

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

interface Settings {
  readonly drainMs: number;
  readonly stepMs: number;
  readonly steps: number;
}

interface Life {
  readonly child: ChildProcess;
  readonly ask: (method: string, params: Record<string, unknown>) => Promise<Record<string, unknown>>;
  /** Stops the server as a service manager does, and returns its exit code. */
  readonly stop: () => Promise<number | null>;
}

async function start(folder: string, { drainMs, stepMs, steps }: Settings): Promise<Life> {
  const args = [fixture, folder, String(drainMs), String(stepMs), String(steps)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  const exit = once(child, 'exit').finally(() => children.delete(child));
  const line = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  const [url] = await Promise.race([line, exit.then(() => Promise.reject(new Error('It ended at once')))]);
  return {
    child,
    async ask(method, params) {
      const headers = { 'mcp-name': (params['name'] ?? params['taskId']) as string };
      const { text } = await modern(url, method, params, { meta, headers });
      const { result, error } = JSON.parse(text) as { result?: Record<string, unknown>; error?: unknown };
      if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
      return result;
    },
    stop: () => ended(child, () => child.kill('SIGTERM')),
  };
}

function linesIn(folder: string): readonly string[] {
  const file = join(folder, 'effects');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

/** How often each step began and ended, by its key. */
function stepsIn(folder: string): Map<string, { began: number; ended: number }> {
  const steps = new Map<string, { began: number; ended: number }>();
  for (const line of linesIn(folder)) {
    const [, what, key = ''] = /^(begin|end) (.+)$/.exec(line) ?? [];
    if (what === undefined) continue;
    const step = steps.get(key) ?? { began: 0, ended: 0 };
    if (what === 'begin') step.began++;
    else step.ended++;
    steps.set(key, step);
  }
  return steps;
}

async function statusesIn(folder: string): Promise<Record<string, string>> {
  const store = lmdbStore(join(folder, 'store'));
  const statuses: Record<string, string> = {};
  for (const { value } of await headsIn(store)) statuses[String(value['id'])] = String(value['status']);
  await store.close();
  return statuses;
}

describe('an orderly shutdown', () => {
  test(`runs no step twice in ${SHUTDOWNS} shutdowns, and rolls nothing back`, {
    timeout: 300_000,
  }, async () => {
    let shutdowns = 0;
    let folders = 0;
    let steps = 0;
    const lane = async (): Promise<void> => {
      while (shutdowns < SHUTDOWNS) {
        const folder = join(root, `run-${++folders}`);
        mkdirSync(folder);
        const settings = { drainMs: 5000, stepMs: 12, steps: STEPS };
        let ids: unknown[] | undefined;
        let heldId: unknown;
        for (let finished = false; !finished; ) {
          const life = await start(folder, settings);
          const calls: Promise<Record<string, unknown>>[] = [];
          if (ids === undefined) {
            for (const name of ['hold', ...Array<string>(TASKS).fill('work')])
              calls.push(life.ask('tools/call', { name, arguments: {} }));
            const [hold, ...works] = (await Promise.all(calls)).map(({ taskId }) => taskId);
            heldId = hold;
            ids = works;
          }
          await setTimeout(Math.random() * 300);
          expect(await life.stop(), 'exit code').toBe(0);
          shutdowns++;
          for (const [key, { began, ended: done }] of stepsIn(folder))
            expect({ key, began, done }).toEqual({ key, began: 1, done: 1 });
          const statuses = await statusesIn(folder);
          expect(Object.keys(statuses).sort()).toEqual([heldId, ...ids].sort());
          finished = ids.every((id) => statuses[id as string] === 'completed');
        }
        // The task that waited for its answer has neither continued nor been rolled back.
        const life = await start(folder, settings);
        await until(
          'the question is open',
          async () => (await life.ask('tasks/get', { taskId: heldId }))['status'] === 'input_required',
        );
        const inputResponses = { publish: { action: 'accept', content: { ok: true } } };
        await life.ask('tasks/update', { taskId: heldId, inputResponses });
        await until(
          'the held task is completed',
          async () => (await life.ask('tasks/get', { taskId: heldId }))['status'] === 'completed',
        );
        await life.stop();
        const names = [...stepsIn(folder).keys()].map((key) => key.slice(key.indexOf(':') + 1)).sort();
        const expected = ['create', 'publish it'];
        for (let n = 1; n <= STEPS; n++) expected.push(...Array<string>(TASKS).fill(`step ${n}`));
        expect(names).toEqual(expected.sort());
        steps += names.length;
        const lines = linesIn(folder);
        expect(lines.filter((line) => line === 'lifespan ended')).toHaveLength(
          lines.filter((line) => line === 'closed').length,
        );
      }
    };
    const lanes = await Promise.allSettled(Array.from({ length: AT_ONCE }, lane));
    for (const { reason } of lanes.filter((over) => over.status === 'rejected')) throw reason;
    console.log(`${shutdowns} shutdowns, ${steps} steps, each of them once`);
  });

  test('interrupts a step at the drain limit and exits, and the step runs again with the same key after the restart', async () => {
    const folder = join(root, 'cut-off');
    mkdirSync(folder);
    const slow = { drainMs: 100, stepMs: 60_000, steps: 1 };
    const first = await start(folder, slow);
    const { taskId } = await first.ask('tools/call', { name: 'work', arguments: {} });
    await until('the step has begun', () => stepsIn(folder).size === 1);
    // The step takes longer than this may take.
    expect(await soon('The end of the process', first.stop())).toBe(0);
    expect(linesIn(folder)).toContain('lifespan ended');
    const second = await start(folder, { ...slow, stepMs: 1 });
    await until(
      'the task is done',
      async () => (await second.ask('tasks/get', { taskId }))['status'] === 'completed',
    );
    await second.stop();
    expect([...stepsIn(folder).values()]).toEqual([{ began: 2, ended: 1 }]);
  });

  test('lets a step finish even if further signals come at once, as npm and a terminal send them', async () => {
    const folder = join(root, 'twice');
    mkdirSync(folder);
    const life = await start(folder, { drainMs: 20_000, stepMs: 500, steps: 2 });
    const { taskId } = await life.ask('tools/call', { name: 'work', arguments: {} });
    await until('the step has begun', () => stepsIn(folder).size === 1);
    const stopping = life.stop();
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      await setTimeout(20);
      life.child.kill(signal);
    }
    expect(await stopping).toBe(0);
    expect([...stepsIn(folder).values()]).toEqual([{ began: 1, ended: 1 }]);
    expect(linesIn(folder)).toContain('lifespan ended');
    expect(await statusesIn(folder)).toEqual({ [String(taskId)]: 'working' });
  });

  test('exits at once if the signal is sent again some time later', async () => {
    const folder = join(root, 'insisted');
    mkdirSync(folder);
    const life = await start(folder, { drainMs: 60_000, stepMs: 60_000, steps: 1 });
    await life.ask('tools/call', { name: 'work', arguments: {} });
    await until('the step has begun', () => stepsIn(folder).size === 1);
    const exit = once(life.child, 'exit');
    const again = setInterval(() => life.child.kill('SIGTERM'), 300);
    expect(await exit).toEqual([null, 'SIGTERM']);
    clearInterval(again);
    expect(linesIn(folder)).not.toContain('lifespan ended');
  });

  test('ends the lifespan and the process even if an open call does not end', async () => {
    const folder = join(root, 'stuck');
    mkdirSync(folder);
    const life = await start(folder, { drainMs: 100, stepMs: 1, steps: 1 });
    const answered = life.ask('tools/call', { name: 'stuck', arguments: {} }).catch(() => 'lost');
    await until('the call has begun', () => linesIn(folder).includes('begin stuck'));
    expect(await life.stop()).toBe(0);
    await answered;
    expect(linesIn(folder)).toEqual(['begin stuck', 'lifespan ended', 'closed']);
  });

  test('ends the process even if a handler ignores its signal, and runs no step after the lifespan has ended', async () => {
    const folder = join(root, 'stubborn');
    mkdirSync(folder);
    const life = await start(folder, { drainMs: 100, stepMs: 1, steps: 1 });
    await life.ask('tools/call', { name: 'stubborn', arguments: {} });
    await until('some steps have begun', () => stepsIn(folder).size > 3);
    expect(await life.stop()).toBe(0);
    const lines = linesIn(folder);
    const over = lines.indexOf('lifespan ended');
    expect(over).toBeGreaterThan(0);
    expect(
      lines.slice(over).filter((line) => line.startsWith('begin')),
      'steps after the end',
    ).toEqual([]);
  });
});
