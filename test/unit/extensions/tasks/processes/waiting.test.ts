import { createServer, inProcess, memoryStore, type ServerOptions, type Store, tool } from 'fullmcp';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { LiveTasks } from '../../../../../src/extensions/tasks/live-tasks.js';
import { able, accept, quiet, waitForStatus } from '../../../../support/tasks.js';
import { until } from '../../../../support/until.js';

type TasksOptions = NonNullable<ServerOptions['tasks']>;

// A task that waits for an answer, first in its process and then nowhere.

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** The timers that are set and have not fired, whether or not they keep the process alive. */
function countTimers(): ReadonlySet<unknown> {
  const active = new Set<unknown>();
  const real = { setTimeout, setInterval, clearTimeout, clearInterval };
  vi.stubGlobal('setTimeout', (run: (...args: unknown[]) => void, ms: number, ...args: unknown[]) => {
    const timer = real.setTimeout(() => {
      active.delete(timer);
      run(...args);
    }, ms);
    active.add(timer);
    return timer;
  });
  vi.stubGlobal('setInterval', (run: () => void, ms: number) => {
    const timer = real.setInterval(run, ms);
    active.add(timer);
    return timer;
  });
  const clear = (timer: NodeJS.Timeout): void => {
    active.delete(timer);
    real.clearTimeout(timer);
  };
  vi.stubGlobal('clearTimeout', clear);
  vi.stubGlobal('clearInterval', clear);
  return active;
}

function build(tasks: TasksOptions, store: Store = memoryStore()) {
  const counts = { began: 0, ended: 0 };
  const reasons: unknown[] = [];
  const server = createServer({
    name: 'test',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
    store,
    tasks: { maxTasks: 20_000, ...tasks },
    tools: {
      asks: tool({
        task: 'required',
        run: async (_, ctx) => {
          counts.began++;
          try {
            const { a } = await ctx.ask('a', { message: 'a', schema: z.object({ a: z.string() }) });
            return a;
          } catch (error) {
            reasons.push(error);
            throw error;
          } finally {
            counts.ended++;
          }
        },
      }),
      beside: tool({
        task: 'required',
        run: async (_, ctx) => {
          const asking = ctx.ask('a', { message: 'a', schema: z.object({ a: z.string() }) });
          const second = asking.then(() =>
            ctx.ask('b', { message: 'b', schema: z.object({ b: z.string() }) }),
          );
          return JSON.stringify(await Promise.all([asking, second]));
        },
      }),
    },
  });
  return { server, call: inProcess(server, able), counts, reasons };
}

const answer = (key: string) => ({ inputResponses: { [key]: accept({ [key]: key }) } });

describe('a task that waits for an answer', () => {
  it('waits where it is for a while, and gets the answer without running again', async () => {
    const { server, call, counts } = build({});
    const { taskId } = await call('tools/call', { name: 'asks' });
    await waitForStatus(call, taskId, 'input_required');
    await call('tasks/update', { taskId, ...answer('a') });
    await waitForStatus(call, taskId, 'completed');
    expect(counts).toEqual({ began: 1, ended: 1 });
    await server.close();
  });

  it('is put aside after that, and runs again from its first line when it is answered', async () => {
    const { server, call, counts, reasons } = build({ parkMs: 50 });
    const { taskId } = await call('tools/call', { name: 'asks' });
    await until('the handler has ended', () => counts.ended === 1);
    expect(reasons).toEqual([expect.objectContaining({ name: 'Suspension' })]);
    expect(await call('tasks/get', { taskId })).toMatchObject({ status: 'input_required' });
    await call('tasks/update', { taskId, ...answer('a') });
    expect(await waitForStatus(call, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'a' }] },
    });
    expect(counts).toEqual({ began: 2, ended: 2 });
    await server.close();
  });

  it('may ask one question after another, and is put aside at each', async () => {
    const { server, call } = build({ parkMs: 0 });
    const { taskId } = await call('tools/call', { name: 'beside' });
    for (const key of ['a', 'b']) {
      await until(`${key} is asked`, async () =>
        Object.hasOwn(((await call('tasks/get', { taskId }))['inputRequests'] ?? {}) as object, key),
      );
      await call('tasks/update', { taskId, ...answer(key) });
    }
    await waitForStatus(call, taskId, 'completed');
    await server.close();
  });

  it('is put aside at once if as many as may run wait already', async () => {
    const { server, call, counts } = build({ maxRunning: 3 });
    const ids: unknown[] = [];
    for (let n = 0; n < 5; n++) {
      const { taskId } = await call('tools/call', { name: 'asks' });
      await waitForStatus(call, taskId, 'input_required');
      ids.push(taskId);
    }
    expect(counts).toEqual({ began: 5, ended: 2 });
    for (const taskId of ids) await call('tasks/update', { taskId, ...answer('a') });
    for (const taskId of ids) await waitForStatus(call, taskId, 'completed');
    expect(counts).toEqual({ began: 7, ended: 7 });
    await server.close();
  });

  it('expires when its time is over, although nobody holds it', async () => {
    const store = memoryStore();
    const { server, call } = build({ parkMs: 0, ttlMs: 400 }, store);
    const { taskId } = await call('tools/call', { name: 'asks' });
    await waitForStatus(call, taskId, 'input_required');
    await until('it is gone', async () => (await store.size('task:test')) === 0);
    await expect(call('tasks/get', { taskId })).rejects.toMatchObject({ message: `Unknown task: ${taskId}` });
    expect(await store.page('task:')).toEqual([]);
    await server.close();
  });

  it('leaves nothing in the process: no handler, no timer, no entry and no lease of 10,000 tasks', {
    timeout: 120_000,
  }, async () => {
    const timers = countTimers();
    const places = new Set<LiveTasks>();
    const add = LiveTasks.prototype.add;
    vi.spyOn(LiveTasks.prototype, 'add').mockImplementation(function (this: LiveTasks, live) {
      places.add(this);
      add.call(this, live);
    });
    const inner = memoryStore();
    let renewed = 0;
    const store: Store = {
      ...inner,
      async renew(leases, ms) {
        renewed = leases.length;
        return inner.renew(leases, ms);
      },
    };
    const { server, call, counts } = build({ parkMs: 0, leaseMs: 600, maxRunning: 1000 }, store);
    const first = await call('tools/call', { name: 'asks' });
    await until('the first is put aside', () => counts.ended === 1);
    await quiet();
    const timersBefore = timers.size;
    for (let at = 0; at < 10_000; at += 500)
      await Promise.all(Array.from({ length: 500 }, () => call('tools/call', { name: 'asks' })));
    await until('all are put aside', () => counts.ended === 10_001, 60_000);
    const [live] = places;
    await until('no task is held', () => live?.running === 0 && live.parked === 0, 60_000);
    expect(places.size).toBe(1);
    expect(timers.size).toBeLessThanOrEqual(timersBefore);
    renewed = 0;
    const began = performance.now();
    await until('leases would have been renewed', () => performance.now() - began > 600);
    expect(renewed).toBe(0);
    expect(await inner.size('task:test')).toBe(10_001);
    // Each of them can still be answered.
    await call('tasks/update', { taskId: first['taskId'], ...answer('a') });
    await waitForStatus(call, first['taskId'], 'completed');
    await server.close();
  });
});
