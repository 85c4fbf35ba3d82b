import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createServer, type Server, tool } from '../../../../src/index.js';
import { inProcessClient } from '../../../support/in-process-client.js';
import { until } from '../../../support/until.js';

function worker(): {
  server: Server;
  hasBegun: () => boolean;
  isAborted: () => boolean;
  release: () => void;
} {
  let hasBegun = false;
  let isAborted = false;
  let release: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const task = { support: 'optional', pollIntervalMs: 20 } as const;
  const server = createServer({
    name: 'worker',
    version: '1',
    tools: {
      work: tool({ task, input: z.object({ n: z.number() }), run: async ({ n }) => n * 2 }),
      wait: tool({
        task,
        run: async (_, ctx) => {
          hasBegun = true;
          ctx.signal.addEventListener('abort', () => {
            isAborted = true;
          });
          await gate;
          return 'at last';
        },
      }),
      ask: tool({
        task,
        run: async (_, ctx) => {
          const answer = await ctx.elicit('name', {
            message: 'Name?',
            schema: z.object({ name: z.string() }),
          });
          return answer.action === 'accept' ? answer.content.name : answer.action;
        },
      }),
      broken: tool({
        task,
        run: () => {
          throw new Error('secret');
        },
      }),
    },
  });
  return {
    server: server as unknown as Server,
    hasBegun: () => hasBegun,
    isAborted: () => isAborted,
    release,
  };
}

describe('tasks', () => {
  test('are awaited by callTool, which returns their result', async () => {
    const { server } = worker();
    await using client = await inProcessClient(server);
    expect((await client.callTool('work', { n: 21 })).unwrap()).toBe(42);
    expect((await client.callTool('broken')).isError).toBe(true);
    await server.close();
  });

  test('ask through the handlers of the client', async () => {
    const { server } = worker();
    let questions = 0;
    await using client = await inProcessClient(server, {
      elicit: (_, { key }) => {
        questions++;
        expect(key).toBe('name');
        return { action: 'accept', content: { name: 'Ada' } };
      },
    });
    expect((await client.callTool('ask')).text).toBe('Ada');
    expect(questions).toBe(1);
    await server.close();
  });

  test('have a handle, and another client finds them by their id', async () => {
    const { server, release } = worker();
    await using client = await inProcessClient(server);
    const task = await client.startTool('wait');
    expect(await task.status()).toMatchObject({ id: task.id, status: 'working' });
    await using later = await inProcessClient(server);
    const sameTask = later.task(task.id as string);
    const result = sameTask.result();
    release();
    expect((await result).text).toBe('at last');
    expect(await sameTask.status()).toMatchObject({ status: 'completed' });
    await expect(later.task('no such task').status()).rejects.toMatchObject({ code: 'invalid_params' });
    await server.close();
  });

  test('can be answered through their handle', async () => {
    const { server } = worker();
    await using client = await inProcessClient(server, { elicit: () => ({ action: 'cancel' }) });
    const task = await client.startTool('ask');
    await until('it asks', async () => (await task.status()).status === 'input_required');
    expect(Object.keys((await task.status()).questions)).toEqual(['name']);
    await task.answer({ name: { action: 'accept', content: { name: 'Grace' } } });
    expect((await task.result()).text).toBe('Grace');
    await server.close();
  });

  test('can be cancelled, by the handle and by aborting the call', async () => {
    const { server, isAborted } = worker();
    await using client = await inProcessClient(server);
    const task = await client.startTool('wait');
    await task.cancel();
    await expect(task.result()).rejects.toMatchObject({ code: 'cancelled' });
    expect(isAborted()).toBe(true);
    await server.close();

    const other = worker();
    await using again = await inProcessClient(other.server);
    const stop = new AbortController();
    const call = again.callTool('wait', {}, { signal: stop.signal });
    await until('the task is under way', other.hasBegun);
    stop.abort();
    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    await until('the handler is aborted', other.isAborted);
    await other.server.close();
  });

  test('continue after a timeout of the waiting call, whose error has their id', async () => {
    const { server, release } = worker();
    await using client = await inProcessClient(server);
    const error = await client.callTool('wait', {}, { maxTimeoutMs: 60 }).catch((reason) => reason);
    expect(error).toMatchObject({ code: 'timeout', data: { taskId: expect.any(String) } });
    release();
    expect((await client.task(error.data.taskId).result()).text).toBe('at last');
    await server.close();
  });

  test('have a finished handle if the call did not become a task', async () => {
    const plain = createServer({ name: 'plain', version: '1', tools: { t: tool({ run: () => 1 }) } });
    await using client = await inProcessClient(plain);
    const task = await client.startTool('t');
    expect(task.id).toBeUndefined();
    expect(await task.status()).toMatchObject({ status: 'completed' });
    expect((await task.result()).data).toBe(1);
  });
});
