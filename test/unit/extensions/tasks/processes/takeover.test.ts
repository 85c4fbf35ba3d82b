import { type Bus, createServer, inProcess, memoryBus, type ServerOptions, type Store, tool } from 'fullmcp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { signal } from '../../../../support/signal.js';
import { able, accept, lastingStore, mortalStore, quiet, waitForStatus } from '../../../../support/tasks.js';
import { until } from '../../../../support/until.js';

type TasksOptions = NonNullable<ServerOptions['tasks']>;

// A process that dies, stops responding or shuts down, and another one that continues its tasks.

const LEASE_MS = 600;

interface Life {
  readonly name: string;
  readonly store: Store;
  readonly gates?: Record<string, Promise<void>>;
  readonly tasks?: TasksOptions;
  readonly bus?: Bus;
}

/** The effects of all processes, and a process of which only the store may be taken away. */
function life({ name, store, gates = {}, tasks, bus }: Life, effects: string[]) {
  const logged: string[] = [];
  const aborts: unknown[] = [];
  const step =
    (key: string) =>
    async ({ idempotencyKey }: { idempotencyKey: string }): Promise<string> => {
      effects.push(`${key} ${name} ${idempotencyKey}`);
      await gates[key];
      return key;
    };
  const server = createServer({
    name: 'test',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: (_, message) => void logged.push(message),
    store: { ...store, close: async () => undefined },
    ...(bus && { bus: { ...bus, close: async () => undefined } }),
    tasks: { leaseMs: LEASE_MS, ...tasks },
    tools: {
      steps: tool({
        task: 'required',
        run: async (_, ctx) => {
          ctx.signal.addEventListener('abort', () => aborts.push(ctx.signal.reason));
          const done: string[] = [];
          for (const key of ['one', 'two', 'three']) done.push(await ctx.step(key, step(key)));
          return done.join(' ');
        },
      }),
      asks: tool({
        task: 'required',
        run: async (_, ctx) => {
          await ctx.step('one', step('one'));
          const { a } = await ctx.ask('a', { message: 'a', schema: z.object({ a: z.string() }) });
          return a;
        },
      }),
      poison: tool({
        task: 'required',
        input: z.object({ n: z.number().default(0) }),
        run: async ({ n }) => {
          effects.push(`poison ${n} ${name}`);
          await new Promise(() => undefined);
        },
      }),
    },
  });
  return { server, call: inProcess(server, able), logged, aborts };
}

const never = new Promise<void>(() => undefined);
const keysOf = (effects: string[], step: string) =>
  effects.filter((effect) => effect.startsWith(`${step} `)).map((effect) => effect.split(' ')[2]);

describe('a process that dies', () => {
  it('leaves its task to another one, which runs no recorded step again and gives the interrupted one its key', async () => {
    const lasting = lastingStore();
    const effects: string[] = [];
    const mortal = mortalStore(lasting.store);
    const first = life({ name: 'first', store: mortal.store, gates: { two: never } }, effects);
    const { taskId } = await first.call('tools/call', { name: 'steps' });
    await until('the second step runs', () => effects.length === 2);
    mortal.kill();
    const second = life({ name: 'second', store: lasting.store }, effects);
    await second.server.start();
    expect(await waitForStatus(second.call, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'one two three' }] },
    });
    expect(effects.map((effect) => effect.split(' ').slice(0, 2).join(' '))).toEqual([
      'one first',
      'two first',
      'two second',
      'three second',
    ]);
    const [cutOff, again] = keysOf(effects, 'two');
    expect(again).toBe(cutOff);
    await second.server.close();
  });

  it('leaves a task that waits for an answer, which is neither lost nor run before it is answered', async () => {
    const lasting = lastingStore();
    const effects: string[] = [];
    const mortal = mortalStore(lasting.store);
    const first = life({ name: 'first', store: mortal.store, tasks: { parkMs: 0 } }, effects);
    const { taskId } = await first.call('tools/call', { name: 'asks' });
    await waitForStatus(first.call, taskId, 'input_required');
    mortal.kill();
    const second = life({ name: 'second', store: lasting.store }, effects);
    await second.server.start();
    const started = performance.now();
    await until('a lease would have ended', () => performance.now() - started > 2 * LEASE_MS);
    await second.call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'x' }) } });
    await waitForStatus(second.call, taskId, 'completed');
    expect(effects).toHaveLength(1);
    await second.server.close();
  });
});

