import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { connect } from '../../../../src/client.js';
import { createServer, tool } from '../../../../src/index.js';
import { serve } from '../../../../src/node.js';
import { everyWire, testClient } from '../../../../src/testing.js';
import { until } from '../../../support/until.js';

// What the first users stumbled over.

const asking = createServer({
  name: 'bank',
  title: 'The Bank',
  version: '1',
  secret: 'a secret that is long enough for a test',
  changes: true,
  tools: {
    ask: tool({
      run: async (_, ctx) =>
        (await ctx.elicit('q', { message: 'Q?', schema: z.object({ a: z.string() }) })).action,
    }),
  },
  resources: {},
});
asking.resource('a://b', {}, () => 'b');

describe('a handler', () => {
  test.each(['2026-07-28', '2025-11-25'] as const)('is told who asks, in %s', async (revision) => {
    let server = '';
    await using client = await testClient(asking, {
      over: 'http',
      revision,
      elicit: (_, asked) => {
        ({ server } = asked);
        return { action: 'decline' };
      },
    });
    await client.callTool('ask');
    expect(server).toBe('The Bank');
  });

  test('in a group is told which server asks', async () => {
    const askers: string[] = [];
    await using group = await connect(
      { mcpServers: { one: { target: asking } } },
      {
        elicit: (_, { server }) => {
          askers.push(server);
          return { action: 'cancel' };
        },
      },
    );
    await group.callTool('one_ask');
    expect(askers).toEqual(['The Bank']);
  });
});

test('a change is one notification, in either era', async () => {
  for (const revision of ['2026-07-28', '2025-11-25'] as const) {
    await using client = await testClient(asking, { over: 'websocket', revision });
    const heard: string[] = [];
    client.on('notification', ({ method }) => heard.push(method));
    const changes: unknown[] = [];
    await client.subscribe('a://b', { onChange: (change) => changes.push(change) });
    asking.changed.resource('a://b');
    await until('it is told', () => changes.length === 1);
    expect(heard).toEqual(['notifications/resources/updated']);
  }
});

test('a list in the same process is never old, and elsewhere `fresh` asks again', async () => {
  const server = createServer({ name: 'grows', version: '1', tools: { one: tool({ run: () => 1 }) } });
  await using inside = await connect(server);
  expect(await inside.tools().all()).toHaveLength(1);
  const running = await serve(server, { port: 0 });
  await using outside = await connect(running.url);
  expect(await outside.tools().all()).toHaveLength(1);
  server.tool('two', {}, () => 2);
  expect(await inside.tools().all()).toHaveLength(2);
  expect(await outside.tools().all()).toHaveLength(1);
  expect(await outside.tools({ fresh: true }).all()).toHaveLength(2);
  expect(await outside.tools().all()).toHaveLength(2);
  await outside.close();
  await running.close();
});

test.each(['in-process', 'http', 'stdio'] as const)(
  'a resource that is not there is called that over %s',
  async (over) => {
    await using client = await testClient(asking, { over });
    await expect(client.readResource('a://nowhere')).rejects.toMatchObject({ code: 'resource_not_found' });
  },
);

describe('a process', () => {
  const node = process.execPath;

  test('may be given variables that are not set', async () => {
    const dying = connect({
      command: node,
      args: ['-e', 'console.error(process.env.A, "TOKEN" in process.env); process.exit(3)'],
      env: { A: 'set', TOKEN: undefined },
    });
    await expect(dying).rejects.toMatchObject({ message: expect.stringContaining('set false') });
  });

  test('that hangs is given up with what it wrote to standard error', async () => {
    const hanging = connect(
      {
        command: node,
        args: ['-e', 'console.error("waiting for the database"); setInterval(() => {}, 1000)'],
      },
      { connectTimeoutMs: 1500 },
    );
    await expect(hanging).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('waiting for the database'),
    });
  });

  test('that only defines a server is told what is missing', async () => {
    await expect(
      connect(new URL('../../connect/fixtures/only-defines.mjs', import.meta.url)),
    ).rejects.toMatchObject({
      message: expect.stringMatching(/only-defines\.mjs[\s\S]*serveStdio\(server\)/),
    });
  });
});

test('a list of a group is never old where its servers are in the same process', async () => {
  const server = createServer({ name: 'grows', version: '1', tools: { one: tool({ run: () => 1 }) } });
  await using group = await connect({ mcpServers: { it: { target: server } } });
  expect(await group.tools().all()).toHaveLength(1);
  server.tool('two', {}, () => 2);
  expect(await group.tools().all()).toHaveLength(2);
});

test('a value comes back as the value that it was, over every wire and revision', async () => {
  const values = {
    number: 42.5,
    text: '42.5',
    list: [1, 2],
    object: { a: { b: 1 } },
    nothing: null,
    yes: true,
  };
  const tools = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, tool({ run: () => value })]),
  );
  await everyWire(createServer({ name: 'values', version: '1', tools }), async (client) => {
    for (const [name, value] of Object.entries(values))
      expect((await client.callTool(name)).unwrap(), name).toEqual(value);
  });
});
