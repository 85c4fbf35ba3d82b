import { createServer, inProcess, McpError, memoryStore, tool } from 'fullmcp';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { able, accept, waitForStatus } from '../../../support/tasks.js';

const TASKS = 'io.modelcontextprotocol/tasks';
const quiet = { name: 'test', version: '1.0.0', logger: () => undefined, secret: 'x'.repeat(32) };
const form = (key: string) => ({ message: key, schema: z.object({ [key]: z.string() }) });

function build(store = memoryStore()) {
  const effects: string[] = [];
  const server = createServer({
    ...quiet,
    store,
    tools: {
      slow: tool({ task: 'optional', input: z.object({ n: z.number() }), run: ({ n }) => n * 2 }),
      must: tool({ task: 'required', run: () => 'done' }),
      fails: tool({
        task: 'optional',
        run: () => {
          throw new McpError('invalid_params', 'no');
        },
      }),
      errs: tool({
        task: 'optional',
        run: () => ({ content: [{ type: 'text', text: 'bad' }], isError: true }),
      }),
      asks: tool({
        task: 'optional',
        run: async (_, ctx) => {
          await ctx.step('s1', ({ idempotencyKey }) => effects.push(`s1 ${idempotencyKey}`));
          const [a, b] = await Promise.all([ctx.ask('a', form('a')), ctx.ask('b', form('b'))]);
          await ctx.step('s2', () => effects.push('s2'));
          return `${a['a']}${b['b']}`;
        },
      }),
      hangs: tool({
        task: 'optional',
        run: (_, { signal, progress }) => {
          progress(1, 2, 'half');
          return new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => {
              effects.push('aborted');
              reject(signal.reason);
            }),
          );
        },
      }),
      later: tool({
        task: { support: 'required', start: 'on-background' },
        run: async (_, ctx) => {
          const { name } = (await ctx.ask('name', form('name'))) as { name: string };
          await ctx.background();
          const { more } = (await ctx.ask('more', form('more'))) as { more: string };
          return `${name} ${more}`;
        },
      }),
    },
  });
  return { server, effects, call: inProcess(server, able) };
}

