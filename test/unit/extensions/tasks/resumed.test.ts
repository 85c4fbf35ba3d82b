import { type Context, createServer, inProcess, McpError, type Store, tool } from 'fullmcp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { signal } from '../../../support/signal.js';
import { able, accept, lastingStore, mortalStore, waitForStatus } from '../../../support/tasks.js';
import { until } from '../../../support/until.js';

// How the next process treats the tasks of the last one.

function build(store: Store, options: { user?: () => unknown; hold?: Promise<void> } = {}) {
  const effects: string[] = [];
  const logged: string[] = [];
  const server = createServer({
    name: 'test',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: (_, message) => void logged.push(message),
    store,
    ...(options.user && { user: options.user }),
    tools: {
      hangs: tool({
        task: 'required',
        input: z.object({ n: z.number().default(0) }),
        run: async ({ n }, { signal: aborted }) => {
          effects.push(`hangs ${n}`);
          await options.hold;
          await new Promise((_, reject) => aborted.addEventListener('abort', () => reject(aborted.reason)));
        },
      }),
      asks: tool({
        task: 'required',
        run: async (_, ctx) => {
          await ctx.step('first', () => effects.push('first'));
          const { a } = await ctx.ask('a', { message: 'a', schema: z.object({ a: z.string() }) });
          await ctx.step('second', () => effects.push('second'));
          return a;
        },
      }),
    },
  });
  return { server, call: inProcess(server, able), effects, logged };
}

async function leaveTask(
  lasting: ReturnType<typeof lastingStore>,
  name: string,
  args: object = {},
): Promise<unknown> {
  const first = build(lasting.store);
  const { taskId } = await first.call('tools/call', { name, arguments: args });
  await first.server.close();
  return taskId;
}

describe('a process that takes up tasks', () => {
  it('takes up the others if an entry cannot be read, and reports which one', async () => {
    const lasting = lastingStore();
    const queue = 'task:test';
    const taskId = await leaveTask(lasting, 'asks');
    for (const [id, entry] of Object.entries({
      '00000000-0000-4000-8000-000000000000': {
        id: '00000000-0000-4000-8000-000000000000',
        status: 'working',
      },
      '00000000-0000-4000-8000-000000000001': { nothing: 1 },
      'ffffffff-ffff-4fff-8fff-ffffffffffff': { id: 'another', status: 'working', open: [] },
    }))
      await lasting.store.write([
        { do: 'put', key: `task:group:${id}`, value: entry },
        { do: 'enqueue', queue, key: `group:${id}` },
      ]);
    const { server, call, logged } = build(lasting.store);
    await server.start();
    await waitForStatus(call, taskId, 'input_required');
    await until('all are reported', () => logged.length === 3);
    expect(logged).toContain(
      "The store's entry task:group:00000000-0000-4000-8000-000000000000 cannot be read, so its task is not resumed",
    );
    await server.close();
  });

  it('retries a task while the option user fails, and logs each failure', async () => {
    const lasting = lastingStore();
    const taskId = await leaveTask(lasting, 'asks');
    let failures = 3;
    const { server, call, logged } = build(lasting.store, {
      user: () => {
        if (failures-- > 0) throw new Error('No database');
      },
    });
    await server.start();
    await until('it has failed once', () => failures < 3);
    await waitForStatus(call, taskId, 'input_required');
    expect(failures).toBeLessThan(0);
    expect(
      logged.filter((line) => /^Task .* \(asks\) cannot run yet\. The server retries\.$/.test(line)),
    ).toHaveLength(3);
    await call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'x' }) } });
    expect(await waitForStatus(call, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'x' }] },
    });
    await server.close();
  });

  it('fails a task whose caller the option user rejects with an McpError', async () => {
    const lasting = lastingStore();
    const taskId = await leaveTask(lasting, 'asks');
    const { server, call } = build(lasting.store, {
      user: () => {
        throw new McpError('forbidden', 'This account is closed');
      },
    });
    await server.start();
    expect(await waitForStatus(call, taskId, 'failed')).toMatchObject({
      error: { message: 'This account is closed' },
    });
    await server.close();
  });

  it('retries if the store returns no work, and can answer and cancel a task meanwhile', async () => {
    const lasting = lastingStore();
    const taskId = await leaveTask(lasting, 'hangs');
    let isAway = true;
    const store: Store = {
      ...lasting.store,
      async claim(...args) {
        if (isAway) throw new Error('The store is away');
        return lasting.store.claim(...args);
      },
    };
    const { server, call, logged, effects } = build(store);
    await server.start();
    expect(logged).toEqual(['Unfinished tasks could not be read from the store. The server retries.']);
    await call('tasks/cancel', { taskId });
    expect(await call('tasks/get', { taskId })).toMatchObject({ status: 'cancelled' });
    isAway = false;
    const other = await call('tools/call', { name: 'hangs', arguments: { n: 1 } });
    expect(other).toMatchObject({ status: 'working' });
    await until('the other runs', () => effects.includes('hangs 1'));
    expect(effects).toEqual(['hangs 1']);
    await server.close();
  });
});

