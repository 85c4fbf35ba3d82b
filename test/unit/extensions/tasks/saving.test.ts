import { createServer, inProcess, memoryStore, type ServerOptions, type Store, tool } from 'fullmcp';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { signal } from '../../../support/signal.js';
import { able, accept, lastingStore, quiet, waitForStatus } from '../../../support/tasks.js';
import { until } from '../../../support/until.js';

type TasksOptions = NonNullable<ServerOptions['tasks']>;

// The writes of tasks to the store: how often, and how much.

afterEach(() => void vi.useRealTimers());

const subject = (name: string) => ({ ...able, caller: { subject: name, scopes: [], claims: {} } });

function build(store: Store, tasks: TasksOptions = {}, gates: Record<string, Promise<void>> = {}) {
  const effects: string[] = [];
  const logged: string[] = [];
  const server = createServer({
    name: 'test',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: (_, message) => void logged.push(message),
    store,
    tasks,
    tools: {
      reports: tool({
        task: 'required',
        input: z.object({ count: z.number() }),
        run: async ({ count }, { progress }) => {
          for (let n = 1; n <= count; n++) progress(n, count);
          await gates['end'];
          return 'done';
        },
      }),
      steps: tool({
        task: 'required',
        input: z.object({
          count: z.number(),
          bytes: z.number().default(1),
          beside: z.boolean().default(false),
        }),
        run: async ({ count, bytes, beside }, ctx) => {
          const step = (n: number) =>
            ctx.step(`step ${n}`, () => {
              effects.push(`step ${n}`);
              return 'x'.repeat(bytes);
            });
          const all = Array.from({ length: count }, (_, n) => n);
          if (beside) await Promise.all(all.map(step));
          else
            for (const n of all) {
              await step(n);
              ctx.progress(n + 1, count);
            }
          return 'done';
        },
      }),
      large: tool({
        task: 'required',
        input: z.object({ bytes: z.number() }),
        run: async ({ bytes }, ctx) => {
          await ctx.step('before', () => effects.push('before'));
          return 'x'.repeat(bytes);
        },
      }),
      asks: tool({
        task: 'required',
        run: async (_, ctx) => {
          await gates['ask'];
          const { a } = await ctx.ask('a', { message: 'a', schema: z.object({ a: z.string() }) });
          effects.push(a.slice(0, 10));
          return a.slice(0, 10);
        },
      }),
      hangs: tool({
        task: 'required',
        input: z.object({ text: z.string().default('') }),
        run: (_, { signal: aborted }) =>
          new Promise((_resolve, reject) => aborted.addEventListener('abort', () => reject(aborted.reason))),
      }),
      later: tool({
        task: { support: 'required', start: 'on-background' },
        run: async (_, ctx) => {
          await ctx.step('before', () => effects.push('before'));
          await ctx.background();
          await ctx.step('after', () => effects.push('after'));
          return 'done';
        },
      }),
    },
  });
  return { server, call: inProcess(server, able), effects, logged };
}

