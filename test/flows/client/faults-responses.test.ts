import { afterEach, describe, expect, test } from 'vitest';
import { type Client, connect, KnownServers } from '../../../src/client.js';
import { cleanup, failure } from '../../support/faults.js';
import {
  type Act,
  type Acts,
  content,
  type FaultyServer,
  faultyServer,
  first,
  modernServer,
  pour,
} from '../../support/http/faulty-http.js';
import { json, result, stream } from '../../support/http/http-server.js';
import { leaveNothingBehind } from '../../support/leaks.js';
import { until } from '../../support/until.js';

// Wrong, incomplete and missing responses of a modern server over HTTP.

leaveNothingBehind();
const { closeLater, closeAll } = cleanup();
afterEach(closeAll);

const never: Act = () => undefined;

async function start(acts: Acts = {}): Promise<FaultyServer> {
  return closeLater(await faultyServer(() => modernServer(acts)));
}

async function connectTo({ url }: FaultyServer): Promise<Client> {
  return closeLater(await connect(url, { knownServers: new KnownServers() }));
}

describe('a call over HTTP', () => {
  const half = JSON.stringify({ jsonrpc: '2.0', id: 1, result: content('half') }).slice(0, 40);
  const acts: Acts = {
    never,
    'headers only': (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    },
    'half a body': (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write(half);
    },
    'a silent stream': (_request, response) => void stream(response),
    'half an event': (_request, response) => {
      stream(response);
      response.write(`data: ${half}`);
    },
    'progress and silence': ({ body }, response) => {
      const params = { progressToken: body?.params._meta.progressToken, progress: 1 };
      stream(response).say({ jsonrpc: '2.0', method: 'notifications/progress', params });
    },
  };

  test.each(Object.keys(acts))(
    'times out if its response stalls (%s), and its request is closed',
    async (tool) => {
      const server = await start(acts);
      const client = await connectTo(server);
      const error = await failure(client.callTool(tool, {}, { timeoutMs: 200 }));
      expect(error.code).toBe('timeout');
      expect(error.message).toBe(`tools/call "${tool}": no response and no progress for 200 ms (timeoutMs)`);
      expect(client.pending()).toEqual([]);
      await until('the request is closed', () => server.open() === 0);
      expect((await client.callTool('echo')).text).toBe('hello');
    },
  );

  const ends: Acts = {
    'a body that breaks off': (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write(half);
      setImmediate(() => response.socket?.destroy());
    },
    'a body that is too short': (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 });
      response.write(half);
      setImmediate(() => response.socket?.destroy());
    },
    'an event that breaks off': (_request, response) => {
      stream(response);
      response.write(`data: ${half}`);
      setImmediate(() => response.socket?.destroy());
    },
    'a stream that ends in an event': (_request, response) => {
      stream(response);
      response.end(`data: ${half}`);
    },
    'a stream without an answer': (_request, response) => {
      stream(response);
      response.end(': nothing\n\n');
    },
  };

  test.each(Object.keys(ends))(
    'fails, and is not repeated, if its response breaks off (%s)',
    async (tool) => {
      const server = await start(ends);
      const client = await connectTo(server);
      const error = await failure(client.callTool(tool));
      expect(error.code).toBe('connection_closed');
      expect(error.message).toBe(`The answer of ${server.url} ended before it was complete.`);
      expect(server.requests().filter((request) => request.startsWith('tools/call'))).toHaveLength(1);
      expect((await client.callTool('echo')).text).toBe('hello');
      expect(client.status).toBe('ready');
    },
  );

  test.each(Object.keys(ends))(
    'is repeated if that is safe and its response breaks off (%s)',
    async (tool) => {
      const list: Act = (request, response) =>
        json(response, result(request, { resultType: 'complete', tools: [] }));
      const server = await start({ 'tools/list': first(1, ends[tool] as Act, list) });
      const client = await connectTo(server);
      expect(await client.tools().all()).toEqual([]);
    },
  );
});

describe('a wrong response', () => {
  test('is ignored if it is the second to the same request', async () => {
    const server = await start({
      twice: (request, response) => {
        const { say } = stream(response);
        say(result(request, content('the first')));
        say(result(request, content('the second')));
        response.end();
      },
    });
    const client = await connectTo(server);
    expect((await client.callTool('twice')).text).toBe('the first');
  });

  test.each<[how: string, code: string, act: Act]>([
    [
      'a body',
      'bad_response',
      (_request, response) => json(response, { jsonrpc: '2.0', id: 4711, result: content('wrong') }),
    ],
    [
      'a stream',
      'connection_closed',
      (_request, response) => {
        stream(response).say({ jsonrpc: '2.0', id: 4711, result: content('wrong') });
        response.end();
      },
    ],
  ])(
    'with the id of another request fails the call, and the id is reported (%s)',
    async (_how, code, act) => {
      const server = await start({ wrong: act });
      const client = await connectTo(server);
      const error = await failure(client.callTool('wrong'));
      expect(error.code).toBe(code);
      expect(error.message).toContain(server.url);
      expect([error.message, ...client.info().problems].join('\n')).toContain('id 4711');
    },
  );

  test('that is garbage in a stream is skipped and reported', async () => {
    const server = await start({
      garbage: (request, response) => {
        const { say } = stream(response);
        response.write('data: {"jsonrpc":"2.0","id"\n\ndata: hello\n\nnonsense\n\n\u0000\n\n');
        say(null);
        say([]);
        say({ id: 1 });
        say(result(request, content('after the garbage')));
        response.end();
      },
    });
    const client = await connectTo(server);
    expect((await client.callTool('garbage')).text).toBe('after the garbage');
    expect(client.info().problems.join('\n')).toContain('not JSON');
  });

  test('without a result type counts as complete', async () => {
    const server = await start({
      untyped: (request, response) =>
        json(response, result(request, { content: [{ type: 'text', text: 'untyped' }] })),
    });
    const client = await connectTo(server);
    expect((await client.callTool('untyped')).text).toBe('untyped');
  });

  test.each<[string, Record<string, string | number>]>([
    ['a body with a length', { 'content-type': 'application/json', 'content-length': 100 * 1024 * 1024 }],
    ['a body without a length', { 'content-type': 'application/json' }],
    ['an event', { 'content-type': 'text/event-stream' }],
  ])('of 100 MB fails the call and is not read to its end (%s)', async (_how, headers) => {
    let sent: (() => number) | undefined;
    const server = await start({
      large: (_request, response) => {
        response.writeHead(200, headers);
        if (headers['content-type'] === 'text/event-stream') response.write('data: ');
        ({ sent } = pour(response));
      },
    });
    const client = await connectTo(server);
    const error = await failure(client.callTool('large'));
    expect(error.code).toBe('bad_response');
    expect(error.message).toBe(
      'The answer is larger than 33554432 bytes. Ask for less, or raise `maxMessageBytes`.',
    );
    await until('the request is closed', () => server.open() === 0);
    expect(sent?.()).toBeLessThan(60 * 1024 * 1024);
    expect((await client.callTool('echo')).text).toBe('hello');
  });
});
