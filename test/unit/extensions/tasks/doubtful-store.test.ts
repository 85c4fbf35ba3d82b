import { createServer, inProcess, type ServerOptions, type Store, tool } from 'fullmcp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { signal } from '../../../support/signal.js';
import { able, accept, headsIn, lastingStore, quiet, waitForStatus } from '../../../support/tasks.js';
import { until } from '../../../support/until.js';

type TasksOptions = NonNullable<ServerOptions['tasks']>;

// Unreliable stores: they write and report a failure, are slow, or reject an entry for good.

interface DoubtfulStore {
  readonly store: Store;
  /** Writes, and then reports a failure. */
  lying: boolean;
  /** Fails to return work. */
  away: boolean;
  /** Returns work only after this. */
  claiming: Promise<void> | undefined;
  readonly lasting: ReturnType<typeof lastingStore>;
}

function doubtfulStore(): DoubtfulStore {
  const lasting = lastingStore();
  const self: DoubtfulStore = {
    lasting,
    lying: false,
    away: false,
    claiming: undefined,
    store: {
      ...lasting.store,
      async write(...args) {
        const written = await lasting.store.write(...args);
        if (self.lying) throw new Error('The answer of the store was lost');
        return written;
      },
      async claim(...args) {
        if (self.away) throw new Error('The store is away');
        const leases = await lasting.store.claim(...args);
        await self.claiming;
        return leases;
      },
    },
  };
  return self;
}

function build(
  store: Store,
  tasks: TasksOptions = {},
  gates: Record<string, Promise<void>> = {},
  more: { readonly idempotency?: boolean } = {},
) {
  const effects: string[] = [];
  const server = createServer({
    name: 'test',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
    store,
    tasks,
    ...more,
    tools: {
      works: tool({
        task: 'required',
        input: z.object({ bytes: z.number().default(1) }),
        run: async ({ bytes }, ctx) => {
          await gates['begin'];
          await ctx.step('work', () => 'x'.repeat(effects.push('work') * bytes));
          await gates['end'];
          return 'done';
        },
      }),
      asks: tool({
        task: 'required',
        input: z.object({ message: z.string().default('Sure?') }),
        run: async ({ message }, ctx) => {
          const { ok } = await ctx.ask('sure', { message, schema: z.object({ ok: z.boolean() }) });
          effects.push(`answered ${ok}`);
          return 'done';
        },
      }),
    },
  });
  return { server, call: inProcess(server, able), effects };
}

const never = new Promise<void>(() => undefined);

/** Tasks whose process ended before their first step. */
async function leave(store: Store, count: number): Promise<unknown[]> {
  const { server, call } = build(store, {}, { begin: never });
  const ids: unknown[] = [];
  for (let n = 0; n < count; n++)
    ids.push((await call('tools/call', { name: 'works', arguments: {} }))['taskId']);
  await server.close();
  return ids;
}

