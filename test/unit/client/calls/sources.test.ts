import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { Client } from '../../../../src/client/model/client.js';
import { makeConnect } from '../../../../src/connect/connect.js';
import type { GroupClient } from '../../../../src/connect/group/group.js';
import { createServer, McpError, prompt, resource, ToolError, tool } from '../../../../src/index.js';
import { everyWire } from '../../../../src/testing/test-client/every-wire.js';
import { failureOf } from '../../../support/failure.js';
import { inProcessClient } from '../../../support/in-process-client.js';
import { until } from '../../../support/until.js';

const connect = makeConnect({});

const server = createServer({
  name: 'shop',
  version: '1.0.0',
  tools: {
    price: tool({ run: () => ({ price: 2 }) }),
    closed: tool({
      run: () => {
        throw new ToolError('Closed on Sundays');
      },
    }),
    refuse: tool({
      run: () => {
        throw new McpError('invalid_params', 'Not for you');
      },
    }),
    hang: tool({ run: () => new Promise(() => {}) }),
  },
  resources: { 'shop://hours': resource({ read: () => 'nine to five' }) },
  prompts: { greet: prompt({ run: () => 'Hello' }) },
});

describe('a result', () => {
  test('knows its server, tool and request over every transport, and is printed and copied without them', async () => {
    await everyWire(server, async (client) => {
      const result = await client.callTool('price');
      const { requestId } = result.source;
      expect(result.source).toEqual({ server: 'shop', method: 'tools/call', name: 'price', requestId });
      expect(requestId).toBeGreaterThan(0);
      expect(Object.keys(result)).toEqual(['content', 'text', 'data', 'isError', 'meta', 'unwrap']);
      expect(JSON.stringify(result)).not.toContain('requestId');
      expect(inspect(result)).not.toContain('requestId');
      expect({ ...result }).not.toHaveProperty('source');
      const { unwrap } = result;
      expect(unwrap()).toEqual({ price: 2 });
      expect((await client.callTool('price')).source.requestId).toBeGreaterThan(requestId as number);
    });
  });

  test('of a resource, a prompt or a completion has a source that equality does not see', async () => {
    await using client = await inProcessClient(server);
    const read = await client.readResource('shop://hours');
    expect(read.source).toMatchObject({ server: 'shop', method: 'resources/read', name: 'shop://hours' });
    expect(Object.keys(read)).toEqual(['contents', 'text', 'meta']);
    expect((await client.getPrompt('greet')).source).toMatchObject({ method: 'prompts/get', name: 'greet' });
  });

  test('in the same process has the id that the server and the middleware saw', async () => {
    const ids: unknown[] = [];
    await using client = await inProcessClient(server, {
      use: [
        (call, next) => {
          ids.push(call.id);
          return next(call);
        },
      ],
    });
    const { source } = await client.callTool('price');
    expect(ids).toEqual([source.requestId]);
  });

  test('has the server’s own long name only in part, and the address if there is no name', async () => {
    const name = 'x'.repeat(100_000);
    await using long = await inProcessClient(createServer({ name, version: '1' }));
    expect((await long.request('server/discover').then(() => long.info())).server.info?.name).toBe(name);
    await expect(long.callTool('nope')).rejects.toSatisfy(
      (error) => (error as McpError).source?.server.length === 128,
    );
  });
});

