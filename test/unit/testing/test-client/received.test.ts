import { createServer, McpError, resource, tool } from 'fullmcp';
import { describe, expect, test, vi } from 'vitest';
import {
  everyWire,
  type McpMatchers,
  matchers,
  type TestClient,
  testClient,
} from '../../../../src/testing.js';
import { failureOf } from '../../../support/failure.js';

declare module 'vitest' {
  interface Matchers<T> extends McpMatchers<T> {}
}

expect.extend(matchers);

function notebook() {
  return createServer({
    name: 'notebook',
    version: '1.0.0',
    changes: true,
    tools: {
      edit: tool({
        run: (_, ctx) => {
          ctx.progress(1, 2, 'half');
          ctx.changed.resource('note://a');
          return 'edited';
        },
      }),
      nothing: tool({ run: () => 'nothing' }),
      log: tool({
        run: (_, ctx) => {
          ctx.log.warning('careful');
        },
      }),
    },
    resources: { 'note://a': resource({ read: () => 'a' }), 'note://b': resource({ read: () => 'b' }) },
  });
}

describe('a client for tests', () => {
  test('knows over every transport what it has received and what was not sent, without waiting', async () => {
    await everyWire(notebook, async (client) => {
      await client.subscribe({ uris: ['note://a', 'note://b'], tools: true });
      await expect(client).not.toHaveReceived('resources/updated');
      await client.callTool('edit');
      await expect(client).toHaveReceivedUpdate('note://a');
      await expect(client).not.toHaveReceivedUpdate('note://b');
      await expect(client).not.toHaveReceived('tools/list_changed');
      await expect(client).toHaveReceived('progress', { progress: 1, message: 'half' });
    });
  });

  test('has all of 200 changes that were announced at once when it is settled, over every transport', async () => {
    let server!: ReturnType<typeof notebook>;
    const make = () => {
      server = notebook();
      return server;
    };
    await everyWire(make, async (client, { revision }) => {
      const uris = Array.from({ length: 200 }, (_, at) => `note://${at}`);
      // A session subscribes to each with a request of its own.
      const count = revision === '2026-07-28' ? 200 : 10;
      await client.subscribe({ uris: uris.slice(0, count) });
      for (const uri of uris) server.changed.resource(uri);
      await client.settled();
      expect(client.received).toHaveLength(count);
      expect(client.received[7]).toEqual({
        method: 'notifications/resources/updated',
        params: { uri: 'note://7' },
      });
    });
  });

  test('finds at once, over every transport, a notification that should not have been sent', async () => {
    let server!: ReturnType<typeof notebook>;
    const make = () => {
      server = notebook();
      return server;
    };
    await everyWire(make, async (client) => {
      await client.subscribe('note://a');
      server.changed.resource('note://a');
      await failureOf(Error, expect(client).not.toHaveReceivedUpdate('note://a'));
    });
  });

  test.each([1, 2, 3, 4, 5])(
    'is settled only when late messages have arrived, with seed %i',
    async (seed) => {
      const server = notebook();
      for (const over of ['http', 'stdio', 'websocket'] as const) {
        const faults = { seed, delay: 0.5, maxDelayMs: 50 };
        await using client = await testClient(server, { over, faults });
        await client.subscribe('note://a');
        for (let change = 0; change < 5; change++) server.changed.resource('note://a');
        await client.settled();
        expect(client.received).toHaveLength(5);
      }
    },
  );

  test('is settled with fake timers, too', async () => {
    vi.useFakeTimers();
    try {
      await using client = await testClient(notebook());
      await client.subscribe('note://a');
      await client.callTool('edit');
      await expect(client).toHaveReceivedUpdate('note://a');
      await expect(client).not.toHaveReceivedUpdate('note://b');
    } finally {
      vi.useRealTimers();
    }
  });

  test('waits a moment for a notification that is expected and announced later', async () => {
    const server = notebook();
    await using client = await testClient(server, { over: 'http' });
    await client.subscribe('note://a');
    setTimeout(() => server.changed.resource('note://a'), 20);
    await expect(client).toHaveReceivedUpdate('note://a');
  });

  test('records log messages, and forgets on request', async () => {
    await everyWire(
      notebook,
      async (client) => {
        await client.callTool('log');
        await expect(client).toHaveReceived('message', { level: 'warning', data: 'careful' });
        expect(client.received.filter(({ method }) => method === 'notifications/message')).toHaveLength(1);
        client.received.length = 0;
        await expect(client).not.toHaveReceived('message');
      },
      { logLevel: 'info' },
    );
  });

  test('still calls the progress option of the test', async () => {
    const steps: unknown[] = [];
    await using client = await testClient(notebook(), { progress: ({ progress }) => steps.push(progress) });
    await client.callTool('edit');
    expect(steps).toEqual([1]);
    expect(client.received).toMatchObject([{ method: 'notifications/progress', params: { total: 2 } }]);
  });

  test('does not hang if the network loses everything', async () => {
    const server = notebook();
    await using client = await testClient(server, {
      over: 'stdio',
      faults: { seed: 1, after: 1, drop: 1 },
      timeoutMs: 50,
      maxRetries: 0,
    });
    expect((await failureOf(McpError, client.settled())).code).toBe('timeout');
  });
});

describe('the messages of failed expectations', () => {
  const failure = async (check: Promise<unknown>): Promise<string> => (await failureOf(Error, check)).message;

  test('show what was received, shortened', async () => {
    await using client = await testClient(notebook());
    expect(await failure(expect(client).toHaveReceivedUpdate('note://a'))).toBe(
      'expected the client to receive notifications/resources/updated {"uri":"note://a"}, but nothing was received',
    );
    await client.subscribe('note://a');
    await client.callTool('edit');
    const not = await failure(expect(client).not.toHaveReceivedUpdate('note://a'));
    expect(not).toBe(
      'expected the client not to receive notifications/resources/updated {"uri":"note://a"}, but received [notifications/progress {"progress":1,"total":2,"message":"half"}, notifications/resources/updated {"uri":"note://a"}]',
    );
    for (let call = 0; call < 30; call++)
      client.received.push({ method: 'x', params: { long: 'y'.repeat(999) } });
    const long = await failure(expect(client).toHaveReceived('tools/list_changed'));
    expect(long).toContain('received 32, the latest 20 of them [x {"long":"yyy');
    expect(long.length).toBeLessThan(5000);
  });

  test('say that another client cannot be used', async () => {
    const check = expect({} as TestClient).toHaveReceived('x');
    expect(await failure(check)).toContain('needs a client that testClient');
  });
});