describe('a write that was done and reported as failed', () => {
  it('creates a task, which the client gets and which runs', async () => {
    const trouble = doubtfulStore();
    const { server, call, effects } = build(trouble.store, { leaseMs: 300 });
    trouble.lying = true;
    const { taskId } = await call('tools/call', { name: 'works', arguments: {} });
    trouble.lying = false;
    await waitForStatus(call, taskId, 'completed');
    expect(effects).toEqual(['work']);
    await server.close();
  });

  it('creates one task for an idempotency key, even if nobody can find out at first', async () => {
    const trouble = doubtfulStore();
    let isDown = false;
    const get: Store['get'] = (key) =>
      isDown && key.startsWith('task:') ? Promise.reject(new Error('down')) : trouble.store.get(key);
    const store: Store = {
      ...trouble.store,
      get,
      write: (changes, options) =>
        changes.some((change) => change.do === 'append') || !isDown
          ? trouble.store.write(changes, options)
          : trouble.lasting.store.write(changes, options),
    };
    const { server } = build(store, { leaseMs: 300 }, {}, { idempotency: true });
    const call = inProcess(server, { ...able, caller: { subject: 'someone' } });
    const params = { name: 'works', arguments: {}, _meta: { 'fullmcp/idempotencyKey': 'k' } };
    trouble.lying = true;
    isDown = true;
    await expect(call('tools/call', params)).rejects.toMatchObject({ data: { reason: 'unknown_outcome' } });
    trouble.lying = false;
    isDown = false;
    await expect(call('tools/call', params)).rejects.toMatchObject({ data: { reason: 'unknown_outcome' } });
    expect(await headsIn(store)).toHaveLength(1);
    await server.close();
  });

  it('cancels a task, and the client is told so', async () => {
    const trouble = doubtfulStore();
    const { server, call } = build(trouble.store);
    const { taskId } = await call('tools/call', { name: 'asks', arguments: {} });
    await waitForStatus(call, taskId, 'input_required');
    trouble.lying = true;
    await call('tasks/cancel', { taskId });
    trouble.lying = false;
    expect(await call('tasks/get', { taskId })).toMatchObject({ status: 'cancelled' });
    await server.close();
  });

  it('cancels a task without knowing it, and those who listen are told nevertheless', async () => {
    const trouble = doubtfulStore();
    let isBlind = false;
    // After the write whose reply is lost, the next read fails, too.
    const store: Store = {
      ...trouble.store,
      async get(key) {
        const fails = isBlind;
        isBlind = false;
        if (fails) throw new Error('The store is away');
        return trouble.store.get(key);
      },
      async write(...args) {
        try {
          return await trouble.store.write(...args);
        } finally {
          isBlind = trouble.lying;
        }
      },
    };
    const { server, call } = build(store, { parkMs: 1 });
    const { taskId } = await call('tools/call', { name: 'asks', arguments: {} });
    await waitForStatus(call, taskId, 'input_required');
    // A process that holds the task would notice.
    await until('nobody holds the task', async () => (await headsIn(store))[0]?.value['waiting'] === true);
    const heard: unknown[] = [];
    const listening = new AbortController();
    const listened = call(
      'subscriptions/listen',
      { notifications: { taskIds: [taskId] } },
      { signal: listening.signal, onNotification: (_method, params) => heard.push(params?.['status']) },
    ).catch(() => undefined);
    await until('the subscription is there', () => heard.length > 0);
    trouble.lying = true;
    const cancelling = call('tasks/cancel', { taskId });
    await expect(cancelling).rejects.toThrow('could not be saved');
    trouble.lying = false;
    await until('the end is heard', () => heard.includes('cancelled'));
    listening.abort();
    await listened;
    await server.close();
  });

  it('answers a question, and the client is told so', async () => {
    const trouble = doubtfulStore();
    const { server, call, effects } = build(trouble.store);
    const { taskId } = await call('tools/call', { name: 'asks', arguments: {} });
    await waitForStatus(call, taskId, 'input_required');
    const give = (ok: boolean) => call('tasks/update', { taskId, inputResponses: { sure: accept({ ok }) } });
    trouble.lying = true;
    await give(true);
    trouble.lying = false;
    await give(false);
    await waitForStatus(call, taskId, 'completed');
    expect(effects).toEqual(['answered true']);
    await server.close();
  });

  it('records a step once, and the handler continues', async () => {
    const trouble = doubtfulStore();
    const [begin, end] = [signal(), signal()];
    const { server, call, effects } = build(trouble.store, {}, { begin: begin.promise, end: end.promise });
    const { taskId } = await call('tools/call', { name: 'works', arguments: {} });
    trouble.lying = true;
    begin.give();
    await until('the step is recorded', async () => (await trouble.lasting.entry(taskId)).steps.length === 1);
    trouble.lying = false;
    end.give();
    await waitForStatus(call, taskId, 'completed');
    expect(effects).toEqual(['work']);
    const appends = trouble.lasting.writes.flat().filter((change) => change.do === 'append');
    expect(appends.map(({ name }) => name)).toEqual(['0', '1']);
    await server.close();
  });

  it('ends a task once, and this process does not hold it any more', async () => {
    const trouble = doubtfulStore();
    const end = signal();
    const { server, call } = build(trouble.store, {}, { end: end.promise });
    const { taskId } = await call('tools/call', { name: 'works', arguments: {} });
    await until('its step is saved', async () => (await trouble.lasting.entry(taskId)).steps.length === 1);
    trouble.lying = true;
    end.give();
    await waitForStatus(call, taskId, 'completed');
    trouble.lying = false;
    await server.close();
    expect(await call('tasks/get', { taskId })).toMatchObject({ status: 'completed' });
  });
});