describe('the writes of a task', () => {
  it('are fewer than ten for 10,000 reports of progress', async () => {
    const lasting = lastingStore();
    const end = signal();
    const { call, server } = build(lasting.store, {}, { end: end.promise });
    const { taskId } = await call('tools/call', { name: 'reports', arguments: { count: 10_000 } });
    await until(
      'the last report is visible',
      async () => (await call('tasks/get', { taskId }))['statusMessage'] === '10000/10000',
    );
    expect(lasting.writes.length).toBeLessThan(10);
    end.give();
    await waitForStatus(call, taskId, 'completed');
    await server.close();
  });

  it('are one for each sequential step, and few for the reports between them', async () => {
    const lasting = lastingStore();
    const { call, server } = build(lasting.store);
    const { taskId } = await call('tools/call', { name: 'steps', arguments: { count: 200 } });
    await waitForStatus(call, taskId, 'completed');
    // The beginning, the end, each step, and now and then a separate report.
    expect(lasting.writes.length).toBeGreaterThanOrEqual(202);
    expect(lasting.writes.length).toBeLessThan(202 + 100);
    await server.close();
  });

  it('are fewer than 20 for 200 parallel steps', async () => {
    const lasting = lastingStore();
    const { call, server } = build(lasting.store);
    const args = { count: 200, beside: true };
    const { taskId } = await call('tools/call', { name: 'steps', arguments: args });
    await waitForStatus(call, taskId, 'completed');
    expect(lasting.writes.length).toBeLessThan(20);
    await server.close();
  });

  it('do not block a reader, who sees the state that was written last', async () => {
    const lasting = lastingStore();
    let hold: Promise<void> = Promise.resolve();
    const store: Store = {
      ...lasting.store,
      async write(...args) {
        await hold;
        return lasting.store.write(...args);
      },
    };
    const { call, server } = build(store);
    const { taskId } = await call('tools/call', { name: 'asks' });
    await waitForStatus(call, taskId, 'input_required');
    const writes = signal();
    hold = writes.promise;
    const answering = call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'x' }) } });
    const cancelling = call('tasks/cancel', { taskId });
    await quiet();
    const task = await call('tasks/get', { taskId });
    expect(task).toMatchObject({ status: 'input_required', inputRequests: { a: {} } });
    writes.give();
    await Promise.all([answering, cancelling]);
    const { status } = await call('tasks/get', { taskId });
    expect((await lasting.entry(taskId)).status).toBe(status);
    await server.close();
  });
});

describe('a task whose result cannot be stored', () => {
  it('fails with an explanation if the result is too large', async () => {
    const lasting = lastingStore();
    const { call, server, logged, effects } = build(lasting.store, { maxTaskBytes: 5000 });
    const { taskId } = await call('tools/call', { name: 'large', arguments: { bytes: 10_000 } });
    expect(await waitForStatus(call, taskId, 'failed')).toMatchObject({
      error: {
        message: expect.stringMatching(
          /^The result cannot be saved\. The task has \d+ bytes; the limit is 5000 \(tasks\.maxTaskBytes\)\.$/,
        ),
      },
    });
    expect(await lasting.entry(taskId)).toMatchObject({ status: 'failed' });
    expect(logged).toEqual([expect.stringMatching(/^The result of task .* \(large\) cannot be saved$/)]);
    expect(effects).toEqual(['before']);
    await server.close();
  });

  it('fails if the store reports that it will never have room for the result', async () => {
    const inner = memoryStore();
    const store: Store = {
      ...inner,
      async write(changes, options) {
        for (const change of changes) {
          const length = change.do === 'put' ? JSON.stringify(change.value).length : 0;
          if (length > 5000)
            throw new RangeError(`An entry may have 5000 bytes, and this one has ${length}.`);
        }
        return inner.write(changes, options);
      },
    };
    const { call, server } = build(store);
    const { taskId } = await call('tools/call', { name: 'large', arguments: { bytes: 10_000 } });
    expect(await waitForStatus(call, taskId, 'failed')).toMatchObject({
      error: { message: expect.stringMatching(/^The result cannot be saved\. An entry may have 5000 bytes/) },
    });
    await server.close();
  });

  it('fails if its steps have returned too much', async () => {
    const { call, server, effects } = build(lastingStore().store, { maxTaskBytes: 5000 });
    const args = { count: 10, bytes: 2000 };
    const { taskId } = await call('tools/call', { name: 'steps', arguments: args });
    expect(await waitForStatus(call, taskId, 'failed')).toMatchObject({
      error: { message: expect.stringMatching(/the limit is 5000/) },
    });
    expect(effects).toEqual(['step 0', 'step 1', 'step 2']);
    await server.close();
  });
});