describe('a process that has lost its lease', () => {
  /** A store that does not respond to one process for a while, as if the process was paused. */
  function pausable(inner: Store) {
    let gate = Promise.resolve();
    const refused: unknown[] = [];
    const store: Store = {
      ...inner,
      async write(changes, options) {
        await gate;
        const written = await inner.write(changes, options);
        if (!written.ok) refused.push(written.refusedBy);
        return written;
      },
      async renew(leases, ms) {
        await gate;
        return inner.renew(leases, ms);
      },
      async claim(queue, options) {
        await gate;
        return inner.claim(queue, options);
      },
    };
    const pause = (): (() => void) => {
      const { promise, give } = signal();
      gate = promise;
      return give;
    };
    return { store, pause, refused };
  }

  it.each(['before', 'after'])(
    'writes nothing and starts no step if it is paused %s its step ends, and its signal aborts',
    async (when) => {
      const lasting = lastingStore();
      const effects: string[] = [];
      const paused = pausable(lasting.store);
      const one = signal();
      const first = life({ name: 'first', store: paused.store, gates: { one: one.promise } }, effects);
      const { taskId } = await first.call('tools/call', { name: 'steps' });
      await until('the first step runs', () => effects.length === 1);
      const resume = paused.pause();
      if (when === 'after') one.give();
      const second = life({ name: 'second', store: lasting.store }, effects);
      await second.server.start();
      await waitForStatus(second.call, taskId, 'completed');
      const written = lasting.writes.length;
      resume();
      if (when === 'before') one.give();
      await until('the first process has noticed', () => first.aborts.length === 1);
      await quiet();
      expect(effects.filter((effect) => effect.includes(' first '))).toHaveLength(1);
      expect(lasting.writes).toHaveLength(written);
      expect(new Set(keysOf(effects, 'one')).size).toBe(1);
      expect(first.logged).toContain(
        `Task ${taskId} is no longer held by this process. Another one may continue it.`,
      );
      expect(await first.call('tasks/get', { taskId })).toMatchObject({ status: 'completed' });
      await Promise.all([first.server.close(), second.server.close()]);
    },
  );

  it('does not start a step before it knows that it still holds the task', async () => {
    const lasting = lastingStore();
    const effects: string[] = [];
    let renewals: Promise<void> = Promise.resolve();
    const store: Store = {
      ...lasting.store,
      async renew(leases, ms) {
        await renewals;
        return lasting.store.renew(leases, ms);
      },
    };
    const one = signal();
    const first = life({ name: 'first', store, gates: { one: one.promise } }, effects);
    const { taskId } = await first.call('tools/call', { name: 'steps' });
    await until('the first step runs', () => effects.length === 1);
    // Its leases can no longer be renewed, but nobody else takes the task.
    const back = signal();
    renewals = back.promise;
    const began = performance.now();
    await until('the lease has ended', () => performance.now() - began > 1.5 * LEASE_MS);
    one.give();
    await until('the first step is saved', async () => (await lasting.entry(taskId)).steps.length === 1);
    await quiet();
    expect(effects).toHaveLength(1);
    back.give();
    await waitForStatus(first.call, taskId, 'completed');
    expect(effects).toHaveLength(3);
    await first.server.close();
  });
});

describe('a process that shuts down', () => {
  it('hands its task over at once, after the step that was running', async () => {
    const lasting = lastingStore();
    const effects: string[] = [];
    const attempts: number[] = [];
    const counting: Store = {
      ...lasting.store,
      async claim(...args) {
        const leases = await lasting.store.claim(...args);
        attempts.push(...leases.map(({ attempt }) => attempt));
        return leases;
      },
    };
    const one = signal();
    // With a long lease, the other process would not get the task in time.
    const tasks = { leaseMs: 60_000 };
    const bus = memoryBus();
    const gates = { one: one.promise };
    const first = life({ name: 'first', store: lasting.store, gates, tasks, bus }, effects);
    const second = life({ name: 'second', store: counting, tasks, bus }, effects);
    await second.server.start();
    const { taskId } = await first.call('tools/call', { name: 'steps' });
    await until('the first step runs', () => effects.length === 1);
    const closing = first.server.close();
    one.give();
    await closing;
    // Sooner than the other process looks for work on its own.
    await until(
      'the task is completed',
      async () => (await lasting.entry(taskId)).status === 'completed',
      500,
    );
    expect(effects.map((effect) => effect.split(' ').slice(0, 2).join(' '))).toEqual([
      'one first',
      'two second',
      'three second',
    ]);
    expect(attempts).toEqual([1]);
    await second.server.close();
  });
});

