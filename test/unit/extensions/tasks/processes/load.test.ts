import { createServer, inProcess, type ServerOptions, type Store, tool } from 'fullmcp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { signal } from '../../../../support/signal.js';
import { able, lastingStore, mortalStore, quiet, waitForStatus } from '../../../../support/tasks.js';
import { until } from '../../../../support/until.js';

type TasksOptions = NonNullable<ServerOptions['tasks']>;

// How much a process writes, and how much work it takes.

function build(store: Store, tasks: TasksOptions = {}, hold?: Promise<void>) {
  const effects: string[] = [];
  let running = 0;
  let most = 0;
  const server = createServer({
    name: 'test',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
    store: { ...store, close: async () => undefined },
    tasks,
    tools: {
      steps: tool({
        task: 'required',
        input: z.object({ count: z.number(), text: z.string().default('') }),
        run: async ({ count }, ctx) => {
          for (let n = 0; n < count; n++) await ctx.step(`step ${n}`, () => `result ${n}`);
          return 'done';
        },
      }),
      holds: tool({
        task: 'required',
        input: z.object({ n: z.number().default(0) }),
        run: async ({ n }) => {
          effects.push(`holds ${n}`);
          most = Math.max(most, ++running);
          await hold;
          running--;
          return 'done';
        },
      }),
    },
  });
  return { server, call: inProcess(server, able), effects, most: () => most };
}

describe('the bytes that a task writes', () => {
  async function bytesFor(count: number, text = ''): Promise<number> {
    const lasting = lastingStore();
    const { server, call } = build(lasting.store);
    const { taskId } = await call('tools/call', { name: 'steps', arguments: { count, text } });
    await waitForStatus(call, taskId, 'completed');
    await server.close();
    return lasting.writes.reduce((sum, changes) => sum + JSON.stringify(changes).length, 0);
  }

  it('grow with the number of its steps, not with the square of it', async () => {
    const [once, twice, fourTimes] = [await bytesFor(200), await bytesFor(400), await bytesFor(800)];
    expect(twice).toBeLessThan(2.2 * once);
    expect(fourTimes).toBeLessThan(4.4 * once);
  });

  it('contain its arguments once, however many steps it has', async () => {
    const text = 'x'.repeat(50_000);
    expect((await bytesFor(100, text)) - (await bytesFor(100))).toBeLessThan(1.1 * text.length);
  });
});

describe('a process with a limit on running tasks', () => {
  it('runs no more tasks than it has room for, and the others as soon as there is room', async () => {
    const lasting = lastingStore();
    const hold = signal();
    const { server, call, effects, most } = build(lasting.store, { maxRunning: 3 }, hold.promise);
    const ids: unknown[] = [];
    for (let n = 0; n < 10; n++)
      ids.push((await call('tools/call', { name: 'holds', arguments: { n } }))['taskId']);
    await quiet();
    expect(effects).toHaveLength(3);
    expect(await call('tasks/get', { taskId: ids[9] })).toMatchObject({ status: 'working' });
    hold.give();
    for (const taskId of ids) await waitForStatus(call, taskId, 'completed');
    expect(most()).toBe(3);
    expect(effects).toHaveLength(10);
    await server.close();
  });

  it('claims only as many tasks as it has room for', async () => {
    const lasting = lastingStore();
    const creator = build(lasting.store, { maxRunning: 1 }, new Promise(() => undefined));
    for (let n = 0; n < 10; n++) await creator.call('tools/call', { name: 'holds', arguments: { n } });
    await creator.server.drain({ drainMs: 0 });
    const limits: number[] = [];
    const claimed: number[] = [];
    const store: Store = {
      ...lasting.store,
      async claim(queue, options) {
        const leases = await lasting.store.claim(queue, options);
        if (queue === 'task:test') {
          limits.push(options.limit);
          claimed.push(leases.length);
        }
        return leases;
      },
    };
    const hold = signal();
    const { server, effects, most } = build(store, { maxRunning: 4 }, hold.promise);
    await server.start();
    await until('some run', () => effects.length === 4);
    await quiet();
    expect(claimed.reduce((sum, count) => sum + count, 0)).toBe(4);
    expect(Math.max(...limits)).toBe(4);
    hold.give();
    await until('all have run', () => effects.length === 10);
    expect(most()).toBe(4);
    await server.close();
  });

  it('refuses further tasks when the server has too many unfinished ones, and accepts one when one has ended', async () => {
    const hold = signal();
    const { server, call } = build(lastingStore().store, { maxTasks: 2, maxRunning: 1 }, hold.promise);
    const first = await call('tools/call', { name: 'holds', arguments: {} });
    await call('tools/call', { name: 'holds', arguments: {} });
    await expect(call('tools/call', { name: 'holds', arguments: {} })).rejects.toMatchObject({
      code: 'overloaded',
      message: 'Too many tasks are unfinished (tasks.maxTasks). Try again later.',
    });
    await call('tasks/cancel', { taskId: first['taskId'] });
    expect(await call('tools/call', { name: 'holds', arguments: {} })).toMatchObject({ resultType: 'task' });
    hold.give();
    await server.close();
  });
});

describe('a process that takes up many tasks', () => {
  const never = new Promise<void>(() => undefined);

  it('starts at most 32 of 90 tasks at a time', async () => {
    const lasting = lastingStore();
    const first = build(lasting.store, {}, never);
    for (let n = 0; n < 90; n++) await first.call('tools/call', { name: 'holds', arguments: { n } });
    await first.server.drain({ drainMs: 0 });
    const { server, effects } = build(lasting.store, {}, never);
    await server.start();
    await until('some run', () => effects.length > 0);
    await quiet();
    expect(effects.length).toBeLessThanOrEqual(32);
    await until('all run', () => effects.length === 90);
    expect(new Set(effects).size).toBe(90);
    await server.drain({ drainMs: 0 });
  });

  it('runs tasks that may have killed a process last, one at a time', { timeout: 60_000 }, async () => {
    const lasting = lastingStore();
    const tasks = { leaseMs: 300 };
    // Two processes die with both tasks, so each of them may be the reason.
    let mortal = mortalStore(lasting.store);
    let each = build(mortal.store, tasks, never);
    for (let n = 0; n < 2; n++) await each.call('tools/call', { name: 'holds', arguments: { n } });
    mortal.kill();
    mortal = mortalStore(lasting.store);
    each = build(mortal.store, tasks, never);
    await each.server.start();
    await until('both run again', () => each.effects.length === 2);
    mortal.kill();
    const { server, call, effects } = build(lasting.store, tasks, never);
    await server.start();
    await call('tools/call', { name: 'holds', arguments: { n: 2 } });
    await until('the first suspect runs', () => effects.length === 2);
    expect(effects[0]).toBe('holds 2');
    const began = performance.now();
    await until('the other one would have started', () => performance.now() - began > 2000);
    expect(effects).toHaveLength(2);
    await until('the other suspect runs', () => effects.length === 3);
    expect(effects.slice(1).sort()).toEqual(['holds 0', 'holds 1']);
    await server.drain({ drainMs: 0 });
  });
});
