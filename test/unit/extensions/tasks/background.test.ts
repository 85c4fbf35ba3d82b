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

test('a cancelled call makes no task', async () => {
  const seen: unknown[] = [];
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
            seen.push(error);
            throw error;
          });
        },
      }),
    },
  });
  const calling = inProcess(server, able)('tools/call', { name: 't' }, { signal: controller.signal });
  await expect(calling).rejects.toMatchObject({ code: 'cancelled' });
  expect(seen).toEqual([expect.objectContaining({ code: 'cancelled' })]);
  for await (const [key] of store.entries('task:')) expect.unreachable(`There is ${key}`);
});

test('progress of a handler in the background goes to its task and not to the call that has ended', async () => {
  const told: string[] = [];
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
  const onNotification = (_: string, said: unknown) => void told.push((said as { message: string }).message);
  const { taskId } = await call('tools/call', params, { onNotification });
  await until('the status says how far it is', async () => {
    return (await call('tasks/get', { taskId }))['statusMessage'] === 'Working (2/3)';
  });
  expect(told).toEqual(['Looking']);
  go();
});

test('a time limit of its own aborts a handler in the background, and its signal has the reason', async () => {
  const seen: unknown[] = [];
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
          seen.push(ctx.signal.reason);
          await ctx.step('late', () => steps.push('late')).catch((error) => seen.push(error));
        },
      }),
    },
  });
  const call = inProcess(server, able);
  const { taskId } = await call('tools/call', { name: 't' });
  await until('the handler has seen it', () => seen.length === 2);
  expect(seen[0]).toMatchObject({ name: 'TimeoutError' });
  expect(seen[1]).toMatchObject({ code: 'timeout' });
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