describe('an error of a call', () => {
  test('names its server, tool and request over every transport, and keeps its message', async () => {
    await everyWire(server, async (client) => {
      const refused = await failureOf(McpError, client.callTool('refuse'));
      expect(refused).toMatchObject({
        message: 'Not for you',
        source: { server: 'shop', method: 'tools/call', name: 'refuse' },
      });
      expect((await client.callTool('price')).source.requestId).toBe((refused.source?.requestId ?? 0) + 1);
      const missing = await failureOf(McpError, client.readResource('shop://none'));
      expect(missing).toMatchObject({
        code: 'resource_not_found',
        source: { server: 'shop', method: 'resources/read', name: 'shop://none' },
      });
    });
  });

  test('that unwrap throws has the source of the result', async () => {
    await using client = await inProcessClient(server);
    const result = await client.callTool('closed');
    const { source } = result;
    expect(() => result.unwrap()).toThrow(expect.objectContaining({ message: 'Closed on Sundays', source }));
  });

  test('is one for each call, even if one loss ends many calls', async () => {
    const client = await inProcessClient(server);
    const calls = [1, 2, 3].map(() => failureOf(McpError, client.callTool('hang')));
    await until('the calls are open', () => client.pending().length === 3);
    const open = client.pending().map(({ requestId }) => requestId);
    await client.close();
    const errors = await Promise.all(calls);
    expect(errors.map(({ source }) => source?.requestId)).toEqual(open);
    expect(new Set(errors).size).toBe(3);
  });

  test('keeps the stack of the handler, and is not changed by a second call that fails with the same object', async () => {
    const shared = new McpError('overloaded', 'Full');
    const mock = { dispatch: server.dispatch };
    await using client = await inProcessClient(mock, { use: [() => Promise.reject(shared)] });
    const [one, two] = [await failureOf(McpError, client.ping()), await failureOf(McpError, client.ping())];
    expect(one.source?.requestId).not.toBe(two.source?.requestId);
    expect(one.stack).toBe(shared.stack);
    expect(shared.source).toBeUndefined();
  });

  test('of a class of one’s own stays the same object', async () => {
    class Quota extends McpError {
      readonly left = 0;
    }
    const quota = new Quota('overloaded', 'No calls left');
    await using client = await inProcessClient(server, { use: [() => Promise.reject(quota)] });
    expect(await failureOf(McpError, client.callTool('price'))).toBe(quota);
    expect(quota.source?.name).toBe('price');
  });

  test('does not reach the peer of a server that passes it on', async () => {
    await using inner = await inProcessClient(server);
    const outer = createServer({
      name: 'outer',
      version: '1',
      tools: { pass: tool({ run: async () => (await inner.callTool('refuse')).text }) },
    });
    await everyWire(outer, async (client) => {
      const error = await failureOf(McpError, client.callTool('pass'));
      expect(error).toMatchObject({ message: 'Not for you', source: { server: 'outer', name: 'pass' } });
    });
  });
});

describe('a client of several servers', () => {
  const other = createServer({ name: 'Other GmbH', version: '1', tools: { ok: tool({ run: () => 'ok' }) } });
  const groupOf = (): Promise<GroupClient> =>
    connect({ mcpServers: { shop: { target: server }, b: { target: other } } } as never, {
      reconnect: false,
    }) as Promise<GroupClient>;

  test('gives results and errors the server’s name in the config, and its own name and request', async () => {
    await using group = await groupOf();
    expect((await group.callTool('b_ok')).source).toMatchObject({ server: 'b', name: 'b_ok' });
    expect((await group.readResource('shop://hours')).source.server).toBe('shop');
    const error = await failureOf(McpError, group.callTool('shop_refuse'));
    expect(error).toMatchObject({
      message: 'shop: Not for you',
      source: { server: 'shop', name: 'shop_refuse' },
    });
    expect((error.cause as McpError).source).toMatchObject({ server: 'shop', name: 'refuse' });
    const result = await group.callTool('shop_closed');
    expect(() => result.unwrap()).toThrow(expect.objectContaining({ source: result.source }));
  });

  test('has the state of every server in info()', async () => {
    await using group = (await connect(
      {
        mcpServers: {
          b: { target: other },
          gone: { target: { dispatch: () => Promise.reject(new McpError('overloaded', 'Full')) } },
        },
      } as never,
      { maxRetries: 0 },
    )) as GroupClient;
    expect(group.info().servers).toMatchObject({ b: { status: 'idle' }, gone: { status: 'idle' } });
    await group.callTool('b_ok');
    await failureOf(McpError, group.callTool('gone_x'));
    const info = group.info();
    expect(info.servers).toMatchObject({
      b: { status: 'ready', transport: 'in-process', lastError: undefined },
      gone: { status: 'failed', lastError: { code: 'overloaded', message: 'gone: Full' } },
    });
    expect(info.lastError).toMatchObject({
      message: 'gone: Full',
      source: { server: 'gone', name: 'gone_x' },
    });
    expect(info.lastActivityAt >= (info.servers['b']?.lastActivityAt ?? '')).toBe(true);
    expect(JSON.parse(JSON.stringify(info)).servers.gone.status).toBe('failed');
  });
});

