import { createServer, inProcess, type Store, type TasksOptions, tool } from 'fullmcp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { signal } from '../../../support/signal.js';
import { able, accept, lastingStore, quiet, waitForStatus } from '../../../support/tasks.js';
import { until } from '../../../support/until.js';

// Unreliable stores: they write and report a failure, fail in the middle of a list, list outdated entries, or
// reject an entry for good.

interface DoubtfulStore {
  readonly store: Store;
  /** Writes, and then reports a failure. */
  lying: boolean;
  /** Fails after so many entries of a list. */
  listLimit: number;
  /** Lists outdated entries. */
  stale: Promise<void> | undefined;
  readonly lasting: ReturnType<typeof lastingStore>;
}

function doubtfulStore(): DoubtfulStore {
  const lasting = lastingStore();
  const self: DoubtfulStore = {
    lasting,
    lying: false,
    listLimit: Number.POSITIVE_INFINITY,
    stale: undefined,
    store: {
      ...lasting.store,
      async set(...entry) {
        await lasting.store.set(...entry);
        if (self.lying) throw new Error('The answer of the store was lost');
      },
      async *entries(prefix) {
        const entries: (readonly [string, Record<string, unknown>])[] = [];
        for await (const entry of lasting.store.entries(prefix)) entries.push(entry);
        await self.stale;
        for (const [at, entry] of entries.entries()) {
          if (at >= self.listLimit) throw new Error('The store is away');
          yield entry;
        }
        if (self.listLimit === 0) throw new Error('The store is away');
      },
    },
  };
  return self;
}

function build(store: Store, tasks: TasksOptions = {}, gates: Record<string, Promise<void>> = {}) {
  const effects: string[] = [];
  const server = createServer({
    name: 'test',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
    store,
    tasks,
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
  it('leaves no task that the next process would run', async () => {
    const trouble = doubtfulStore();
    const { server, call } = build(trouble.store);
    trouble.lying = true;
    const creating = call('tools/call', { name: 'works', arguments: {} });
    await expect(creating).rejects.toMatchObject({ code: 'overloaded' });
    trouble.lying = false;
    await server.close();
    const left = [];
    for await (const [key] of trouble.store.entries('task:')) left.push(key);
    expect(left).toEqual([]);
  });

  it('does not cancel a task if the client was told that the cancellation failed', async () => {
    const trouble = doubtfulStore();
    const { server, call } = build(trouble.store);
    const { taskId } = await call('tools/call', { name: 'asks', arguments: {} });
    await waitForStatus(call, taskId, 'input_required');
    trouble.lying = true;
    await expect(call('tasks/cancel', { taskId })).rejects.toMatchObject({ code: 'overloaded' });
    trouble.lying = false;
    await until(
      'the store has the task as it was',
      async () => (await trouble.lasting.entry(taskId))['status'] === 'input_required',
    );
    await server.close();
  });

  it('does not answer a question if the client was told that its answer failed', async () => {
    const trouble = doubtfulStore();
    const { server, call, effects } = build(trouble.store);
    const { taskId } = await call('tools/call', { name: 'asks', arguments: {} });
    await waitForStatus(call, taskId, 'input_required');
    const give = (ok: boolean) => call('tasks/update', { taskId, inputResponses: { sure: accept({ ok }) } });
    trouble.lying = true;
    await expect(give(true)).rejects.toMatchObject({ code: 'overloaded' });
    trouble.lying = false;
    await until('the question is open in the store', async () => {
      const { status, journal } = await trouble.lasting.entry(taskId);
      return status === 'input_required' && (journal as { a: unknown[] }).a.length === 0;
    });
    await give(false);
    await waitForStatus(call, taskId, 'completed');
    expect(effects).toEqual(['answered false']);
    await server.close();
  });
});

describe('the tasks in a store', () => {
  it('are resumed if they were listed before the store failed, and so are the others when the store is back', async () => {
    const trouble = doubtfulStore();
    const ids = await leave(trouble.store, 3);
    trouble.listLimit = 2;
    const { server, call, effects } = build(trouble.store);
    await server.start();
    await until('two are done', () => effects.length === 2);
    trouble.listLimit = Number.POSITIVE_INFINITY;
    for (const taskId of ids) await waitForStatus(call, taskId, 'completed');
    expect(effects).toHaveLength(3);
    await server.close();
  });

  it('are resumed when the store is back, even without a call', async () => {
    const trouble = doubtfulStore();
    await leave(trouble.store, 2);
    trouble.listLimit = 0;
    const { server, effects } = build(trouble.store);
    await server.start();
    expect(effects).toEqual([]);
    trouble.listLimit = Number.POSITIVE_INFINITY;
    await until('both are done', () => effects.length === 2);
    await server.close();
  });

  it('do not run again if an outdated list shows them as unfinished', async () => {
    const trouble = doubtfulStore();
    const [end, list] = [signal(), signal()];
    trouble.listLimit = 0;
    const { server, call, effects } = build(trouble.store, {}, { end: end.promise });
    const { taskId } = await call('tools/call', { name: 'works', arguments: {} });
    await until('its step is done', () => effects.length === 1);
    trouble.listLimit = Number.POSITIVE_INFINITY;
    trouble.stale = list.promise;
    const getting = call('tasks/get', { taskId });
    await quiet();
    end.give();
    await until(
      'it is completed in the store',
      async () => (await trouble.lasting.entry(taskId))['status'] === 'completed',
    );
    await quiet();
    list.give();
    await getting;
    await quiet();
    expect(await call('tasks/get', { taskId })).toMatchObject({ status: 'completed' });
    expect((await trouble.lasting.entry(taskId))['attempts']).toBe(1);
    await server.close();
  });

  it('that are listed while the server closes are left to the next process', async () => {
    const trouble = doubtfulStore();
    const ids = await leave(trouble.store, 2);
    const list = signal();
    trouble.stale = list.promise;
    const { server, effects } = build(trouble.store);
    const starting = server.start();
    await quiet();
    await server.close();
    list.give();
    await starting;
    await quiet();
    expect(effects).toEqual([]);
    expect(await trouble.lasting.entry(ids[0])).toMatchObject({ status: 'working', attempts: 0 });
  });
});

describe('an expired task', () => {
  it('is removed once, even if the store is slow', async () => {
    const lasting = lastingStore();
    const slow = signal();
    let removals = 0;
    const store: Store = {
      ...lasting.store,
      async delete(key) {
        removals++;
        await slow.promise;
        await lasting.store.delete(key);
      },
    };
    const { server, call } = build(store, { ttlMs: 50 }, { end: never });
    const { taskId } = await call('tools/call', { name: 'works', arguments: {} });
    await until('it is being removed', () => removals > 0);
    // The timer ticks of another task pass meanwhile.
    const other = await call('tools/call', { name: 'asks', arguments: {} });
    await until('the other is being removed', () => removals > 1);
    expect(await call('tasks/get', { taskId: other['taskId'] })).toMatchObject({ taskId: other['taskId'] });
    slow.give();
    await until('it is gone', async () => (await call('tasks/get', { taskId }).catch(() => 0)) === 0);
    expect(removals).toBe(2);
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
    await until('its step is saved', async () => JSON.stringify(await lasting.entry(taskId)).length > 5000);
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
