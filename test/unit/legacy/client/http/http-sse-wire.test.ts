import { createServer, tool } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { expect, onTestFinished, test, vi } from 'vitest';
import { httpSseWire } from '../../../../../src/legacy/client/http/http-sse-wire.js';
import type { McpError } from '../../../../../src/protocol/errors.js';
import type { Wire } from '../../../../../src/transports/client/wire.js';
import { wireExchange } from '../../../../../src/transports/client/wire-exchange.js';
import type { HttpLinkOptions } from '../../../../../src/transports/http/client/link.js';
import { type Reply, scriptedServer, status, stream } from '../../../../support/http/http-server.js';
import { soon, until } from '../../../../support/until.js';

interface Connection {
  readonly wire: Wire;
  // biome-ignore lint/suspicious/noExplicitAny: whatever was sent
  readonly messages: any[];
  readonly problems: string[];
  readonly closed: McpError[];
}

function start(url: URL, http: HttpLinkOptions = {}): Connection {
  const wire = httpSseWire(url, http);
  const connection: Connection = { wire, messages: [], problems: [], closed: [] };
  wire.start({
    message: (text) => connection.messages.push(JSON.parse(text)),
    tooLong: (reason) => connection.problems.push(reason),
    problem: (message) => connection.problems.push(message),
    closed: (reason) => connection.closed.push(reason),
  });
  return connection;
}

async function end({ closed }: Connection): Promise<McpError> {
  await until('it is closed', () => closed.length > 0);
  return closed[0] as McpError;
}

/** A server whose stream names `endpoint`; the test decides what it does with messages. */
function sse(endpoint: string, post: Reply = (_, response) => status(response, 202)): Reply {
  return (request, response) => {
    if (request.method !== 'GET') return post(request, response);
    stream(response);
    response.write(`event: endpoint\ndata: ${endpoint}\n\n`);
  };
}

const request = (id: number): string => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });

test('messages wait for the endpoint and are posted in order, and the messages of the stream are delivered', async () => {
  // A message waits at most 250 ms for the one before it, which a busy machine may need.
  const { setTimeout: later } = globalThis;
  const patient = vi
    .spyOn(globalThis, 'setTimeout')
    .mockImplementation(((run: () => void, ms?: number) => later(run, ms === 250 ? 60_000 : ms)) as never);
  onTestFinished(() => patient.mockRestore());
  await using server = await scriptedServer((received, response) => {
    if (received.method === 'POST') {
      setTimeout(() => status(response, 202), received.body?.id === 1 ? 30 : 0);
      return;
    }
    const { say } = stream(response);
    setTimeout(() => {
      response.write('event: endpoint\ndata: messages?sessionId=7\n\n');
      say({ hello: 1 });
      response.write('event: message\ndata: {"hello":2}\n\nevent: other\ndata: {"hello":3}\n\n');
    }, 30);
  });
  const connection = start(server.url, { auth: 'abc', headers: { 'x-a': 'b' } });
  for (const id of [1, 2, 3]) connection.wire.send(request(id));
  await until('all have arrived', () => server.received.length === 4);
  expect(connection.messages).toEqual([{ hello: 1 }, { hello: 2 }]);
  const [get, ...posts] = server.received;
  expect(get).toMatchObject({
    method: 'GET',
    path: '/mcp',
    headers: { accept: 'text/event-stream', 'x-a': 'b' },
  });
  expect(posts.map(({ body }) => body?.id)).toEqual([1, 2, 3]);
  for (const { path, headers } of posts) {
    expect(path).toBe('/messages?sessionId=7');
    expect(headers).toMatchObject({ authorization: 'Bearer abc', 'content-type': 'application/json' });
  }
  await connection.wire.close();
  await server.quiet();
  connection.wire.send(request(4));
  expect(connection.closed).toEqual([]);
  expect(connection.problems).toEqual([]);
});

test('a redirect of the stream is followed, and the endpoint is resolved against its target', async () => {
  await using server = await scriptedServer((received, response) => {
    if (received.path === '/mcp') response.writeHead(301, { location: '/v1/sse' }).end();
    else sse('messages')(received, response);
  });
  const connection = start(server.url);
  connection.wire.send(request(1));
  await until('it has arrived', () => server.received.length === 3);
  expect(server.received.map(({ path }) => path)).toEqual(['/mcp', '/v1/sse', '/v1/messages']);
  await connection.wire.close();
  await server.quiet();
});

