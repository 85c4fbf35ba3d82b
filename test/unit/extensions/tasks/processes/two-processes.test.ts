import {
  type Bus,
  createServer,
  inProcess,
  memoryBus,
  memoryStore,
  type ServerOptions,
  type Store,
  tool,
} from 'fullmcp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { signal } from '../../../../support/signal.js';
import { able, accept, lastingStore, quiet, waitForStatus } from '../../../../support/tasks.js';
import { until } from '../../../../support/until.js';

type TasksOptions = NonNullable<ServerOptions['tasks']>;

// Two processes of a server: a task runs in one of them, and is answered, cancelled, read and watched at the other.

interface Replica {
  readonly name: string;
  readonly store: Store;
  readonly bus?: Bus;
  readonly tasks?: TasksOptions;
  readonly gate?: Promise<void>;
}

function replica({ name, store, bus, tasks = {}, gate }: Replica, effects: string[]) {
  const server = createServer({
    name: 'test',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
    store: { ...store, close: async () => undefined },
    ...(bus && { bus: { ...bus, close: async () => undefined } }),
    tasks,
    tools: {
      asks: tool({
        task: 'required',
        run: async (_, ctx) => {
          await ctx.step('first', () => effects.push(`first ${name}`));
          const { a } = await ctx.ask('a', { message: 'a', schema: z.object({ a: z.string() }) });
          await ctx.step('second', () => effects.push(`second ${name}`));
          return `${a} ${name}`;
        },
      }),
      hangs: tool({
        task: 'required',
        input: z.object({ n: z.number().default(0) }),
        run: ({ n }, { signal: aborted, progress }) => {
          effects.push(`hangs ${n} ${name}`);
          progress(1, 2, 'half');
          return new Promise((_resolve, reject) =>
            aborted.addEventListener('abort', () => {
              effects.push(`aborted ${name}`);
              reject(aborted.reason);
            }),
          );
        },
      }),
      works: tool({
        task: 'required',
        input: z.object({ n: z.number().default(0) }),
        run: async ({ n }, ctx) => {
          await ctx.step('work', async () => {
            effects.push(`work ${n} ${name}`);
            await gate;
          });
          return name;
        },
      }),
    },
  });
  return { server, call: inProcess(server, able) };
}

/** Two processes on one store, with or without a bus between them. */
function pair(options: { bus?: Bus; tasks?: TasksOptions; gate?: Promise<void> } = {}) {
  const store = memoryStore();
  const effects: string[] = [];
  const [one, two] = ['one', 'two'].map((name) => replica({ name, store, ...options }, effects)) as [
    ReturnType<typeof replica>,
    ReturnType<typeof replica>,
  ];
  const close = () => Promise.all([one.server.close(), two.server.close()]);
  return { store, effects, one, two, close };
}

const answer = (a: string) => ({ inputResponses: { a: accept({ a }) } });

describe.each([
  ['a bus', true],
  ['no bus', false],
])('a task of two processes with %s between them', (_, hasBus) => {
  // Without a bus, a process hears of an answer when it renews its lease.
  const options = () => ({ ...(hasBus && { bus: memoryBus() }), tasks: { leaseMs: hasBus ? 15_000 : 1500 } });

  it('is answered at the process that does not run it, and each step runs once', async () => {
    const { one, two, effects, close } = pair(options());
    await two.server.start();
    const { taskId } = await one.call('tools/call', { name: 'asks' });
    const waiting = await waitForStatus(two.call, taskId, 'input_required');
    expect(waiting).toMatchObject({ inputRequests: { a: {} } });
    await two.call('tasks/update', { taskId, ...answer('x') });
    // Every process agrees at once that the question has its answer.
    for (const { call } of [one, two])
      expect((await call('tasks/get', { taskId }))['status']).not.toBe('input_required');
    expect(await waitForStatus(two.call, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'x one' }] },
    });
    expect(effects).toEqual(['first one', 'second one']);
    await close();
  });

  it('is cancelled at the process that does not run it, and the handler is stopped', async () => {
    const { one, two, effects, close } = pair(options());
    const { taskId } = await one.call('tools/call', { name: 'hangs', arguments: {} });
    await two.call('tasks/cancel', { taskId });
    for (const { call } of [one, two])
      expect(await call('tasks/get', { taskId })).toMatchObject({
        status: 'cancelled',
        statusMessage: 'The client cancelled the task',
      });
    await until('the handler is stopped', () => effects.includes('aborted one'));
    await close();
  });
});

