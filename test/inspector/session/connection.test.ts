import process from 'node:process';
import { createServer, tool } from 'fullmcp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Serving, serve } from '../../../src/node.js';
import { rig } from './rig.js';

// A connection over its life: revisions, changes of the lists, logs, reconnects, and an end at any time.

const makeServer = () => {
  const server = createServer({
    name: 'changing',
    version: '1.0.0',
    title: 'Changing',
    changes: true,
    logger: () => undefined,
    tools: {
      grow: tool({
        input: z.object({ name: z.string() }),
        run: ({ name }): string => {
          server.tool(name, {}, () => name);
          return 'grown';
        },
      }),
      talk: tool({
        run: (_, { log }) => {
          log.debug('quiet');
          log.warning('loud \u202e text');
          return 'said';
        },
      }),
      slow: tool({
        run: (_, { signal }) =>
          new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('x'))),
      }),
    },
  });
  return server;
};
const server = makeServer();

let serving: Serving;
beforeAll(async () => {
  serving = await serve(server, { port: 0, signals: false });
});
afterAll(() => serving.close());

describe.each(['2026-07-28', '2025-11-25'] as const)('a connection in %s', (revision) => {
  test('lists again when the server says that a list has changed', async () => {
    await using own = rig();
    const id = await own.connect({ target: serving.url, options: { revision } });
    const name = `new_${revision.slice(0, 4)}`;
    const names = () => own.inspector.catalog(id)?.tools.map(({ tool: { name: one } }) => one);
    expect(names()).not.toContain(name);
    if (revision === '2026-07-28')
      await own.until('it to listen', () =>
        own.inspector
          .snapshot()
          .stories.some(
            ({ kind, lastMessage = 0, firstMessage = 0 }) =>
              kind === 'subscription' && lastMessage > firstMessage,
          ),
      );
    const version = own.connection(id)?.catalogVersion ?? 0;
    await own.ended((await own.run('call', { connection: id, tool: 'grow', args: { name } })).story);
    await own.until('the new list', () => (own.connection(id)?.catalogVersion ?? 0) > version);
    expect(names()).toContain(name);
  });

  test('gets the log messages of the level that was asked for, with hidden characters shown', async () => {
    await using own = rig();
    const id = await own.connect({ target: serving.url, options: { revision } });
    await own.run('logLevel', { connection: id, level: 'warning' });
    expect(own.connection(id)?.logLevel).toBe('warning');
    const { story } = await own.run('call', { connection: id, tool: 'talk', args: {} });
    await own.ended(story);
    const lines = await own.until('the log', () => {
      const found = own.inspector.snapshot().logs.filter(({ source }) => source === 'log');
      return found.length > 0 && found;
    });
    expect(lines.map(({ text, level }) => `${level} ${text}`)).toEqual(['warning loud \\u{202e} text']);
    expect(own.story(story).ticks).toMatchObject([{ kind: 'log', level: 'warning' }]);
  });
});

test('the revision can be changed, and the id stays', async () => {
  await using own = rig();
  const id = await own.connect({ target: serving.url });
  expect(own.connection(id)).toMatchObject({ revision: '2026-07-28' });
  for (const revision of ['2025-06-18', '2025-11-25', '2026-07-28']) {
    await own.run('reconnect', { connection: id, revision });
    await own.until(
      'the connection',
      () => own.connection(id)?.status === 'ready' && own.connection(id)?.revision === revision,
    );
    expect(own.connection(id)).toMatchObject({ id, requestedRevision: revision });
  }
  await own.run('reconnect', { connection: id, revision: 'newest' });
  await own.until('the newest', () => own.connection(id)?.status === 'ready');
  expect(own.connection(id)?.requestedRevision).toBeUndefined();
});

test('a connection that hangs can be left, tried again and closed at any time', async () => {
  await using own = rig();
  const hanging = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] };
  const id = await own.begin({ target: hanging });
  await own.until('the first step', () => own.connection(id)?.steps[0]);
  expect(own.connection(id)?.status).toBe('connecting');
  expect(own.connection(id)?.steps[0]?.outcome).toBe('running');
  await expect(own.run('call', { connection: id, tool: 'x', args: {} })).rejects.toThrow('not open yet');
  await expect(own.run('refresh', { connection: id })).rejects.toThrow('not open yet');
  await Promise.all(Array.from({ length: 5 }, () => own.run('reconnect', { connection: id })));
  await own.run('disconnect', { connection: id });
  expect(own.connection(id)).toBeUndefined();
  // Reports of the earlier attempts do not bring the connection back.
  expect(own.inspector.snapshot().connections).toEqual([]);
});

test('calls that run while the connection is opened again end with a reason', async () => {
  await using own = rig();
  const id = await own.connect({ target: serving.url, options: { revision: '2025-11-25' } });
  const stories = await Promise.all(
    Array.from(
      { length: 10 },
      async () => (await own.run('call', { connection: id, tool: 'slow', args: {} })).story,
    ),
  );
  await own.run('reconnect', { connection: id, revision: '2026-07-28' });
  for (const story of stories)
    expect(await own.ended(story)).toMatchObject({ state: 'error', error: { code: 'connection_closed' } });
  await own.until('the connection', () => own.connection(id)?.status === 'ready');
  const { ms } = await own.run('ping', { connection: id });
  expect(ms).toBeGreaterThan(0);
});

test('a WebSocket that breaks is opened again, and subscriptions go on', async () => {
  let own = await serve(makeServer(), { port: 0, signals: false });
  const { port } = own;
  await using inspected = rig();
  const id = await inspected.connect({ target: `ws://127.0.0.1:${port}/mcp` });
  await own.close();
  await inspected.until('the break', () => inspected.connection(id)?.status === 'reconnecting');
  expect(inspected.connection(id)?.failure?.message.length).toBeGreaterThan(5);
  own = await serve(makeServer(), { port, signals: false });
  await inspected.until('the next connection', () => inspected.connection(id)?.status === 'ready');
  expect(inspected.connection(id)?.reconnects).toBe(1);
  expect(inspected.connection(id)?.failure).toBeUndefined();
  const { story } = await inspected.run('call', { connection: id, tool: 'talk', args: {} });
  expect((await inspected.ended(story)).state).toBe('ok');
  await inspected.inspector.close();
  await own.close();
});

test('several connections have their own stories, and closing one leaves the others', async () => {
  await using own = rig();
  const [one, other] = [await own.connect({ target: serving.url }), await own.connect({ target: server })];
  const stories = await Promise.all(
    [one, other].map(
      async (connection) => (await own.run('call', { connection, tool: 'talk', args: {} })).story,
    ),
  );
  await Promise.all(stories.map((story) => own.ended(story)));
  await own.run('disconnect', { connection: one });
  const { connections, stories: left, messages } = own.inspector.snapshot();
  expect(connections.map(({ id }) => id)).toEqual([other]);
  expect(left.every(({ connection }) => connection === other)).toBe(true);
  expect(messages.every(({ connection }) => connection === other)).toBe(true);
});
