import { type Context, createServer, inProcess, McpError, type Store, tool } from 'fullmcp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { signal } from '../../../support/signal.js';
import { able, accept, keptStore, quiet, reached } from '../../../support/tasks.js';
import { until } from '../../../support/until.js';

// How the next process treats the tasks of the last one.

function build(store: Store, options: { user?: () => unknown; hold?: Promise<void> } = {}) {
  const did: string[] = [];
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
          did.push(`hangs ${n}`);
          await options.hold;
          await new Promise((_, reject) => aborted.addEventListener('abort', () => reject(aborted.reason)));
        },
      }),
      asks: tool({
        task: 'required',
        run: async (_, ctx) => {
          await ctx.step('first', () => did.push('first'));
          const { a } = await ctx.ask('a', { message: 'a', schema: z.object({ a: z.string() }) });
          await ctx.step('second', () => did.push('second'));
          return a;
        },
      }),
    },
  });
  return { server, call: inProcess(server, able), did, logged };
}

/** As after a crash of the process: only the contents of the store are left. */
async function crashed(kept: ReturnType<typeof keptStore>, taskId: unknown, attempts: number): Promise<void> {
  await kept.put(taskId, { attempts, status: 'working' });
}

async function left(kept: ReturnType<typeof keptStore>, name: string, args: object = {}): Promise<unknown> {
  const first = build(kept.store);
  const { taskId } = await first.call('tools/call', { name, arguments: args });
  await first.server.close();
  return taskId;
}