describe('a task of two processes', () => {
  it('that is cancelled at the other process is stopped by the message of that process, long before its lease is renewed', async () => {
    const { one, two, effects, close } = pair({ bus: memoryBus(), tasks: { leaseMs: 600_000 } });
    const { taskId } = await one.call('tools/call', { name: 'hangs', arguments: {} });
    await two.call('tasks/cancel', { taskId });
    await until('the handler is stopped', () => effects.includes('aborted one'), 10_000);
    await close();
  });

  it('is watched at the process that does not run it', async () => {
    const { one, two, close } = pair({ bus: memoryBus() });
    const { taskId } = await one.call('tools/call', { name: 'asks' });
    await waitForStatus(two.call, taskId, 'input_required');
    const statuses: unknown[] = [];
    const controller = new AbortController();
    const listening = two.call(
      'subscriptions/listen',
      { notifications: { taskIds: [taskId] } },
      {
        signal: controller.signal,
        onNotification: (_, params) => void statuses.push(params?.['status'] ?? 'acknowledged'),
      },
    );
    await until('the subscription is acknowledged', () => statuses.length > 0);
    await one.call('tasks/update', { taskId, ...answer('x') });
    await until('the end is reported', () => statuses.includes('completed'));
    controller.abort();
    await listening;
    await close();
  });

  it('is taken by one of them if both have room', async () => {
    const { one, two, effects, store, close } = pair({ bus: memoryBus() });
    // Created by a process without room for it.
    const full = replica({ name: 'full', store, tasks: { maxRunning: 1 } }, effects);
    await full.call('tools/call', { name: 'hangs', arguments: {} });
    const ids: unknown[] = [];
    for (let n = 0; n < 20; n++)
      ids.push((await full.call('tools/call', { name: 'works', arguments: { n } }))['taskId']);
    await Promise.all([one.server.start(), two.server.start()]);
    for (const taskId of ids) await waitForStatus(one.call, taskId, 'completed');
    const works = effects.filter((effect) => effect.startsWith('work'));
    expect(works.map((effect) => effect.split(' ')[1]).sort()).toEqual(
      Array.from({ length: 20 }, (_, n) => String(n)).sort(),
    );
    await Promise.all([close(), full.server.close()]);
  });

  it('belongs to its caller at every process', async () => {
    const { one, two, close } = pair();
    const as = (server: typeof one.server, subject: string) =>
      inProcess(server, { ...able, caller: { subject, scopes: [], claims: {} } });
    const { taskId } = await as(one.server, 'ann')('tools/call', { name: 'hangs', arguments: {} });
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update'])
      for (const call of [as(two.server, 'bob'), two.call])
        await expect(call(method, { taskId, inputResponses: {} })).rejects.toMatchObject({
          message: `Unknown task: ${taskId}`,
        });
    expect(await as(two.server, 'ann')('tasks/get', { taskId })).toMatchObject({ status: 'working' });
    await close();
  });

  it('is not the task of a server with another name on the same store', async () => {
    const { one, store, close } = pair();
    const other = createServer({
      name: 'other',
      version: '1.0.0',
      secret: 'x'.repeat(32),
      store: { ...store, close: async () => undefined },
      tools: { works: tool({ task: 'required', run: () => 'done' }) },
    });
    const { taskId } = await one.call('tools/call', { name: 'hangs', arguments: {} });
    await expect(inProcess(other, able)('tasks/get', { taskId })).rejects.toMatchObject({
      message: `Unknown task: ${taskId}`,
    });
    await Promise.all([close(), other.close()]);
  });

  it('has one answer when both processes get one at the same moment', async () => {
    const { one, two, close } = pair({ bus: memoryBus() });
    for (let round = 0; round < 20; round++) {
      const { taskId } = await one.call('tools/call', { name: 'asks' });
      await waitForStatus(one.call, taskId, 'input_required');
      await Promise.all([
        two.call('tasks/update', { taskId, ...answer('x') }),
        one.call('tasks/update', { taskId, ...answer('y') }),
      ]);
      const { result } = await waitForStatus(two.call, taskId, 'completed');
      expect(['x one', 'y one']).toContain((result as { content: { text: string }[] }).content[0]?.text);
    }
    await close();
  });

  it.each(['answered', 'completed'])(
    'is cancelled or %s when both happen at the same moment, never both',
    async (what) => {
      const { one, two, close } = pair({ bus: memoryBus() });
      for (let round = 0; round < 30; round++) {
        const { taskId } = await one.call('tools/call', {
          name: what === 'answered' ? 'asks' : 'works',
          arguments: {},
        });
        if (what === 'answered') await waitForStatus(one.call, taskId, 'input_required');
        const racing = what === 'answered' ? [one.call('tasks/update', { taskId, ...answer('x') })] : [];
        await Promise.all([...racing, two.call('tasks/cancel', { taskId })]);
        const { status } = await one.call('tasks/get', { taskId });
        await quiet();
        expect((await two.call('tasks/get', { taskId }))['status']).toBe(status);
        expect(['cancelled', 'completed']).toContain(status);
      }
      await close();
    },
  );
});