describe('a task that kills its processes', () => {
  it('fails after five attempts, the later of them with growing delays', { timeout: 60_000 }, async () => {
    const lasting = lastingStore();
    const effects: string[] = [];
    let taskId: unknown;
    const times: number[] = [];
    for (let attempt = 1; attempt <= 5; attempt++) {
      const mortal = mortalStore(lasting.store);
      const each = life({ name: `life ${attempt}`, store: mortal.store, tasks: { leaseMs: 200 } }, effects);
      if (attempt === 1)
        taskId = (await each.call('tools/call', { name: 'poison', arguments: {} }))['taskId'];
      else await each.server.start();
      await until('it runs', () => effects.length === attempt);
      times.push(performance.now());
      mortal.kill();
    }
    const last = life({ name: 'last', store: lasting.store, tasks: { leaseMs: 200 } }, effects);
    await last.server.start();
    expect(await waitForStatus(last.call, taskId, 'failed')).toMatchObject({
      error: {
        message:
          'The task was started 5 times, and each time its process ended or stopped responding before the task made progress.',
      },
    });
    expect(effects).toHaveLength(5);
    const delays = times.slice(1).map((time, at) => time - (times[at] as number));
    expect(delays[3], 'the last delay, which is four times the first').toBeGreaterThan(delays[1] as number);
    await last.server.close();
  });

  it('starts the count anew when it makes progress', { timeout: 60_000 }, async () => {
    const lasting = lastingStore();
    const effects: string[] = [];
    let taskId: unknown;
    // Each process records one step and dies in the next one: 2 attempts for each step.
    for (let attempt = 1; attempt <= 3; attempt++) {
      const mortal = mortalStore(lasting.store);
      const gates = Object.fromEntries(['one', 'two', 'three'].slice(attempt).map((key) => [key, never]));
      const each = life(
        { name: `life ${attempt}`, store: mortal.store, gates, tasks: { leaseMs: 200 } },
        effects,
      );
      if (attempt === 1) taskId = (await each.call('tools/call', { name: 'steps' }))['taskId'];
      else await each.server.start();
      if (attempt < 3) await until('a step hangs', () => effects.length === 2 * attempt);
      else await waitForStatus(each.call, taskId, 'completed');
      if (attempt === 2) expect((await lasting.entry(taskId))['failed']).toEqual({ count: 1, at: 2 });
      mortal.kill();
    }
  });
});

describe('a task whose tool a process does not have', () => {
  it('is handed back for a process that has it, as in a rolling deploy', async () => {
    const lasting = lastingStore();
    const effects: string[] = [];
    const first = life({ name: 'first', store: lasting.store, gates: { one: never } }, effects);
    const { taskId } = await first.call('tools/call', { name: 'steps' });
    await until('it runs', () => effects.length === 1);
    await first.server.drain({ drainMs: 0 });
    const logged: string[] = [];
    const other = createServer({
      name: 'test',
      version: '2.0.0',
      secret: 'x'.repeat(32),
      logger: (_, message) => void logged.push(message),
      store: { ...lasting.store, close: async () => undefined },
      tools: { another: tool({ task: 'required', run: () => 'done' }) },
    });
    await other.start();
    await until('it was handed back', async () => (await lasting.entry(taskId))['refused'] !== undefined);
    expect(await lasting.entry(taskId)).toMatchObject({ status: 'working', refused: [expect.any(String)] });
    expect(logged).toEqual([`Task ${taskId} cannot run in this process, and is left for another one`]);
    await other.close();
    // Claimed again when its delay is over.
    const second = life({ name: 'second', store: lasting.store }, effects);
    await second.server.start();
    await waitForStatus(second.call, taskId, 'completed');
    await second.server.close();
  });
});