describe('the tasks in a store', () => {
  it('are taken up when the store is back, even without a call', async () => {
    const trouble = doubtfulStore();
    await leave(trouble.store, 2);
    trouble.away = true;
    const { server, effects } = build(trouble.store);
    await server.start();
    expect(effects).toEqual([]);
    trouble.away = false;
    await until('both are done', () => effects.length === 2);
    await server.close();
  });

  it('that are claimed while the server closes are left to the next process at once', async () => {
    const trouble = doubtfulStore();
    await leave(trouble.store, 2);
    const claiming = signal();
    trouble.claiming = claiming.promise;
    const first = build(trouble.store);
    const starting = first.server.start();
    await quiet();
    const closing = first.server.close();
    claiming.give();
    await Promise.all([starting, closing]);
    await quiet();
    expect(first.effects).toEqual([]);
    const next = build(trouble.store);
    await next.server.start();
    await until('both are done', () => next.effects.length === 2);
    await next.server.close();
  });
});

describe('an expired task', () => {
  it('is unknown at once, and is removed once, even if the store is slow', async () => {
    const lasting = lastingStore();
    const slow = signal();
    let removals = 0;
    const store: Store = {
      ...lasting.store,
      async write(changes, options) {
        if (changes.some((change) => change.do === 'delete')) {
          removals++;
          await slow.promise;
        }
        return lasting.store.write(changes, options);
      },
    };
    const { server, call } = build(store, { ttlMs: 50 }, { end: never });
    const { taskId } = await call('tools/call', { name: 'works', arguments: {} });
    await until('it is being removed', () => removals > 0);
    await expect(call('tasks/get', { taskId })).rejects.toMatchObject({ message: `Unknown task: ${taskId}` });
    // The timer ticks of another task pass meanwhile.
    await call('tools/call', { name: 'asks', arguments: {} });
    await until('the other is being removed', () => removals > 1);
    slow.give();
    await until('both are gone', async () => (await headsIn(store)).length === 0);
    expect(removals).toBe(2);
    expect(await store.size('task:test')).toBe(0);
    await server.close();
  });
});

describe('a task that can never be saved', () => {
  it('fails at its question if that is too large', async () => {
    const { server, call } = build(lastingStore().store, { maxTaskBytes: 12_000 });
    const args = { message: 'x'.repeat(10_000) };
    const { taskId } = await call('tools/call', { name: 'asks', arguments: args });
    expect(await waitForStatus(call, taskId, 'failed')).toMatchObject({
      error: { message: expect.stringMatching(/^The question cannot be saved\. The task has \d+ bytes/) },
    });
    await server.close();
  });

  it('fails when a process with a lower limit resumes it', async () => {
    const lasting = lastingStore();
    const first = build(lasting.store, {}, { end: never });
    const { taskId } = await first.call('tools/call', { name: 'works', arguments: { bytes: 5000 } });
    await until('its step is saved', async () => (await lasting.entry(taskId)).steps.length === 1);
    await first.server.close();
    const second = build(lasting.store, { maxTaskBytes: 2000 });
    await second.server.start();
    expect(await waitForStatus(second.call, taskId, 'failed')).toMatchObject({
      error: { message: expect.stringMatching(/^The task cannot be resumed, because it cannot be saved\. /) },
    });
    expect(second.effects).toEqual([]);
    await second.server.close();
  });
});
