import { createServer, inProcess, tool } from 'fullmcp';
import { expect, test, vi } from 'vitest';

const TASKS = 'io.modelcontextprotocol/tasks';
const PROGRESS = 'fullmcp/progress';
const able = { capabilities: { extensions: { [TASKS]: {} } } };

function build() {
  let release: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = createServer({
    name: 'test',
    version: '1',
    tools: {
      rows: tool({
        task: 'required',
        run: async (_, { progress }) => {
          progress(1, 2, 'half');
          await gate;
          progress(2, 2);
          return 'done';
        },
      }),
      later: tool({
        task: { support: 'required', start: 'on-background' },
        run: async (_, ctx) => {
          await ctx.background();
          ctx.progress(3);
          await gate;
          return 'done';
        },
      }),
    },
  });
  return { server, call: inProcess(server, able), release };
}

test("a task shows its progress as numbers in its _meta, next to the server's own metadata", async () => {
  const { call, release, server } = build();
  const { taskId } = await call('tools/call', { name: 'rows' });
  await vi.waitFor(async () => {
    const { _meta } = await call('tasks/get', { taskId });
    expect(_meta).toMatchObject({
      [PROGRESS]: { progress: 1, total: 2, message: 'half' },
      'io.modelcontextprotocol/serverInfo': { name: 'test' },
    });
  });
  release();
  await vi.waitFor(async () => {
    const { status, _meta } = await call('tasks/get', { taskId });
    expect({ status, _meta }).toMatchObject({
      status: 'completed',
      _meta: { [PROGRESS]: { progress: 2, total: 2 } },
    });
  });
  await server.close();
});

test('a subscription to a task delivers its progress with each notification', async () => {
  const { call, release, server } = build();
  const { taskId } = await call('tools/call', { name: 'rows' });
  const metas: unknown[] = [];
  const stop = new AbortController();
  let acknowledged = false;
  const listening = call(
    'subscriptions/listen',
    { notifications: { taskIds: [taskId] } },
    {
      signal: stop.signal,
      onNotification: (method, params) => {
        if (method === 'notifications/tasks') metas.push(params?.['_meta']);
        else acknowledged = true;
      },
    },
  ).catch(() => undefined);
  await vi.waitFor(() => expect(acknowledged).toBe(true));
  release();
  await vi.waitFor(() =>
    expect(metas).toContainEqual(
      expect.objectContaining({
        [PROGRESS]: { progress: 2, total: 2 },
        'io.modelcontextprotocol/subscriptionId': expect.anything(),
      }),
    ),
  );
  stop.abort();
  await listening;
  await server.close();
});

test('a task shows the progress that its handler reports after ctx.background()', async () => {
  const { call, release, server } = build();
  const { taskId } = await call('tools/call', { name: 'later' });
  await vi.waitFor(async () => {
    const { statusMessage, _meta } = await call('tasks/get', { taskId });
    expect({ statusMessage, _meta }).toMatchObject({
      statusMessage: '3',
      _meta: { [PROGRESS]: { progress: 3 } },
    });
  });
  release();
  await server.close();
});