describe('the answers to a task', () => {
  it('are limited in total, and the question stays open', async () => {
    const { call, server, effects } = build(lastingStore().store, { maxAnswerBytes: 1000 });
    const { taskId } = await call('tools/call', { name: 'asks' });
    await waitForStatus(call, taskId, 'input_required');
    await expect(
      call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'x'.repeat(2000) }) } }),
    ).rejects.toMatchObject({
      code: 'invalid_params',
      message: expect.stringMatching(/^The answers to this task have \d+ bytes; the limit is 1000/),
    });
    await waitForStatus(call, taskId, 'input_required');
    await call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'short' }) } });
    await waitForStatus(call, taskId, 'completed');
    expect(effects).toEqual(['short']);
    await server.close();
  });

  it('are limited in total, those included that did not fit the question', async () => {
    const { call, server, effects } = build(lastingStore().store, { maxAnswerBytes: 1000 });
    const { taskId } = await call('tools/call', { name: 'asks' });
    await waitForStatus(call, taskId, 'input_required');
    const answer = (content: object) =>
      call('tasks/update', { taskId, inputResponses: { a: accept(content) } });
    await answer({ b: 'x'.repeat(500) });
    await waitForStatus(call, taskId, 'input_required');
    await expect(answer({ a: 'x'.repeat(500) })).rejects.toMatchObject({
      message: expect.stringMatching(/^The answers to this task have 1\d{3} bytes; the limit is 1000/),
    });
    await answer({ a: 'short' });
    await waitForStatus(call, taskId, 'completed');
    expect(effects).toEqual(['short']);
    await server.close();
  });

  it('that cannot be saved do not reach a handler that has not asked yet', async () => {
    const lasting = lastingStore();
    const first = build(lasting.store);
    const { taskId } = await first.call('tools/call', { name: 'asks' });
    await waitForStatus(first.call, taskId, 'input_required');
    await first.server.close();
    const { server, call, effects } = build(lasting.store);
    await server.start();
    lasting.failing = true;
    const answering = call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'early' }) } });
    await expect(answering).rejects.toMatchObject({ code: 'overloaded' });
    await quiet();
    expect(effects).toEqual([]);
    lasting.failing = false;
    await waitForStatus(call, taskId, 'input_required');
    await call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'late' }) } });
    await waitForStatus(call, taskId, 'completed');
    expect(effects).toEqual(['late']);
    await server.close();
  });

  it('are no longer asked for once they are saved, even before the handler has reached the question', async () => {
    const lasting = lastingStore();
    const first = build(lasting.store);
    const { taskId } = await first.call('tools/call', { name: 'asks' });
    await waitForStatus(first.call, taskId, 'input_required');
    await first.server.close();
    const ask = signal();
    const { server, call, effects } = build(lasting.store, {}, { ask: ask.promise });
    await call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'early' }) } });
    expect(await call('tasks/get', { taskId })).toMatchObject({ status: 'working' });
    ask.give();
    await waitForStatus(call, taskId, 'completed');
    expect(effects).toEqual(['early']);
    await server.close();
  });

  it('of two clients are rejected if they cannot be saved, and only the first counts otherwise', async () => {
    const lasting = lastingStore();
    const { call, server, effects } = build(lasting.store);
    const { taskId } = await call('tools/call', { name: 'asks' });
    await waitForStatus(call, taskId, 'input_required');
    const give = (a: string) => call('tasks/update', { taskId, inputResponses: { a: accept({ a }) } });
    lasting.failing = true;
    const both = await Promise.allSettled([give('x'), give('y')]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    lasting.failing = false;
    await Promise.all([give('x'), give('y')]);
    await waitForStatus(call, taskId, 'completed');
    // Nobody knows which of two requests arrives first.
    expect([['x'], ['y']]).toContainEqual(effects);
    await server.close();
  });
});

describe('ctx.background() for a task that cannot be saved', () => {
  it('fails the call, and the handler does not continue', async () => {
    const lasting = lastingStore();
    const { call, server, effects } = build(lasting.store);
    lasting.failing = true;
    const failed = call('tools/call', { name: 'later' });
    await expect(failed).rejects.toMatchObject({ code: 'overloaded' });
    expect(effects).toEqual(['before']);
    lasting.failing = false;
    const { taskId } = await call('tools/call', { name: 'later' });
    await waitForStatus(call, taskId, 'completed');
    expect(effects).toEqual(['before', 'before', 'after']);
    await server.close();
  });
});

