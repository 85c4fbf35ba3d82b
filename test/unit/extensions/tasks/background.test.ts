import { createServer, inProcess, memoryStore, tool } from 'fullmcp';
import { expect, test } from 'vitest';
import { until } from '../../../support/until.js';

const TASKS = 'io.modelcontextprotocol/tasks';
const quiet = { name: 'test', version: '1.0.0', logger: () => undefined, secret: 'x'.repeat(32) };
const able = { capabilities: { elicitation: {}, extensions: { [TASKS]: {} } } };
const onBackground = { support: 'required', start: 'on-background' } as const;

test('a handler may call ctx.background() in its first line', async () => {
  const server = createServer({
    ...quiet,
    tools: {
      t: tool({
        task: onBackground,
        run: async (_, ctx) => {
          await ctx.background();
          return 'done';
        },
      }),
    },
  });
  const call = inProcess(server, able);
  const { taskId, resultType } = await call('tools/call', { name: 't' });
  expect(resultType).toBe('task');
  await until('the task is completed', async () => {
    return (await call('tasks/get', { taskId }))['status'] === 'completed';
  });
});

test('a call that is cancelled before ctx.background() does not become a task', async () => {
  const errors: unknown[] = [];
  const store = memoryStore();
  const controller = new AbortController();
  const server = createServer({
    ...quiet,
    store,
    tools: {
      t: tool({
        task: onBackground,
        run: async (_, ctx) => {
          controller.abort();
          await ctx.background().catch((error) => {
            errors.push(error);
            throw error;
          });
        },
      }),
    },
  });
  const calling = inProcess(server, able)('tools/call', { name: 't' }, { signal: controller.signal });
  await expect(calling).rejects.toMatchObject({ code: 'cancelled' });
  expect(errors).toEqual([expect.objectContaining({ code: 'cancelled' })]);
  expect(await store.page('task:')).toEqual([]);
});

test('progress of a handler in the background goes to its task and not to the call that has ended', async () => {
  const messages: string[] = [];
  let go!: () => void;
  const server = createServer({
    ...quiet,
    tools: {
      t: tool({
        task: onBackground,
        run: async (_, { progress, background }) => {
          progress(1, 3, 'Looking');
          await background();
          progress(2, 3, 'Working');
          await new Promise<void>((resolve) => {
            go = resolve;
          });
          return 'done';
        },
      }),
    },
  });
  const call = inProcess(server, able);
  const params = { name: 't', _meta: { progressToken: 1 } };
  const onNotification = (_: string, params: unknown) =>
    void messages.push((params as { message: string }).message);
  const { taskId } = await call('tools/call', params, { onNotification });
  await until('the status shows the progress', async () => {
    return (await call('tasks/get', { taskId }))['statusMessage'] === 'Working (2/3)';
  });
  expect(messages).toEqual(['Looking']);
  go();
});

test('the time limit of a tool aborts its handler in the background, and no further step runs', async () => {
  const reasons: unknown[] = [];
  const steps: string[] = [];
  const server = createServer({
    ...quiet,
    tools: {
      t: tool({
        task: onBackground,
        timeoutMs: 100,
        run: async (_, ctx) => {
          await ctx.background();
          await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
          reasons.push(ctx.signal.reason);
          await ctx.step('late', () => steps.push('late')).catch((error) => reasons.push(error));
        },
      }),
    },
  });
  const call = inProcess(server, able);
  const { taskId } = await call('tools/call', { name: 't' });
  await until('the handler is stopped', () => reasons.length === 2);
  expect(reasons[0]).toMatchObject({ name: 'TimeoutError' });
  expect(reasons[1]).toMatchObject({ code: 'timeout' });
  expect(steps).toEqual([]);
  await until('the task has ended', async () => {
    return (await call('tasks/get', { taskId }))['status'] === 'completed';
  });
  expect((await call('tasks/get', { taskId }))['result']).toMatchObject({ isError: true });
});

test('a handler in the background outlives its call, and is stopped by the cancellation of its task', async () => {
  const steps: string[] = [];
  let go!: () => void;
  const server = createServer({
    ...quiet,
    tools: {
      t: tool({
        task: onBackground,
        run: async (_, ctx) => {
          await ctx.background();
          for (let at = 0; at < 3; at++) {
            await ctx.step(`step ${at}`, async () => {
              steps.push(`step ${at}`);
              await new Promise<void>((resolve) => {
                go = resolve;
              });
            });
          }
        },
      }),
    },
  });
  const call = inProcess(server, able);
  const controller = new AbortController();
  const { taskId } = await call('tools/call', { name: 't' }, { signal: controller.signal });
  // The client has its response and closes the connection.
  controller.abort();
  await until('the first step runs', () => steps.length === 1);
  go();
  await until('the second step runs', () => steps.length === 2);
  await call('tasks/cancel', { taskId });
  go();
  await server.close();
  expect(steps).toEqual(['step 0', 'step 1']);
});
