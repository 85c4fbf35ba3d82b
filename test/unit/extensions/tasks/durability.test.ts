import { createServer, inProcess, memoryStore, type Store, tool } from 'fullmcp';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { signal } from '../../../support/signal.js';
import { able, accept, quiet, readStoredTask, waitForStatus } from '../../../support/tasks.js';

// The promises of a task to its observers: every reported state is in the store, and each step runs once.

const form = (key: string) => ({ message: key, schema: z.object({ [key]: z.string() }) });

/** A store that outlives its servers, and whose writes can be delayed or made to fail. */
function testStore() {
  const inner = memoryStore();
  const state = { writes: Promise.resolve(), failing: false };
  const store: Store = {
    ...inner,
    async write(changes, options) {
      const copy = structuredClone(changes);
      await state.writes;
      if (state.failing) throw new Error('The disk is full');
      return inner.write(copy, options);
    },
    close: async () => undefined,
  };
  return { store, state, entry: (taskId: unknown) => readStoredTask(inner, taskId) };
}

function build(store: Store, gates: Record<string, Promise<void>> = {}) {
  const effects: string[] = [];
  const logged: string[] = [];
  const gate = (name: string): Promise<void> => gates[name] ?? Promise.resolve();
  const server = createServer({
    name: 'test',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: (_, message) => void logged.push(message),
    store,
    tools: {
      asks: tool({
        task: 'optional',
        run: async (_, ctx) => {
          effects.push('began');
          await gate('before');
          const { a } = (await ctx.ask('a', form('a'))) as { a: string };
          effects.push('answered');
          await gate('after');
          return a;
        },
      }),
      stubborn: tool({
        task: 'optional',
        run: async (_, ctx) => {
          await gate('before');
          try {
            return await ctx.ask('a', form('a'));
          } finally {
            effects.push('let go');
          }
        },
      }),
      works: tool({
        task: 'optional',
        run: async () => {
          effects.push('worked');
          await gate('before');
        },
      }),
      beside: tool({
        task: 'optional',
        run: async (_, ctx) => {
          const slow = gate('step').then(() => ctx.step('slow', () => effects.push('slow')));
          await Promise.all([ctx.ask('a', form('a')), slow]);
          return 'done';
        },
      }),
      later: tool({
        task: 'optional',
        run: async (_, ctx) => {
          const second = gate('second').then(() => ctx.ask('b', form('b')));
          const [{ a }, { b }] = (await Promise.all([ctx.ask('a', form('a')), second])) as [
            { a: string },
            { b: string },
          ];
          return a + b;
        },
      }),
    },
  });
  return { server, call: inProcess(server, able), effects, logged };
}

describe('a resumed task', () => {
  /** A task that waits for `a`, in a new process whose handler has not reached the question yet. */
  async function resumeTask() {
    const { store, entry } = testStore();
    const first = build(store);
    const { taskId } = await first.call('tools/call', { name: 'asks' });
    await waitForStatus(first.call, taskId, 'input_required');
    await first.server.close();
    const before = signal();
    const second = build(store, { before: before.promise });
    await second.server.start();
    return { ...second, taskId, before, entry };
  }

  it('accepts an answer before its handler has reached the question', async () => {
    const { call, taskId, before, entry } = await resumeTask();
    expect(await waitForStatus(call, taskId, 'input_required')).toMatchObject({ inputRequests: { a: {} } });
    await call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'early' }) } });
    expect(await call('tasks/get', { taskId })).toMatchObject({ status: 'working' });
    expect((await entry(taskId))?.answers).toEqual([['a', accept({ a: 'early' })]]);
    before.give();
    expect(await waitForStatus(call, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'early' }] },
    });
  });

  it('asks again if an answer before the question is invalid', async () => {
    const { call, taskId, before } = await resumeTask();
    await call('tasks/update', { taskId, inputResponses: { a: accept({ a: 17 }), other: accept({}) } });
    before.give();
    expect(await waitForStatus(call, taskId, 'input_required')).toMatchObject({ inputRequests: { a: {} } });
    await call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'now' }) } });
    expect(await waitForStatus(call, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'now' }] },
    });
  });
});