test('a server that answers a POST late does not delay other messages', async () => {
  await using server = await scriptedServer(
    sse('/post', ({ body }, response) => {
      if (body?.id !== 1) status(response, 200);
    }),
  );
  const connection = start(server.url);
  connection.wire.send(request(1));
  connection.wire.send(request(2));
  await until('both have arrived', () => server.received.length === 3);
  await connection.wire.close();
  await server.quiet();
});

test.each<[string, Reply, string, RegExp]>([
  [
    'an endpoint of another origin',
    sse('https://evil.example/post?x=s3cret'),
    'bad_response',
    /another origin, https:\/\/evil\.example\. This is refused/,
  ],
  ['an endpoint that is not a URL', sse('http://['), 'bad_response', /invalid URL for messages/],
  [
    'a body that is not a stream',
    (_, response) => response.end('hello'),
    'bad_response',
    /did not answer a GET with an event stream/,
  ],
  ['404', (_, response) => status(response, 404), 'bad_response', /answered 404/],
  ['401', (_, response) => status(response, 401), 'unauthorized', /`auth`/],
  ['403', (_, response) => status(response, 403), 'forbidden', /`auth`/],
  [
    'the end of the stream',
    (_, response) => {
      stream(response);
      response.end();
    },
    'connection_closed',
    /has ended/,
  ],
  [
    'a broken stream',
    (_, response) => {
      stream(response);
      setTimeout(() => response.destroy(), 5);
    },
    'connection_closed',
    /has ended/,
  ],
])('a wire over HTTP+SSE is closed with a reason: %s', async (_, reply, code, words) => {
  await using server = await scriptedServer(reply);
  const connection = start(new URL(`${server.url}?key=s3cret`), { auth: 's3cret-token' });
  connection.wire.send(request(1));
  const reason = await end(connection);
  expect(reason.code).toBe(code);
  expect(reason.message).toMatch(words);
  expect(reason.message).not.toContain('s3cret');
  await connection.wire.close();
  await server.quiet();
  expect(connection.closed).toHaveLength(1);
});

test('a wire over HTTP+SSE is closed if no endpoint arrives within ten seconds', async () => {
  await using server = await scriptedServer((_, response) => void stream(response));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const connection = start(server.url);
    await vi.advanceTimersByTimeAsync(9999);
    expect(connection.closed).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(connection.closed[0]).toMatchObject({ code: 'timeout' });
    await connection.wire.close();
  } finally {
    vi.useRealTimers();
  }
  await server.quiet();
});

test('a rejected request gets an error response, a rejected notification is reported, and 404 closes the wire', async () => {
  await using server = await scriptedServer(
    sse('/post', ({ body }, response) => status(response, body?.id === 3 ? 404 : 413)),
  );
  const connection = start(server.url);
  connection.wire.send(request(1));
  connection.wire.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  await until('both have failed', () => connection.problems.length === 1);
  expect(connection.messages).toMatchObject([
    { id: 1, error: { message: expect.stringContaining('answered 413') } },
  ]);
  connection.wire.send(request(3));
  expect((await end(connection)).code).toBe('connection_closed');
  await connection.wire.close();
  await server.quiet();
});

test('a wire over HTTP+SSE carries a handshake and a call to a fullmcp server', async () => {
  const own = createServer({
    name: 'own',
    version: '1.0.0',
    tools: { greet: tool({ run: () => 'Hello' }) },
  });
  await using serving = await serve(own, { port: 0, signals: false });
  const exchange = wireExchange(httpSseWire(new URL('/sse', serving.url), {}));
  exchange.listen({
    request: () => Promise.reject(new Error('not expected')),
    notification: () => {},
    problem: (message) => expect.fail(message),
    closed: (reason) => expect.fail(reason.message),
  });
  const { signal } = new AbortController();
  const ask = (method: string, params: Record<string, unknown>): Promise<Record<string, unknown>> =>
    soon(method, exchange.request({ method, params, signal }));
  const clientInfo = { name: 'test', version: '1' };
  expect(
    await ask('initialize', { protocolVersion: '2024-11-05', capabilities: {}, clientInfo }),
  ).toMatchObject({
    protocolVersion: '2024-11-05',
  });
  exchange.notify('notifications/initialized');
  expect(await ask('tools/call', { name: 'greet', arguments: {} })).toMatchObject({
    content: [{ text: 'Hello' }],
  });
  await exchange.close();
});
