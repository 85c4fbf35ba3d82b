import { type Context, createServer, inProcess, McpError, type Store, tool } from 'fullmcp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { signal } from '../../../support/signal.js';
import { able, accept, lastingStore, quiet, waitForStatus } from '../../../support/tasks.js';
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

/** Leaves a task in the store as after a crash of the process. */
async function crash(
  lasting: ReturnType<typeof lastingStore>,
  taskId: unknown,
  attempts: number,
): Promise<void> {
  await lasting.put(taskId, { attempts, status: 'working' });
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

describe('a process that resumes tasks', () => {
  it('resumes the others if an entry cannot be read, and reports which one', async () => {
    const lasting = lastingStore();
    const taskId = await leaveTask(lasting, 'asks');
    for (const [id, entry] of Object.entries({
      '00000000-0000-4000-8000-000000000000': {
        id: '00000000-0000-4000-8000-000000000000',
        status: 'working',
      },
      '00000000-0000-4000-8000-000000000001': { nothing: 1 },
      'ffffffff-ffff-4fff-8fff-ffffffffffff': { id: 'another', status: 'working', open: {}, journal: {} },
    }))
      await lasting.store.set(`task:${id}`, entry);
    const { server, call, logged } = build(lasting.store);
    await server.start();
    await waitForStatus(call, taskId, 'input_required');
    expect(logged).toHaveLength(3);
    expect(logged[0]).toBe(
      "The store's entry task:00000000-0000-4000-8000-000000000000 cannot be read, so its task is not resumed",
    );
    await server.close();
  });

  it('counts an attempt when it runs a task, and takes it back at an orderly shutdown', async () => {
    const lasting = lastingStore();
    const taskId = await leaveTask(lasting, 'hangs');
    expect(await lasting.entry(taskId)).toMatchObject({ attempts: 0 });
    for (let shutdowns = 0; shutdowns < 7; shutdowns++) {
      const { server, effects } = build(lasting.store);
      await server.start();
      await until('it runs', () => effects.length === 1);
      expect(await lasting.entry(taskId)).toMatchObject({ attempts: 1 });
      await server.close();
      expect(await lasting.entry(taskId)).toMatchObject({ attempts: 0, status: 'working' });
    }
  });

  it('fails a task without running it after five processes have died with it', async () => {
    const lasting = lastingStore();
    const taskId = await leaveTask(lasting, 'hangs');
    await crash(lasting, taskId, 4);
    const fifth = build(lasting.store);
    await fifth.server.start();
    await until('it runs', () => fifth.effects.length === 1);
    expect(await lasting.entry(taskId)).toMatchObject({ attempts: 5 });
    const sixth = build(lasting.store);
    await sixth.server.start();
    expect(await waitForStatus(sixth.call, taskId, 'failed')).toMatchObject({
      error: {
        message:
          "The task was started 5 times, and each time the server's process ended before the task made progress.",
      },
    });
    expect(sixth.effects).toEqual([]);
  });

  it('resets the attempts of a task that makes progress, and counts none while the task waits', async () => {
    const lasting = lastingStore();
    const taskId = await leaveTask(lasting, 'asks');
    await crash(lasting, taskId, 3);
    const { server, call } = build(lasting.store);
    await server.start();
    await waitForStatus(call, taskId, 'input_required');
    expect(await lasting.entry(taskId)).toMatchObject({ attempts: 0 });
    await call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'x' }) } });
    await waitForStatus(call, taskId, 'completed');
    expect(await lasting.entry(taskId)).toMatchObject({ attempts: 1 });
    await server.close();
  });

  it('runs tasks that may have killed a process last, one at a time', async () => {
    const lasting = lastingStore();
    const ids: unknown[] = [];
    const first = build(lasting.store);
    for (let n = 0; n < 4; n++)
      ids.push((await first.call('tools/call', { name: 'hangs', arguments: { n } }))['taskId']);
    await first.server.close();
    for (const n of [0, 1]) await crash(lasting, ids[n], 2);
    const hold = signal();
    const { server, effects } = build(lasting.store, { hold: hold.promise });
    await server.start();
    await until('the first suspect runs', () => effects.length === 3);
    expect(effects.slice(0, 2).sort()).toEqual(['hangs 2', 'hangs 3']);
    expect(['hangs 0', 'hangs 1']).toContain(effects[2]);
    await quiet();
    expect(effects).toHaveLength(3);
    await server.close();
    const waiting = effects[2] === 'hangs 0' ? ids[1] : ids[0];
    expect(await lasting.entry(waiting), 'the task that effects not run').toMatchObject({ attempts: 2 });
  });

  it('runs each task once, and a suspect after the others', async () => {
    const lasting = lastingStore();
    const first = build(lasting.store);
    const ids: unknown[] = [];
    for (let n = 0; n < 2; n++)
      ids.push((await first.call('tools/call', { name: 'hangs', arguments: { n } }))['taskId']);
    await first.server.close();
    for (const [n, attempts] of [1, 2].entries()) await crash(lasting, ids[n], attempts);
    const { server, effects } = build(lasting.store);
    await server.start();
    await until('the suspect runs', () => effects.length >= 2);
    await quiet();
    expect(effects).toEqual(['hangs 0', 'hangs 1']);
    await server.close();
  });

  it('starts at most 32 of 100 tasks at a time', async () => {
    const lasting = lastingStore();
    const first = build(lasting.store);
    for (let n = 0; n < 100; n++) await first.call('tools/call', { name: 'hangs', arguments: { n } });
    await first.server.close();
    const { server, effects } = build(lasting.store);
    await server.start();
    await until('some run', () => effects.length > 0);
    await quiet();
    expect(effects.length).toBeLessThanOrEqual(32);
    await until('all run', () => effects.length === 100, 15_000);
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

  it('retries if the store cannot be listed, and cannot cancel a task until then', async () => {
    const lasting = lastingStore();
    const taskId = await leaveTask(lasting, 'asks');
    let isAway = true;
    const store: Store = {
      ...lasting.store,
      async *entries(prefix) {
        if (isAway) throw new Error('The store is away');
        yield* lasting.store.entries(prefix);
      },
    };
    const { server, call, logged } = build(store);
    await server.start();
    expect(logged).toEqual(['Unfinished tasks could not be read from the store. The server retries.']);
    await expect(call('tasks/cancel', { taskId })).rejects.toMatchObject({ code: 'internal_error' });
    isAway = false;
    await waitForStatus(call, taskId, 'input_required');
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
    if (!isEarly) {
      // The process ends after the answer and before the handler has used it.
      const { store } = lasting;
      const entry = await lasting.entry(taskId);
      await first.call('tasks/update', { taskId, inputResponses });
      await waitForStatus(first.call, taskId, 'completed');
      const { journal } = (await lasting.entry(taskId)) as { journal: object };
      await store.set(`task:${taskId}`, { ...entry, open: {}, status: 'working', journal });
    }
    await first.server.close();
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

  it('fails the task if it no longer reaches a recorded step', async () => {
    const lasting = lastingStore();
    const first = version(lasting.store, async (_, ctx) => {
      await ctx.step('charge', () => 7);
      await ctx.ask('sure', files(3));
    });
    const { taskId } = await first.call('tools/call', { name: 'changes' });
    await waitForStatus(first.call, taskId, 'input_required');
    await first.server.close();
    const second = version(lasting.store, () => 'done');
    await second.server.start();
    expect(await waitForStatus(second.call, taskId, 'failed')).toMatchObject({
      error: { message: expect.stringContaining('"charge"') },
    });
    await second.server.close();
  });
});

describe('a task that does not run in this process', () => {
  it('can be read, but neither answered nor cancelled before it has ended', async () => {
    const lasting = lastingStore();
    const here = build(lasting.store);
    await here.server.start();
    const elsewhere = build(lasting.store);
    const { taskId } = await elsewhere.call('tools/call', { name: 'asks', arguments: {} });
    await waitForStatus(here.call, taskId, 'input_required');
    const error = {
      code: 'internal_error',
      message: `The task ${taskId} does not run in this process. Behind a load balancer, send tasks/update and tasks/cancel to the process that runs the task.`,
    };
    const inputResponses = { a: accept({ a: 'x' }) };
    await expect(here.call('tasks/update', { taskId, inputResponses })).rejects.toMatchObject(error);
    await expect(here.call('tasks/cancel', { taskId })).rejects.toMatchObject(error);
    expect(await elsewhere.call('tasks/get', { taskId })).toMatchObject({ status: 'input_required' });
    await elsewhere.call('tasks/cancel', { taskId });
    // A finished task needs no process to run it.
    await here.call('tasks/cancel', { taskId });
    await here.call('tasks/update', { taskId, inputResponses });
    await Promise.all([here.server.close(), elsewhere.server.close()]);
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