describe('a process that resumes tasks', () => {
  it('resumes the others if an entry cannot be read, and reports which one', async () => {
    const kept = keptStore();
    const taskId = await left(kept, 'asks');
    for (const [id, entry] of Object.entries({
      '00000000-0000-4000-8000-000000000000': {
        id: '00000000-0000-4000-8000-000000000000',
        status: 'working',
      },
      '00000000-0000-4000-8000-000000000001': { nothing: 1 },
      'ffffffff-ffff-4fff-8fff-ffffffffffff': { id: 'another', status: 'working', open: {}, journal: {} },
    }))
      await kept.store.set(`task:${id}`, entry);
    const { server, call, logged } = build(kept.store);
    await server.start();
    await reached(call, taskId, 'input_required');
    expect(logged).toHaveLength(3);
    expect(logged[0]).toBe(
      'The entry task:00000000-0000-4000-8000-000000000000 cannot be read, and is skipped',
    );
    await server.close();
  });

  it('counts an attempt before it runs a task, and none after an orderly end', async () => {
    const kept = keptStore();
    const taskId = await left(kept, 'hangs');
    expect(await kept.entry(taskId)).toMatchObject({ attempts: 0 });
    for (let shutdowns = 0; shutdowns < 7; shutdowns++) {
      const { server, did } = build(kept.store);
      await server.start();
      await until('it runs', () => did.length === 1);
      expect(await kept.entry(taskId)).toMatchObject({ attempts: 1 });
      await server.close();
      expect(await kept.entry(taskId)).toMatchObject({ attempts: 0, status: 'working' });
    }
  });

  it('does not run a task again after five processes have died with it', async () => {
    const kept = keptStore();
    const taskId = await left(kept, 'hangs');
    await crashed(kept, taskId, 4);
    const fifth = build(kept.store);
    await fifth.server.start();
    await until('it runs', () => fifth.did.length === 1);
    expect(await kept.entry(taskId)).toMatchObject({ attempts: 5 });
    const sixth = build(kept.store);
    await sixth.server.start();
    expect(await reached(sixth.call, taskId, 'failed')).toMatchObject({
      error: {
        message:
          "The task was started 5 times, and each time the server's process ended before the task made progress.",
      },
    });
    expect(sixth.did).toEqual([]);
  });

  it('resets the count for a task that makes progress, and does not count one that waits', async () => {
    const kept = keptStore();
    const taskId = await left(kept, 'asks');
    await crashed(kept, taskId, 3);
    const { server, call } = build(kept.store);
    await server.start();
    await reached(call, taskId, 'input_required');
    expect(await kept.entry(taskId)).toMatchObject({ attempts: 0 });
    await call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'x' }) } });
    await reached(call, taskId, 'completed');
    expect(await kept.entry(taskId)).toMatchObject({ attempts: 1 });
    await server.close();
  });

  it('runs tasks that may have killed a process last, one at a time', async () => {
    const kept = keptStore();
    const ids: unknown[] = [];
    const first = build(kept.store);
    for (let n = 0; n < 4; n++)
      ids.push((await first.call('tools/call', { name: 'hangs', arguments: { n } }))['taskId']);
    await first.server.close();
    for (const n of [0, 1]) await crashed(kept, ids[n], 2);
    const hold = signal();
    const { server, did } = build(kept.store, { hold: hold.promise });
    await server.start();
    await until('the first suspect runs', () => did.length === 3);
    expect(did.slice(0, 2).sort()).toEqual(['hangs 2', 'hangs 3']);
    expect(['hangs 0', 'hangs 1']).toContain(did[2]);
    await quiet();
    expect(did).toHaveLength(3);
    await server.close();
    const waiting = did[2] === 'hangs 0' ? ids[1] : ids[0];
    expect(await kept.entry(waiting), 'the one that was not run').toMatchObject({ attempts: 2 });
  });

  it('runs each task once, even a slow one', async () => {
    const kept = keptStore();
    const first = build(kept.store);
    const ids: unknown[] = [];
    for (let n = 0; n < 2; n++)
      ids.push((await first.call('tools/call', { name: 'hangs', arguments: { n } }))['taskId']);
    await first.server.close();
    for (const [n, attempts] of [1, 2].entries()) await crashed(kept, ids[n], attempts);
    const { server, did } = build(kept.store);
    await server.start();
    await until('the suspect runs', () => did.length >= 2);
    await quiet();
    expect(did).toEqual(['hangs 0', 'hangs 1']);
    await server.close();
  });

  it('starts only a few tasks at a time', async () => {
    const kept = keptStore();
    const first = build(kept.store);
    for (let n = 0; n < 100; n++) await first.call('tools/call', { name: 'hangs', arguments: { n } });
    await first.server.close();
    const { server, did } = build(kept.store);
    await server.start();
    await until('some run', () => did.length > 0);
    await quiet();
    expect(did.length).toBeLessThanOrEqual(32);
    await until('all run', () => did.length === 100, 15_000);
    await server.close();
  });

  it('retries failures before the handler runs, and reports them', async () => {
    const kept = keptStore();
    const taskId = await left(kept, 'asks');
    let failures = 3;
    const { server, call, logged } = build(kept.store, {
      user: () => {
        if (failures-- > 0) throw new Error('No database');
      },
    });
    await server.start();
    await until('it has failed once', () => failures < 3);
    await reached(call, taskId, 'input_required');
    expect(failures).toBeLessThan(0);
    expect(
      logged.filter((line) => /^Task .* \(asks\) cannot run yet, and is retried$/.test(line)),
    ).toHaveLength(3);
    await call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'x' }) } });
    expect(await reached(call, taskId, 'completed')).toMatchObject({ result: { content: [{ text: 'x' }] } });
    await server.close();
  });

  it('fails a task whose caller is rejected on purpose', async () => {
    const kept = keptStore();
    const taskId = await left(kept, 'asks');
    const { server, call } = build(kept.store, {
      user: () => {
        throw new McpError('forbidden', 'This account is closed');
      },
    });
    await server.start();
    expect(await reached(call, taskId, 'failed')).toMatchObject({
      error: { message: 'This account is closed' },
    });
    await server.close();
  });

  it('retries if the store cannot be listed', async () => {
    const kept = keptStore();
    const taskId = await left(kept, 'asks');
    let isAway = true;
    const store: Store = {
      ...kept.store,
      async *entries(prefix) {
        if (isAway) throw new Error('The store is away');
        yield* kept.store.entries(prefix);
      },
    };
    const { server, call, logged } = build(store);
    await server.start();
    expect(logged).toEqual(['Unfinished tasks could not be resumed']);
    await expect(call('tasks/cancel', { taskId })).rejects.toMatchObject({ code: 'internal_error' });
    isAway = false;
    await reached(call, taskId, 'input_required');
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
    ['before the handler has come to its question', true],
    ['after', false],
  ])('gets an answer only to the question that was shown: %s', async (_, isEarly) => {
    const kept = keptStore();
    const first = version(kept.store, (_, ctx) => ctx.ask('sure', files(3)));
    const { taskId } = await first.call('tools/call', { name: 'changes' });
    await reached(first.call, taskId, 'input_required');
    const inputResponses = { sure: accept({ ok: true }) };
    if (!isEarly) {
      // The process ends after the answer and before the handler has used it.
      const { store } = kept;
      const entry = await kept.entry(taskId);
      await first.call('tasks/update', { taskId, inputResponses });
      await reached(first.call, taskId, 'completed');
      const { journal } = (await kept.entry(taskId)) as { journal: object };
      await store.set(`task:${taskId}`, { ...entry, open: {}, status: 'working', journal });
    }
    await first.server.close();
    const gate = signal();
    const done: unknown[] = [];
    const second = version(kept.store, async (_, ctx) => {
      await gate.promise;
      done.push(await ctx.ask('sure', files(3000)));
    });
    await second.server.start();
    if (isEarly) await second.call('tasks/update', { taskId, inputResponses });
    gate.give();
    const asked = await reached(second.call, taskId, 'input_required');
    expect(asked).toMatchObject({ inputRequests: { sure: { params: { message: 'Delete 3000 files?' } } } });
    expect(done).toEqual([]);
    await second.call('tasks/update', { taskId, inputResponses });
    await reached(second.call, taskId, 'completed');
    expect(done).toEqual([{ ok: true }]);
    await second.server.close();
  });

  it('fails the task if it no longer reaches a recorded step', async () => {
    const kept = keptStore();
    const first = version(kept.store, async (_, ctx) => {
      await ctx.step('charge', () => 7);
      await ctx.ask('sure', files(3));
    });
    const { taskId } = await first.call('tools/call', { name: 'changes' });
    await reached(first.call, taskId, 'input_required');
    await first.server.close();
    const second = version(kept.store, () => 'done');
    await second.server.start();
    expect(await reached(second.call, taskId, 'failed')).toMatchObject({
      error: { message: expect.stringContaining('"charge"') },
    });
    await second.server.close();
  });
});