describe('a task', () => {
  const worker = createServer({
    name: 'worker',
    version: '1',
    secret: 'a secret that is long enough for a test of tasks',
    tools: {
      work: tool({
        task: { support: 'required', pollIntervalMs: 20 },
        run: () => Promise.resolve('done'),
      }),
      fail: tool({
        task: { support: 'required', pollIntervalMs: 20 },
        run: () => {
          throw new McpError('invalid_params', 'No flour');
        },
      }),
    },
  });

  test('gives its result and its error the call that started it', async () => {
    await using client = await inProcessClient(worker);
    const { source } = await client.callTool('work');
    expect(source).toEqual({ server: 'worker', method: 'tools/call', name: 'work', requestId: 1 });
    const error = await failureOf(McpError, client.callTool('fail'));
    expect(error).toMatchObject({ message: 'No flour', source: { server: 'worker', name: 'fail' } });
    const { taskId } = error.data as { taskId: string };
    const again = await failureOf(McpError, client.task(taskId).result());
    expect(again.source).toEqual({ ...error.source, name: undefined, requestId: undefined });
  });

  test('of one of several servers names that server, even when it is found again by its id', async () => {
    await using group = (await connect({ mcpServers: { oven: { target: worker } } } as never)) as GroupClient;
    const { id = '' } = await group.startTool('oven_work');
    expect((await group.task(id).result()).source).toMatchObject({ server: 'oven' });
    const error = await failureOf(McpError, group.callTool('oven_fail'));
    expect(error.source).toMatchObject({ server: 'oven', name: 'oven_fail' });
  });
});

describe('info() and pending()', () => {
  const timesOf = (client: Client): [string, string] => {
    const { connectedAt, lastActivityAt } = client.info();
    return [connectedAt, lastActivityAt];
  };

  test('have the times of the connection and of the last message, and the ids of open calls', async () => {
    await everyWire(server, async (client) => {
      const [connectedAt, before] = timesOf(client);
      expect(new Date(connectedAt).toISOString()).toBe(connectedAt);
      await until('a millisecond has passed', () => new Date().toISOString() > before);
      const stop = new AbortController();
      const hanging = failureOf(McpError, client.callTool('hang', {}, { signal: stop.signal }));
      await until('the call is open', () => client.pending().length === 1);
      const [open] = client.pending();
      expect(client.info().lastActivityAt).toBe(before);
      stop.abort();
      expect((await hanging).source?.requestId).toBe(open?.requestId);
      expect(client.info().lastError).toBeUndefined();
      await client.callTool('price');
      expect(client.info().lastActivityAt > before).toBe(true);
      expect(client.info().connectedAt).toBe(connectedAt);
    });
  });

  test('have the latest error with its call, but not a list that the server does not have', async () => {
    await everyWire(server, async (client) => {
      await client.templates().all();
      expect(client.info().lastError).toBeUndefined();
      await failureOf(McpError, client.callTool('refuse'));
      expect(client.info().lastError).toMatchObject({
        code: expect.any(String),
        message: 'Not for you',
        source: { server: 'shop', name: 'refuse' },
      });
    });
  });

  test('do not count an answer from the cache as a message', async () => {
    let asked = 0;
    await everyWire(server, async (client, { over, revision }) => {
      if (over !== 'http' || revision !== '2026-07-28') return;
      await client.tools().all();
      const { lastActivityAt } = client.info();
      await until('a millisecond has passed', () => new Date().toISOString() > lastActivityAt);
      await client.tools().all();
      asked += 1;
      expect(client.info().lastActivityAt).toBe(lastActivityAt);
    });
    expect(asked).toBe(1);
  });
});