describe('a caller of tasks', () => {
  it('has a limit on unfinished tasks, which does not affect other callers', async () => {
    const { server } = build(lastingStore().store, { maxTasksPerCaller: 3 });
    const [ann, bob] = [inProcess(server, subject('ann')), inProcess(server, subject('bob'))];
    const begin = (call: typeof ann) => call('tools/call', { name: 'hangs', arguments: {} });
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => begin(ann)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    await expect(begin(ann)).rejects.toMatchObject({
      code: 'overloaded',
      message: 'You have 3 unfinished tasks; the limit is 3. Wait for one to end, or cancel one.',
    });
    await begin(bob);
    const taskId = results.flatMap((one) => (one.status === 'fulfilled' ? one.value['taskId'] : []))[0];
    await ann('tasks/cancel', { taskId });
    await begin(ann);
    await server.close();
  });

  it('has a limit on stored bytes, including finished tasks and those of an earlier process', async () => {
    const lasting = lastingStore();
    const limits = { maxBytesPerCaller: 10_000 };
    const first = build(lasting.store, limits);
    const begin = (server: typeof first.server, name: string) =>
      inProcess(server, subject(name))('tools/call', {
        name: 'hangs',
        arguments: { text: 'x'.repeat(4000) },
      });
    const { taskId } = await begin(first.server, 'ann');
    await inProcess(first.server, subject('ann'))('tasks/cancel', { taskId });
    await begin(first.server, 'ann');
    await first.server.close();
    const second = build(lasting.store, limits);
    await begin(second.server, 'ann');
    await expect(begin(second.server, 'ann')).rejects.toMatchObject({
      code: 'overloaded',
      message: expect.stringMatching(/^Your tasks have \d+ bytes in the store; the limit is 10000/),
    });
    await begin(second.server, 'bob');
    await second.server.close();
  });

  it('has no such limits without authorization', async () => {
    const { server, call } = build(lastingStore().store, { maxTasksPerCaller: 1, maxBytesPerCaller: 1 });
    for (let n = 0; n < 3; n++) await call('tools/call', { name: 'hangs', arguments: {} });
    await server.close();
  });
});

describe('a change of the system clock', () => {
  const HOUR = 3_600_000;

  it('does not end a task', async () => {
    const lasting = lastingStore();
    const { server, call } = build(lasting.store, { ttlMs: HOUR });
    const asking = await call('tools/call', { name: 'asks' });
    await waitForStatus(call, asking['taskId'], 'input_required');
    const hanging = await call('tools/call', { name: 'hangs', arguments: {} });
    for (const jump of [48 * HOUR, -48 * HOUR]) {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + jump });
      const began = performance.now();
      // Tasks that have expired are looked for once a second.
      await until('some time has passed', () => performance.now() - began > 1200);
      expect(await call('tasks/get', { taskId: asking['taskId'] })).toMatchObject({
        status: 'input_required',
      });
      expect(await call('tasks/get', { taskId: hanging['taskId'] })).toMatchObject({ status: 'working' });
      vi.useRealTimers();
    }
    await server.close();
  });

  it('does not make the last update of a task earlier', async () => {
    const { server, call } = build(lastingStore().store);
    const { taskId } = await call('tools/call', { name: 'asks' });
    const before = await waitForStatus(call, taskId, 'input_required');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - HOUR });
    await call('tasks/cancel', { taskId });
    const after = await call('tasks/get', { taskId });
    expect(Date.parse(String(after['lastUpdatedAt']))).toBeGreaterThanOrEqual(
      Date.parse(String(before['lastUpdatedAt'])),
    );
    await server.close();
  });

  it('leaves a task of an earlier process no more time than it had', async () => {
    const lasting = lastingStore();
    const first = build(lasting.store, { ttlMs: 300 });
    // The clock is ahead when the task is created, and is correct later.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 48 * HOUR });
    const { taskId } = await first.call('tools/call', { name: 'hangs', arguments: {} });
    vi.useRealTimers();
    await first.server.close();
    const second = build(lasting.store);
    await second.server.start();
    await until(
      'it is forgotten',
      async () => (await second.call('tasks/get', { taskId }).catch(() => 0)) === 0,
    );
    await second.server.close();
  });
});