describe('a task that does not run in this process', () => {
  it('can be read, but neither answered nor cancelled', async () => {
    const kept = keptStore();
    const here = build(kept.store);
    await here.server.start();
    const elsewhere = build(kept.store);
    const { taskId } = await elsewhere.call('tools/call', { name: 'asks', arguments: {} });
    await reached(here.call, taskId, 'input_required');
    const refused = {
      code: 'internal_error',
      message: `The task ${taskId} does not run in this process. Answer or cancel it in the process that runs it.`,
    };
    const inputResponses = { a: accept({ a: 'x' }) };
    await expect(here.call('tasks/update', { taskId, inputResponses })).rejects.toMatchObject(refused);
    await expect(here.call('tasks/cancel', { taskId })).rejects.toMatchObject(refused);
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
    ['a long text', 'x'.repeat(5000)],
    ['a path', '../../etc/passwd'],
    ['an id in capitals', '00000000-0000-4000-8000-00000000000A'],
    ['nothing', ''],
  ])('is unknown if it is %s', async (_, taskId) => {
    const { call, logged } = build(keptStore().store);
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
      await expect(call(method, { taskId, inputResponses: {} })).rejects.toMatchObject({
        code: 'invalid_params',
        message: `Unknown task: ${taskId.slice(0, 64)}`,
      });
    expect(logged).toEqual([]);
  });

  it.each([[{ toString: 1 }], [null], [17], [['a']], [undefined]])(
    'must be a string, not %j',
    async (taskId) => {
      const { call, logged } = build(keptStore().store);
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
        await expect(call(method, { taskId, inputResponses: {} })).rejects.toMatchObject({
          code: 'invalid_params',
          message: 'params.taskId must be a string',
        });
      expect(logged).toEqual([]);
    },
  );
});