describe('a task', () => {
  it('is created, runs and completes', async () => {
    const { call } = build();
    const created = await call('tools/call', { name: 'slow', arguments: { n: 2 } });
    expect(created).toMatchObject({
      resultType: 'task',
      status: 'working',
      ttlMs: 3_600_000,
      pollIntervalMs: 1000,
    });
    expect(await waitForStatus(call, created['taskId'], 'completed')).toMatchObject({
      resultType: 'complete',
      result: { resultType: 'complete', content: [{ text: '4' }] },
    });
  });

  it('fails with a protocol error, but completes with a result that is an error', async () => {
    const { call } = build();
    const failed = await call('tools/call', { name: 'fails' });
    expect(await waitForStatus(call, failed['taskId'], 'failed')).toMatchObject({
      error: { code: -32602, message: 'no' },
    });
    const erred = await call('tools/call', { name: 'errs' });
    expect(await waitForStatus(call, erred['taskId'], 'completed')).toMatchObject({
      result: { isError: true },
    });
  });

  it('is not forced on clients that do not support tasks', async () => {
    const plain = inProcess(build().server, { capabilities: {} });
    expect(await plain('tools/call', { name: 'slow', arguments: { n: 2 } })).toMatchObject({
      resultType: 'complete',
    });
    const required = {
      data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
      code: 'missing_capability',
    };
    await expect(plain('tools/call', { name: 'must' })).rejects.toMatchObject(required);
    await expect(plain('tasks/get', { taskId: 'x' })).rejects.toMatchObject(required);
  });

  it('accepts its answers one by one, ignores others, and runs each step once', async () => {
    const { call, effects } = build();
    const { taskId } = await call('tools/call', { name: 'asks' });
    const waiting = await waitForStatus(call, taskId, 'input_required');
    expect(Object.keys(waiting['inputRequests'] as object)).toEqual(['a', 'b']);
    await call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'x' }), unknown: 1 } });
    expect(
      Object.keys((await waitForStatus(call, taskId, 'input_required'))['inputRequests'] as object),
    ).toEqual(['b']);
    expect(await call('tasks/update', { taskId, inputResponses: { b: accept({ b: 'y' }) } })).toMatchObject({
      resultType: 'complete',
    });
    expect(await waitForStatus(call, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'xy' }] },
    });
    expect(effects).toHaveLength(2);
  });

  it("can be cancelled, and its handler's signal aborts", async () => {
    const { call, effects } = build();
    const { taskId } = await call('tools/call', { name: 'hangs' });
    expect(await waitForStatus(call, taskId, 'working')).toMatchObject({ statusMessage: 'half (1/2)' });
    await call('tasks/cancel', { taskId });
    await waitForStatus(call, taskId, 'cancelled');
    expect(effects).toEqual(['aborted']);
    expect(await call('tasks/cancel', { taskId })).toMatchObject({ resultType: 'complete' });
  });

  it('is unknown to other principals', async () => {
    const { server } = build();
    const as = (subject: string) =>
      inProcess(server, { ...able, caller: { subject, scopes: [], claims: {} } });
    const { taskId } = await as('ann')('tools/call', { name: 'hangs' });
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
      await expect(as('bob')(method, { taskId, inputResponses: {} })).rejects.toMatchObject({
        code: 'invalid_params',
      });
    }
    expect(await as('ann')('tasks/get', { taskId })).toMatchObject({ status: 'working' });
    await server.close();
  });

  it('may begin when the handler calls ctx.background(), after a question', async () => {
    const { call } = build();
    const first = await call('tools/call', { name: 'later' });
    expect(first.resultType).toBe('input_required');
    const { taskId, resultType } = await call('tools/call', {
      name: 'later',
      inputResponses: { name: accept({ name: 'Alice' }) },
      requestState: first['requestState'],
    });
    expect(resultType).toBe('task');
    await waitForStatus(call, taskId, 'input_required');
    await call('tasks/update', {
      taskId,
      inputResponses: { more: accept({ more: 'more' }) },
    });
    expect(await waitForStatus(call, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'Alice more' }] },
    });
  });

  it('reports its status to subscribers', async () => {
    const { server, call } = build();
    const { taskId } = await call('tools/call', { name: 'asks' });
    await waitForStatus(call, taskId, 'input_required');
    const events: unknown[] = [];
    const controller = new AbortController();
    const listening = call(
      'subscriptions/listen',
      { notifications: { taskIds: [taskId, 'other'] } },
      {
        signal: controller.signal,
        onNotification: (method, params) =>
          void events.push([method, params?.['status'] ?? params?.['notifications']]),
      },
    );
    await vi.waitFor(() =>
      expect(events).toEqual([['notifications/subscriptions/acknowledged', { taskIds: [taskId] }]]),
    );
    await call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'x' }), b: accept({ b: 'y' }) } });
    await vi.waitFor(() => expect(events).toContainEqual(['notifications/tasks', 'completed']));
    controller.abort();
    await listening;
    await server.close();
  });

  it('resumes in the next process after its last step and answer', async () => {
    const store = { ...memoryStore(), close: async () => undefined };
    const first = build(store);
    const { taskId } = await first.call('tools/call', { name: 'asks' });
    await waitForStatus(first.call, taskId, 'input_required');
    await first.call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'x' }) } });
    await first.server.close();
    const second = build(store);
    await second.server.start();
    const waiting = await waitForStatus(second.call, taskId, 'input_required');
    expect(Object.keys(waiting['inputRequests'] as object)).toEqual(['b']);
    await second.call('tasks/update', { taskId, inputResponses: { b: accept({ b: 'y' }) } });
    expect(await waitForStatus(second.call, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'xy' }] },
    });
    expect(first.effects).toHaveLength(1);
    expect(second.effects).toEqual(['s2']);
  });
});