describe('a handler that has changed', () => {
  /** A server with another handler in each process. */
  function version(store: Store, run: (input: unknown, ctx: Context) => unknown) {
    const server = createServer({
      name: 'test',
      version: '1.0.0',
      secret: 'x'.repeat(32),
      logger: () => undefined,
      store,
      tasks: { leaseMs: 500 },
      tools: {
        changes: tool({ task: 'required', run: async (input, ctx) => String(await run(input, ctx)) }),
      },
    });
    return { server, call: inProcess(server, able) };
  }
  const files = (count: number) => ({
    message: `Delete ${count} files?`,
    schema: z.object({ ok: z.boolean() }),
  });

  it.each([
    ['before its question is reached', true],
    ['in the earlier process', false],
  ])('does not get an answer to its old question that arrived %s', async (_, isEarly) => {
    const lasting = lastingStore();
    const first = version(lasting.store, (_, ctx) => ctx.ask('sure', files(3)));
    const { taskId } = await first.call('tools/call', { name: 'changes' });
    await waitForStatus(first.call, taskId, 'input_required');
    const inputResponses = { sure: accept({ ok: true }) };
    await first.server.close();
    if (!isEarly) {
      // Another process takes the answer, and ends before a handler has used it.
      const accepting = mortalStore(lasting.store);
      const answering = version(accepting.store, () => new Promise(() => undefined));
      await answering.call('tasks/update', { taskId, inputResponses });
      accepting.kill();
    }
    const gate = signal();
    const done: unknown[] = [];
    const second = version(lasting.store, async (_, ctx) => {
      await gate.promise;
      done.push(await ctx.ask('sure', files(3000)));
    });
    await second.server.start();
    if (isEarly) await second.call('tasks/update', { taskId, inputResponses });
    gate.give();
    const task = await waitForStatus(second.call, taskId, 'input_required');
    expect(task).toMatchObject({ inputRequests: { sure: { params: { message: 'Delete 3000 files?' } } } });
    expect(done).toEqual([]);
    await second.call('tasks/update', { taskId, inputResponses });
    await waitForStatus(second.call, taskId, 'completed');
    expect(done).toEqual([{ ok: true }]);
    await second.server.close();
  });

  it('leaves the task if it no longer reaches a recorded step, for a process with a handler that does', async () => {
    const lasting = lastingStore();
    let charged = 0;
    const charge = async (_: unknown, ctx: Context) => {
      await ctx.step('charge', () => ++charged);
      await ctx.ask('sure', files(3));
      return 'done';
    };
    const first = version(lasting.store, charge);
    const { taskId } = await first.call('tools/call', { name: 'changes' });
    await waitForStatus(first.call, taskId, 'input_required');
    await first.server.close();
    const gate = signal();
    // This process is alive, and busy until the other one has refused the task.
    const third = version(
      { ...lasting.store, claim: async (...args) => gate.promise.then(() => lasting.store.claim(...args)) },
      charge,
    );
    void third.server.start();
    await until('it has signed on', async () => (await lasting.store.page('task-worker:')).length === 1);
    const second = version(lasting.store, () => 'done');
    await second.call('tasks/update', { taskId, inputResponses: { sure: accept({ ok: true }) } });
    await until('it was handed back', async () => (await lasting.entry(taskId))['refused'] !== undefined);
    // The client is not asked again.
    expect(await second.call('tasks/get', { taskId })).toMatchObject({ status: 'working' });
    gate.give();
    await waitForStatus(third.call, taskId, 'completed');
    expect(charged).toBe(1);
    await second.server.close();
    await third.server.close();
  });

  it('fails the task at once if it no longer reaches a recorded step, and no other process is alive', async () => {
    const lasting = lastingStore();
    const done: string[] = [];
    const first = version(lasting.store, async (_, ctx) => {
      await ctx.step('charge', () => done.push('charge'));
      await ctx.ask('sure', files(3));
    });
    const { taskId } = await first.call('tools/call', { name: 'changes' });
    await waitForStatus(first.call, taskId, 'input_required');
    await first.server.close();
    const second = version(lasting.store, async (_, ctx) => {
      await ctx.ask('sure', files(3));
      await ctx.step('pay', () => done.push('pay'));
    });
    await second.call('tasks/update', { taskId, inputResponses: { sure: accept({ ok: true }) } });
    expect(await waitForStatus(second.call, taskId, 'failed')).toMatchObject({
      error: { message: expect.stringContaining('did not reach "charge" again') },
    });
    expect(done).toEqual(['charge']);
    await second.server.close();
  });
});

describe('the id of a task', () => {
  it.each([
    ['a long string', 'x'.repeat(5000)],
    ['a path', '../../etc/passwd'],
    ['an id in capitals', '00000000-0000-4000-8000-00000000000A'],
    ['empty', ''],
  ])('is unknown if it is %s', async (_, taskId) => {
    const { call, logged } = build(lastingStore().store);
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
      await expect(call(method, { taskId, inputResponses: {} })).rejects.toMatchObject({
        code: 'invalid_params',
        message: `Unknown task: ${taskId.length > 64 ? `${taskId.slice(0, 63)}…` : taskId}`,
      });
    expect(logged).toEqual([]);
  });

  it.each([[{ toString: 1 }], [null], [17], [['a']], [undefined]])(
    'must be a string, not %j',
    async (taskId) => {
      const { call, logged } = build(lastingStore().store);
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
        await expect(call(method, { taskId, inputResponses: {} })).rejects.toMatchObject({
          code: 'invalid_params',
          message: 'params.taskId must be a string',
        });
      expect(logged).toEqual([]);
    },
  );
});