describe('an answer', () => {
  it('that arrives while its task is put aside wakes the task up', async () => {
    const lasting = lastingStore();
    const releasing = signal();
    const go = signal();
    const store: Store = {
      ...lasting.store,
      async write(changes, options) {
        // The process has read the inbox, and is about to put the task aside.
        if (changes.some((change) => change.do === 'release')) {
          releasing.give();
          await go.promise;
        }
        return lasting.store.write(changes, options);
      },
    };
    const effects: string[] = [];
    const holder = replica({ name: 'one', store, tasks: { parkMs: 50 } }, effects);
    const other = replica({ name: 'two', store: lasting.store }, effects);
    const { taskId } = await holder.call('tools/call', { name: 'asks' });
    await waitForStatus(other.call, taskId, 'input_required');
    await releasing.promise;
    await other.call('tasks/update', { taskId, ...answer('x') });
    go.give();
    await waitForStatus(other.call, taskId, 'completed');
    expect(effects.filter((effect) => effect.startsWith('first'))).toHaveLength(1);
    expect(effects.filter((effect) => effect.startsWith('second'))).toHaveLength(1);
    await Promise.all([holder.server.close(), other.server.close()]);
  });

  it('that arrives after its task was put aside continues it at any process, from its journal', async () => {
    const store = memoryStore();
    const effects: string[] = [];
    const first = replica({ name: 'one', store, tasks: { parkMs: 0 } }, effects);
    const { taskId } = await first.call('tools/call', { name: 'asks' });
    await waitForStatus(first.call, taskId, 'input_required');
    await first.server.close();
    const second = replica({ name: 'two', store, tasks: { parkMs: 0 } }, effects);
    await second.call('tasks/update', { taskId, ...answer('x') });
    expect(await waitForStatus(second.call, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'x two' }] },
    });
    expect(effects).toEqual(['first one', 'second two']);
    await second.server.close();
  });

  it('that is not valid is asked for again, also at a process that has not run the task before', async () => {
    const store = memoryStore();
    const effects: string[] = [];
    const first = replica({ name: 'one', store, tasks: { parkMs: 0 } }, effects);
    const { taskId } = await first.call('tools/call', { name: 'asks' });
    await waitForStatus(first.call, taskId, 'input_required');
    await first.server.close();
    const second = replica({ name: 'two', store, tasks: { parkMs: 0 } }, effects);
    for (let round = 0; round < 3; round++) {
      await second.call('tasks/update', { taskId, inputResponses: { a: accept({ a: 17 }) } });
      await waitForStatus(second.call, taskId, 'input_required');
    }
    await second.call('tasks/update', { taskId, ...answer('x') });
    await waitForStatus(second.call, taskId, 'completed');
    expect(effects).toEqual(['first one', 'second two']);
    await second.server.close();
  });
});