describe('a task', () => {
  it('begins only when it is saved', async () => {
    const { store, state } = testStore();
    const writes = signal();
    state.writes = writes.promise;
    const { call, effects } = build(store);
    const making = call('tools/call', { name: 'asks' });
    await quiet();
    expect(effects).toEqual([]);
    writes.give();
    await making;
    await vi.waitFor(() => expect(effects).toEqual(['began']));
  });

  it('does not begin if it cannot be saved', async () => {
    const { store, state } = testStore();
    const { call, effects, logged } = build(store);
    state.failing = true;
    await expect(call('tools/call', { name: 'asks' })).rejects.toMatchObject({
      code: 'overloaded',
      message: 'The task could not be saved. Try again later.',
    });
    expect(effects).toEqual([]);
    // The entry of this process in the store fails, too.
    const ofTasks = logged.filter((line) => line.startsWith('Task'));
    expect(ofTasks).toEqual([expect.stringMatching(/^Task .* could not be saved$/)]);
    state.failing = false;
    expect(await call('tools/call', { name: 'asks' })).toMatchObject({ resultType: 'task' });
  });

  it('continues only when the answer is saved', async () => {
    const { store, state } = testStore();
    const { call, effects } = build(store);
    const { taskId } = await call('tools/call', { name: 'asks' });
    await waitForStatus(call, taskId, 'input_required');
    const writes = signal();
    state.writes = writes.promise;
    const updating = call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'x' }) } });
    await quiet();
    expect(effects).toEqual(['began']);
    writes.give();
    await updating;
    await vi.waitFor(() => expect(effects).toEqual(['began', 'answered']));
  });

  it('does not acknowledge an answer that cannot be saved', async () => {
    const { store, state } = testStore();
    const { call } = build(store);
    const { taskId } = await call('tools/call', { name: 'asks' });
    await waitForStatus(call, taskId, 'input_required');
    state.failing = true;
    await expect(
      call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'x' }) } }),
    ).rejects.toMatchObject({
      code: 'overloaded',
      message: 'The answers could not be saved, and the questions are open again. Try again later.',
    });
  });

  it('is not reported as completed before its completion is saved', async () => {
    const { store, state, entry } = testStore();
    const after = signal();
    const { call } = build(store, { after: after.promise });
    const { taskId } = await call('tools/call', { name: 'asks' });
    await waitForStatus(call, taskId, 'input_required');
    await call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'x' }) } });
    const writes = signal();
    state.writes = writes.promise;
    after.give();
    await quiet();
    expect(await call('tasks/get', { taskId })).toMatchObject({ status: 'working' });
    expect((await entry(taskId))?.status).not.toBe('completed');
    writes.give();
    await waitForStatus(call, taskId, 'completed');
    expect((await entry(taskId))?.status).toBe('completed');
  });

  it('saves a step that ends while an answer arrives', async () => {
    const { store, state, entry } = testStore();
    const step = signal();
    const { call, effects } = build(store, { step: step.promise });
    const { taskId } = await call('tools/call', { name: 'beside' });
    await waitForStatus(call, taskId, 'input_required');
    const writes = signal();
    state.writes = writes.promise;
    step.give();
    await vi.waitFor(() => expect(effects).toEqual(['slow']));
    const updating = call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'x' }) } });
    await quiet();
    // The first write is that of the step; later writes may never happen.
    const next = signal();
    state.writes = next.promise;
    writes.give();
    await quiet();
    expect(await entry(taskId)).toMatchObject({ steps: [['slow', 1]] });
    next.give();
    await updating;
    await waitForStatus(call, taskId, 'completed');
  });

  it('asks a new question while an answer to another arrives', async () => {
    const { store } = testStore();
    const second = signal();
    const { call } = build(store, { second: second.promise });
    const { taskId } = await call('tools/call', { name: 'later' });
    await waitForStatus(call, taskId, 'input_required');
    second.give();
    await call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'x' }) } });
    expect(await waitForStatus(call, taskId, 'input_required')).toMatchObject({ inputRequests: { b: {} } });
    await call('tasks/update', { taskId, inputResponses: { b: accept({ b: 'y' }) } });
    expect(await waitForStatus(call, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'xy' }] },
    });
  });

  it('that is cancelled stays cancelled: a later question ends the handler', async () => {
    const { store, entry } = testStore();
    const before = signal();
    const { call, effects } = build(store, { before: before.promise });
    const { taskId } = await call('tools/call', { name: 'stubborn' });
    await call('tasks/cancel', { taskId });
    before.give();
    await vi.waitFor(() => expect(effects).toEqual(['let go']));
    await quiet();
    expect(await call('tasks/get', { taskId })).toMatchObject({ status: 'cancelled' });
    expect((await entry(taskId))?.status).toBe('cancelled');
  });

  it('logs nothing when it is cancelled or the server closes', async () => {
    const { store } = testStore();
    const { call, server, logged } = build(store);
    for (const end of [(taskId: unknown) => call('tasks/cancel', { taskId }), () => server.close()]) {
      const { taskId } = await call('tools/call', { name: 'asks' });
      await waitForStatus(call, taskId, 'input_required');
      await end(taskId);
      await quiet();
    }
    expect(logged).toEqual([]);
  });
});
