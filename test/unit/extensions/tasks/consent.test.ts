import {
  createServer,
  type InProcess,
  inProcess,
  memoryStore,
  type ServerOptions,
  type Tool,
  tool,
} from 'fullmcp';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { able, waitForStatus } from '../../../support/tasks.js';
import { until } from '../../../support/until.js';

type TasksOptions = NonNullable<ServerOptions['tasks']>;

const ask = (message: string) => ({ message, schema: z.object({ ok: z.boolean() }) });
const yes = { action: 'accept', content: { ok: true } };

/** A server on a store that outlives it, as in a new process. */
function start(store: ReturnType<typeof memoryStore>, run: Tool['run'], tasks: TasksOptions = {}) {
  const { close, ...shared } = store;
  const server = createServer({
    name: 'test',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
    store: { ...shared, close: async () => undefined },
    tasks,
    tools: { t: tool({ task: 'required', run: run as () => unknown }) },
  });
  return { server, call: inProcess(server, able) };
}

const getTask = async (call: InProcess, taskId: unknown) => call('tasks/get', { taskId });

describe('a task whose code has changed between two processes', () => {
  test('does not use an early answer to the old question for the new one', async () => {
    const store = memoryStore();
    const deleted: string[] = [];
    const before = start(store, (_, ctx) => ctx.ask('sure', ask('Delete 3 files?')));
    const { taskId } = await before.call('tools/call', { name: 't' });
    await waitForStatus(before.call, taskId, 'input_required');
    await before.server.close();
    let go!: () => void;
    const reading = new Promise<void>((resolve) => {
      go = resolve;
    });
    const after = start(store, async (_, ctx) => {
      await reading;
      await ctx.ask('sure', ask('Delete 3000 files?'));
      return ctx.step('delete', () => deleted.push('3000'));
    });
    // The client is faster than the handler: it answers the old question.
    await after.call('tasks/update', { taskId, inputResponses: { sure: yes } });
    go();
    const task = await waitForStatus(after.call, taskId, 'input_required');
    expect(task['inputRequests']).toMatchObject({ sure: { params: { message: 'Delete 3000 files?' } } });
    expect(deleted).toEqual([]);
    await after.call('tasks/update', { taskId, inputResponses: { sure: yes } });
    await waitForStatus(after.call, taskId, 'completed');
    expect(deleted).toEqual(['3000']);
    await after.server.close();
  });

  test('does not use a stored answer to the old question, and asks the new one', async () => {
    const store = memoryStore();
    const before = start(store, async (_, ctx) => {
      await ctx.ask('sure', ask('Delete 3 files?'));
      await ctx.ask('really', ask('Really?'));
    });
    const { taskId } = await before.call('tools/call', { name: 't' });
    await waitForStatus(before.call, taskId, 'input_required');
    await before.call('tasks/update', { taskId, inputResponses: { sure: yes } });
    await until('the second question is open', async () =>
      Object.hasOwn(((await getTask(before.call, taskId))['inputRequests'] ?? {}) as object, 'really'),
    );
    await before.server.close();
    const after = start(store, async (_, ctx) => {
      await ctx.ask('sure', ask('Delete 3000 files?'));
      await ctx.ask('really', ask('Really?'));
    });
    // A task that waits runs again when it has an answer.
    await after.call('tasks/update', { taskId, inputResponses: { really: yes } });
    await until('the changed question is open', async () =>
      Object.hasOwn(((await getTask(after.call, taskId))['inputRequests'] ?? {}) as object, 'sure'),
    );
    await after.server.close();
  });

  test('does not use an answer to the old question that arrives after the new one was asked', async () => {
    const store = memoryStore();
    const deleted: string[] = [];
    const both = (count: number): Tool['run'] =>
      (async (
        _: unknown,
        ctx: {
          ask: (key: string, question: object) => Promise<unknown>;
          step: (key: string, work: () => unknown) => unknown;
        },
      ) => {
        await Promise.all([ctx.ask('sure', ask(`Delete ${count} files?`)), ctx.ask('other', ask('Other?'))]);
        return ctx.step('delete', () => deleted.push(String(count)));
      }) as Tool['run'];
    const before = start(store, both(3));
    const { taskId } = await before.call('tools/call', { name: 't' });
    await waitForStatus(before.call, taskId, 'input_required');
    await before.server.close();
    // Another process has read the old question, and its write takes long.
    let go!: () => void;
    const writing = new Promise<void>((resolve) => {
      go = resolve;
    });
    const slow = start(
      {
        ...store,
        claim: async () => [],
        write: async (...args) => {
          await writing;
          return store.write(...args);
        },
      },
      both(3),
    );
    const answering = slow.call('tasks/update', { taskId, inputResponses: { sure: yes } });
    const after = start(store, both(3000), { leaseMs: 300 });
    await after.call('tasks/update', { taskId, inputResponses: { other: yes } });
    await until('the new question is open', async () =>
      JSON.stringify((await getTask(after.call, taskId))['inputRequests'] ?? '').includes('3000'),
    );
    go();
    await answering;
    const answered = performance.now();
    await until('the answer was looked at', () => performance.now() - answered > 300);
    expect(await getTask(after.call, taskId)).toMatchObject({ status: 'input_required' });
    expect(deleted).toEqual([]);
    await after.call('tasks/update', { taskId, inputResponses: { sure: yes } });
    await waitForStatus(after.call, taskId, 'completed');
    expect(deleted).toEqual(['3000']);
    await Promise.all([after.server.close(), slow.server.close()]);
  });

  test.each([
    ['returns', async () => 'done'],
    [
      'asks something else',
      async (_: unknown, ctx: { ask: (key: string, question: object) => unknown }) =>
        ctx.ask('other', ask('Other?')),
    ],
  ])(
    'fails at once with the name of the step that it no longer reaches, when it %s and no other process is alive',
    async (_, run) => {
      const store = memoryStore();
      const handedBack: number[] = [];
      const watched: typeof store = {
        ...store,
        write(changes, options) {
          for (const change of changes)
            if (change.do === 'release' && change.inMs < 60_000) handedBack.push(change.inMs);
          return store.write(changes, options);
        },
      };
      const before = start(store, async (_input, ctx) => {
        await ctx.step('charge', () => 1);
        await ctx.ask('sure', ask('Sure?'));
      });
      const { taskId } = await before.call('tools/call', { name: 't' });
      await waitForStatus(before.call, taskId, 'input_required');
      await before.server.close();
      const after = start(watched, run as Tool['run']);
      await after.call('tasks/update', { taskId, inputResponses: { sure: yes } });
      const failed = await waitForStatus(after.call, taskId, 'failed');
      expect(failed['error']).toMatchObject({
        message: expect.stringContaining('did not reach "charge" again'),
      });
      expect(handedBack).toEqual([]);
      await after.server.close();
    },
  );
});
