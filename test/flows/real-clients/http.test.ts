import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from 'fullmcp';
import { createNodeHandler } from 'fullmcp/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Exchange, openEvents, type Reply, send } from '../../support/http/http.js';
import { rawSocket } from '../../support/http/raw.js';
import { fixture, type HttpProcess, startHttp } from '../../support/processes.js';
import { soon, until } from '../../support/until.js';
import { call, initialize, initialized, modern, request } from './traced.js';

// Observed behaviour of real clients over HTTP that servers often handle wrongly.

type Headers = Readonly<Record<string, string | undefined>>;

const BOTH = 'application/json, text/event-stream';
let server: HttpProcess;
let mcp: string;
let sse: string;

beforeAll(async () => {
  server = await startHttp(fixture, 'http');
  mcp = server.url;
  sse = new URL('/sse', mcp).href;
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

function post(message: object, headers: Headers = {}, url = mcp): Promise<Reply> {
  const all = { 'content-type': 'application/json', accept: BOTH, ...headers };
  return soon('The answer', send(url, { headers: all, body: JSON.stringify(message) }));
}

/** Sends a request without a body, and fails if the reply stays open. */
function bare(url: string, exchange: Exchange): Promise<Reply> {
  return soon(`The answer to ${exchange.method} ${url}`, send(url, exchange));
}

/** The handshake with only the required headers; returns the header that identifies the session. */
async function handshake(revision: string, headers: Headers = {}): Promise<{ 'mcp-session-id': string }> {
  const reply = await post(initialize(0, revision), headers);
  expect(reply.status).toBe(200);
  expect(JSON.parse(reply.text)).toMatchObject({ id: 0, result: { protocolVersion: revision } });
  const session = { 'mcp-session-id': String(reply.headers['mcp-session-id']) };
  expect((await post(initialized, { ...headers, ...session })).status).toBe(202);
  return session;
}

/** The messages of a reply, whether it came as JSON or as a stream. */
function messages({ headers, text }: Reply): Record<string, unknown>[] {
  if (headers['content-type'] === 'application/json') return [JSON.parse(text)];
  const data = text.split('\n').filter((line) => line.startsWith('data: {'));
  return data.map((line) => JSON.parse(line.slice('data: '.length)));
}

function last(reply: Reply): Record<string, unknown> {
  return messages(reply).at(-1) ?? {};
}

describe('GET without a session', () => {
  const probes: Record<string, Headers> = {
    'with Accept: text/event-stream': { accept: 'text/event-stream' },
    'with an old version': { accept: '*/*', 'mcp-protocol-version': '2024-11-05' },
    'with both types': { accept: BOTH },
    'with no Accept': {},
  };

  test.each(Object.entries(probes))('gets 405 %s, and does not disturb a session', async (_name, headers) => {
    const before = await bare(mcp, { method: 'GET', headers });
    expect(before.status).toBe(405);
    const session = await handshake('2025-06-18');
    const meanwhile = await bare(mcp, { method: 'GET', headers });
    expect(meanwhile.status).toBe(405);
    expect(last(await post(request(1, 'tools/list'), session))).toHaveProperty('result.tools');
  });
});

describe('a request for OAuth metadata that does not exist', () => {
  const paths = [
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
    '/mcp/.well-known/oauth-protected-resource',
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-authorization-server/mcp',
    '/mcp/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration/mcp',
    '/.well-known/openid-configuration',
    '/mcp/.well-known/openid-configuration',
  ];

  test.each(paths)('gets 404 for %s', async (path) => {
    for (const accept of ['*/*', 'application/json']) {
      const reply = await bare(new URL(path, mcp).href, { method: 'GET', headers: { accept } });
      expect(reply.status).toBe(404);
    }
  });

  test('gets 404 also from a handler that sees every path', async () => {
    const handler = createNodeHandler(createServer({ name: 'mounted', version: '1.0.0' }));
    const http = createHttpServer((req, res) => void handler(req, res)).listen(0, '127.0.0.1');
    try {
      await until('the server listens', () => http.listening);
      const { port } = http.address() as AddressInfo;
      const statuses = await Promise.all(
        paths.map(async (path) => (await bare(`http://127.0.0.1:${port}${path}`, { method: 'GET' })).status),
      );
      expect(statuses).toEqual(paths.map(() => 404));
    } finally {
      await handler.close();
      http.close();
    }
  });
});

describe('the server', () => {
  test('ignores a 2026 header on requests of 2025', async () => {
    const headers = { 'mcp-method': 'initialize' };
    const session = await handshake('2025-11-25', headers);
    const reply = await post(request(1, 'tools/list'), { ...headers, ...session });
    expect(reply.status).toBe(200);
    expect(last(reply)).toHaveProperty('result.tools');
  });

  test('accepts the version header on initialize itself', async () => {
    const session = await handshake('2025-11-25', { 'mcp-protocol-version': '2025-11-25' });
    expect((await post(request(1, 'ping'), session)).status).toBe(200);
  });

  test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'does not require a version header in a session of %s',
    async (revision) => {
      const session = await handshake(revision);
      const stream = await openEvents(mcp, {
        method: 'GET',
        headers: { ...session, accept: 'text/event-stream' },
      });
      expect(stream.status).toBe(200);
      const { result } = last(await post(request(1, 'tools/call', call('client')), session));
      expect(JSON.stringify(result)).toContain(revision);
      stream.drop();
      expect((await bare(mcp, { method: 'DELETE', headers: session })).status).toBe(200);
    },
  );

  const accepts = [BOTH, 'text/event-stream, application/json', '*/*', undefined];
  test.each(accepts)(
    'serves a client with Accept: %s, whether or not a call reports progress',
    async (accept) => {
      const session = await handshake('2025-11-25', { accept });
      const headers = { ...session, accept };
      expect(last(await post(request(1, 'tools/call', call('add', { a: 1, b: 2 })), headers))).toMatchObject({
        id: 1,
        result: { content: [{ text: '3' }] },
      });
      const counted = await post(
        request(2, 'tools/call', call('count', { to: 2 }, { progressToken: 0 })),
        headers,
      );
      expect(messages(counted)).toMatchObject([
        { method: 'notifications/progress', params: { progressToken: 0, progress: 1 } },
        { method: 'notifications/progress', params: { progressToken: 0, progress: 2 } },
        { id: 2, result: { content: [{ text: 'counted to 2' }] } },
      ]);
    },
  );

  test.each(['identity', 'gzip, deflate, br'])(
    'sends uncompressed replies to a client with Accept-Encoding: %s',
    async (encoding) => {
      const session = await handshake('2025-11-25', { 'accept-encoding': encoding });
      const reply = await post(request(1, 'tools/list'), { ...session, 'accept-encoding': encoding });
      expect(reply.headers['content-encoding']).toBeUndefined();
      expect(last(reply)).toHaveProperty('result.tools');
    },
  );
});

describe('a session over HTTP', () => {
  const ids = ['2f1c9e0a-8f5e-4c59-9b0a-0d6f4f1e7a11:7', 0, '0', Number.MAX_SAFE_INTEGER, 'ü"\\'];
  test.each(ids)('returns the id %j unchanged, and so does a modern call', async (id) => {
    const session = await handshake('2025-11-25');
    expect(last(await post(request(id, 'ping'), session))).toEqual({ jsonrpc: '2.0', id, result: {} });
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
    expect(last(await post(modern(id, 'tools/list'), headers))).toMatchObject({ id });
  });

  test('answers parallel calls out of order, each with its own result', async () => {
    const session = await handshake('2025-06-18');
    const key = 'http order';
    const slow = post(request(8, 'tools/call', call('gate', { key }, { progressToken: 2 })), session);
    const [six, seven] = await Promise.all([
      post(request(6, 'tools/call', call('say', { text: 'six' }, { progressToken: 0 })), session),
      post(request(7, 'tools/call', call('open', { key }, { progressToken: 1 })), session),
    ]);
    expect(last(six)).toMatchObject({ id: 6, result: { content: [{ text: 'six' }] } });
    expect(last(seven)).toMatchObject({ id: 7, result: { content: [{ text: 'opened' }] } });
    expect(last(await slow)).toMatchObject({ id: 8, result: { content: [{ text: `${key} is open` }] } });
  });

  test('serves the stream and the first list when they are requested together', async () => {
    const session = await handshake('2025-11-25');
    const [stream, list] = await Promise.all([
      openEvents(mcp, { method: 'GET', headers: { ...session, accept: 'text/event-stream' } }),
      post(request(1, 'tools/list', { _meta: { progressToken: 0 } }), session),
    ]);
    expect(stream.status).toBe(200);
    expect(last(list)).toHaveProperty('result.tools');
    stream.drop();
  });

  test('rejects an answer to a question that it did not ask, and continues', async () => {
    const session = await handshake('2025-11-25');
    const answer = { jsonrpc: '2.0', id: 'q1', result: { action: 'decline' } };
    expect(await post(answer, session)).toMatchObject({ status: 400 });
    const error = { jsonrpc: '2.0', id: 'q2', error: { code: -32601, message: 'Method not found' } };
    expect(await post(error, session)).toMatchObject({ status: 400 });
    expect(last(await post(request(1, 'tools/list'), session))).toHaveProperty('result.tools');
  });

  test('adds structured content to text that is JSON but not an object', async () => {
    const session = await handshake('2025-06-18');
    for (const [text, result] of [
      ['42.5', 42.5],
      ['[1]', [1]],
      ['true', true],
    ] as const) {
      expect(last(await post(request(1, 'tools/call', call('say', { text })), session))['result']).toEqual({
        content: [{ type: 'text', text }],
        structuredContent: { result },
        _meta: { 'fullmcp/structured': 'parsed' },
      });
    }
  });
});

describe('an endpoint that serves two eras', () => {
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' };

  test('accepts initialize after server/discover', async () => {
    const probe = await post(modern('server-discover-probe-1', 'server/discover'), headers);
    expect(last(probe)).toHaveProperty('result.supportedVersions');
    expect(probe.headers['mcp-session-id']).toBeUndefined();
    const session = await handshake('2025-11-25');
    expect((await post(request(1, 'tools/list'), session)).status).toBe(200);
  });

  test('names the supported revisions to a rejected probe, and then accepts initialize', async () => {
    const probe = modern(0, 'server/discover');
    const strange = JSON.parse(JSON.stringify(probe).replaceAll('2026-07-28', '2099-01-01'));
    const reply = await post(strange, { ...headers, 'mcp-protocol-version': '2099-01-01' });
    expect(reply.status).toBe(400);
    expect(last(reply)).toMatchObject({ id: 0, error: { data: { supported: ['2026-07-28'] } } });
    await handshake('2025-11-25');
  });

  test('answers tools/list as the first request of a client', async () => {
    const reply = await post(modern(0, 'tools/list'), { ...headers, 'mcp-method': 'tools/list' });
    expect(last(reply)).toMatchObject({ result: { tools: expect.any(Array) } });
  });

  test('passes the capabilities of a call to its handler, and accepts unknown metadata', async () => {
    const capabilities = { elicitation: {}, roots: {}, extensions: { 'io.modelcontextprotocol/ui': {} } };
    const meta = { 'claudecode/toolUseId': 'toolu_01', threadId: 't-1' };
    const message = modern(0, 'tools/call', call('client', {}, meta), capabilities);
    const reply = await post(message, { ...headers, 'mcp-method': 'tools/call', 'mcp-name': 'client' });
    expect(last(reply)).toMatchObject({ result: { structuredContent: { capabilities } } });
  });

  test('acknowledges each subscription of a client that drops one after the other', async () => {
    const listen = { notifications: { toolsListChanged: true, resourceSubscriptions: ['text://hello'] } };
    for (let round = 0; round < 3; round++) {
      const stream = await openEvents(mcp, {
        headers: {
          ...headers,
          'mcp-method': 'subscriptions/listen',
          'content-type': 'application/json',
          accept: BOTH,
        },
        body: JSON.stringify(modern('listen:0', 'subscriptions/listen', listen)),
      });
      expect(JSON.parse((await stream.next())?.data ?? '')).toMatchObject({
        method: 'notifications/subscriptions/acknowledged',
      });
      stream.drop();
    }
    expect((await post(modern(1, 'server/discover'), headers)).status).toBe(200);
  });
});

describe('the end of a session', () => {
  async function isOver(session: Headers): Promise<boolean> {
    return (await post(request(9, 'ping'), session)).status === 404;
  }

  test('comes with DELETE and Accept: */*', async () => {
    const session = await handshake('2025-11-25');
    expect(await isOver(session)).toBe(false);
    const reply = await bare(mcp, { method: 'DELETE', headers: { ...session, accept: '*/*' } });
    expect(reply.status).toBe(200);
    expect(await isOver(session)).toBe(true);
  });

  test('comes with DELETE from a client that closes its socket right after, and ends its stream', async () => {
    const session = await handshake('2025-06-18');
    const stream = await openEvents(mcp, {
      method: 'GET',
      headers: { ...session, accept: 'text/event-stream' },
    });
    const { port, host, pathname } = new URL(mcp);
    const socket = await rawSocket(Number(port));
    const lines = [
      `DELETE ${pathname} HTTP/1.1`,
      `Host: ${host}`,
      `Mcp-Session-Id: ${session['mcp-session-id']}`,
      'Accept: */*',
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`, () => socket.destroy());
    await stream.rest();
    await until('the session is over', () => isOver(session));
  });

  test('is not required: a session that stays open disturbs neither the next session nor the shutdown', async () => {
    const own = await startHttp(fixture, 'http');
    const streams = [];
    for (let client = 0; client < 2; client++) {
      const reply = await post(initialize(0), {}, own.url);
      const headers = {
        'mcp-session-id': String(reply.headers['mcp-session-id']),
        accept: 'text/event-stream',
      };
      streams.push(await openEvents(own.url, { method: 'GET', headers }));
    }
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    expect(await soon('The end of the server', own.stop())).toBe(0);
  });
});

describe('a server over HTTP+SSE', () => {
  test("answers initialize on the stream's URL with 405, and the stream works afterwards", async () => {
    const reply = await post(initialize(0), {}, sse);
    expect(reply.status).toBe(405);
    const { endpoint, stream } = await open('text/event-stream');
    expect((await post(initialize(1, '2024-11-05'), {}, endpoint)).status).toBe(202);
    expect(JSON.parse((await stream.next())?.data ?? '')).toMatchObject({
      id: 1,
      result: { protocolVersion: '2024-11-05' },
    });
    stream.drop();
  });

  test('accepts Accept: */* for the stream and for its POSTs', async () => {
    const { endpoint, stream } = await open('*/*');
    expect((await post(initialize(0), { accept: '*/*' }, endpoint)).status).toBe(202);
    await stream.next();
    expect((await post(initialized, { accept: '*/*' }, endpoint)).status).toBe(202);
    const message = request('u:1', 'tools/call', call('count', { to: 1 }, { progressToken: 0 }));
    expect((await post(message, { accept: '*/*' }, endpoint)).status).toBe(202);
    expect(JSON.parse((await stream.next())?.data ?? '')).toMatchObject({ params: { progressToken: 0 } });
    expect(JSON.parse((await stream.next())?.data ?? '')).toMatchObject({ id: 'u:1' });
    stream.drop();
  });

  test('serves a third stream after two were opened and dropped', async () => {
    for (let round = 0; round < 2; round++) (await open('text/event-stream')).stream.drop();
    const { endpoint, stream } = await open('text/event-stream');
    await post(initialize(0), {}, endpoint);
    expect(JSON.parse((await stream.next())?.data ?? '')).toMatchObject({ id: 0 });
    stream.drop();
  });

  async function open(
    accept: string,
  ): Promise<{ endpoint: string; stream: Awaited<ReturnType<typeof openEvents>> }> {
    const stream = await openEvents(sse, { method: 'GET', headers: { accept } });
    expect(stream.status).toBe(200);
    const event = await stream.next();
    expect(event?.event).toBe('endpoint');
    return { endpoint: new URL(event?.data ?? '', sse).href, stream };
  }
});
