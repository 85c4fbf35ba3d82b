import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type Serving, serve } from '../../../src/node.js';
import { type Attacked, attackedServer } from '../../support/http/attacked-server.js';
import { send } from '../../support/http/http.js';
import { callText, modern, modernExchange } from '../../support/http/modern.js';
import { head, rawSocket, readAll } from '../../support/http/raw.js';
import { initializeMessage, jsonHeaders, openSession } from '../../support/http/sessions.js';
import { soon } from '../../support/until.js';

// Requests with wrong headers or metadata, from foreign hosts and origins, or with other content types and methods.

let attacked: Attacked;
let serving: Serving;
let url: string;

beforeAll(async () => {
  attacked = attackedServer();
  serving = await serve(attacked.server, {
    port: 0,
    signals: false,
    allowedOrigins: ['https://app.example.com'],
  });
  url = serving.url;
});

afterAll(() => serving.close());

const echo = { name: 'echo', arguments: { text: 'hi' } };

describe('a request whose headers mirror its body', () => {
  test.each<[what: string, headers: Record<string, string | undefined>, mentions: string]>([
    ['another version', { 'mcp-protocol-version': '2025-11-25' }, 'MCP-Protocol-Version'],
    ['an unknown version', { 'mcp-protocol-version': '1999-01-01' }, 'MCP-Protocol-Version'],
    ['no version', { 'mcp-protocol-version': undefined }, 'MCP-Protocol-Version'],
    ['another method', { 'mcp-method': 'tools/list' }, 'Mcp-Method'],
    ['another case of the method', { 'mcp-method': 'Tools/Call' }, 'Mcp-Method'],
    ['no method', { 'mcp-method': undefined }, 'Mcp-Method'],
    ['another name', { 'mcp-name': 'crash' }, 'Mcp-Name'],
    ['a name that decodes to another', { 'mcp-name': '=?base64?Y3Jhc2g=?=' }, 'Mcp-Name'],
    ['no name', { 'mcp-name': undefined }, 'Mcp-Name'],
  ])('is rejected if they have %s', async (_what, headers, mentions) => {
    const reply = await modern(url, 'tools/call', echo, { headers });
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text)).toMatchObject({
      id: 1,
      error: { code: -32020, message: expect.stringContaining(mentions) },
    });
  });

  test('is rejected if Mcp-Name is sent twice', async () => {
    const { headers, body } = modernExchange('tools/call', echo);
    const socket = await rawSocket(serving.port);
    const lines = Object.entries({
      ...headers,
      host: 'localhost',
      'content-length': `${String(body).length}`,
    });
    socket.write(
      head([
        'POST /mcp HTTP/1.1',
        ...lines.map(([name, value]) => `${name}: ${value}`),
        'mcp-name: crash',
        'connection: close',
      ]) + String(body),
    );
    const answer = await soon('The answer', readAll(socket));
    expect(answer).toContain('HTTP/1.1 400');
    expect(answer).toContain('-32020');
  });

  test('is accepted if the name is encoded and agrees', async () => {
    const reply = await modern(url, 'tools/call', echo, { headers: { 'mcp-name': '=?base64?ZWNobw==?=' } });
    expect(reply.status).toBe(200);
  });

  test.each<[what: string, args: object, header: string | undefined]>([
    ['is missing', { region: 'eu' }, undefined],
    ['has another value', { region: 'eu' }, 'us'],
    ['has a value and the body has none', {}, 'eu'],
  ])('is rejected if the header of a parameter %s', async (_what, args, header) => {
    const reply = await modern(
      url,
      'tools/call',
      { name: 'routed', arguments: args },
      { headers: { 'mcp-param-region': header } },
    );
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text).error).toMatchObject({
      code: -32020,
      message: expect.stringContaining('Mcp-Param-Region'),
    });
  });

  test('is accepted if the header of a parameter agrees', async () => {
    const params = { name: 'routed', arguments: { region: 'eu' } };
    const reply = await modern(url, 'tools/call', params, { headers: { 'mcp-param-region': 'eu' } });
    expect(JSON.parse(reply.text).result.content[0].text).toBe('{"region":"eu"}');
  });
});

describe('a request with wrong metadata', () => {
  test.each<[what: string, meta: Record<string, unknown>, code: number, status: number]>([
    ['capabilities that are a string', { 'io.modelcontextprotocol/clientCapabilities': 'all' }, -32602, 400],
    ['no capabilities', { 'io.modelcontextprotocol/clientCapabilities': undefined }, -32602, 400],
    ['client info that is an array', { 'io.modelcontextprotocol/clientInfo': [] }, -32602, 400],
    ['a log level that does not exist', { 'io.modelcontextprotocol/logLevel': 'loud' }, -32602, 200],
  ])('is rejected: %s', async (_what, meta, code, status) => {
    const reply = await modern(url, 'tools/call', echo, { meta });
    expect(reply.status).toBe(status);
    expect(JSON.parse(reply.text).error.code).toBe(code);
  });

  test('is rejected with the supported versions if its version is unknown', async () => {
    const version = '2031-01-01';
    const reply = await modern(url, 'tools/call', echo, {
      meta: { 'io.modelcontextprotocol/protocolVersion': version },
      headers: { 'mcp-protocol-version': version },
    });
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text).error).toMatchObject({
      code: -32022,
      data: { supported: ['2026-07-28'], requested: version },
    });
  });
});

describe('the guard of hosts and origins', () => {
  test.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.5',
    'localhost:abc',
    'localhost:99999',
    'a@localhost',
    'localhost/x',
    '[::1',
    '::1',
    'localhost:80:80',
  ])('rejects the host %j', async (host) => {
    const reply = await modern(url, 'tools/call', echo, { headers: { host } });
    expect(reply.status).toBe(403);
    expect(JSON.parse(reply.text).error.code).toBe(-32600);
  });

  test('rejects several hosts as a bad request', async () => {
    const reply = await modern(url, 'tools/call', echo, { headers: { host: 'localhost, evil.example' } });
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text).error.code).toBe(-32600);
  });

  test('rejects a request without a host', async () => {
    const socket = await rawSocket(serving.port);
    socket.write(head(['GET /mcp HTTP/1.0']));
    expect(await soon('The answer', readAll(socket))).toContain('HTTP/1.1 403');
  });

  test.each(['localhost', '127.0.0.1', 'LOCALHOST:80', '[::1]:9', 'app.localhost'])(
    'accepts the host %j',
    async (host) => {
      expect((await modern(url, 'tools/call', echo, { headers: { host } })).status).toBe(200);
    },
  );

  test.each([
    'https://evil.example',
    'null',
    'http://localhost.evil.example',
    'file://',
    'evil.example',
    '',
    'http://localhost, https://evil.example',
    'http://user@localhost',
    'http://localhost/path',
    'http://localhost:abc',
    'HTTP://LOCALHOST',
    'http://localhost#',
    ' ',
  ])('rejects the origin %j', async (origin) => {
    const reply = await modern(url, 'tools/call', echo, { headers: { origin } });
    expect(reply.status).toBe(403);
    expect(reply.headers['access-control-allow-origin']).toBeUndefined();
  });

  test.each(['https://app.example.com', 'http://localhost:5173'])('accepts the origin %j', async (origin) => {
    const reply = await modern(url, 'tools/call', echo, { headers: { origin } });
    expect(reply.status).toBe(200);
    expect(reply.headers['access-control-allow-origin']).toBe(origin);
  });

  test.each(['GET', 'DELETE', 'OPTIONS', 'PUT'])(
    'rejects %s from a foreign origin, also on the path of HTTP+SSE',
    async (method) => {
      const headers = { origin: 'https://evil.example' };
      expect((await send(url, { method, headers })).status).toBe(403);
      expect((await send(url.replace('/mcp', '/sse'), { method, headers })).status).toBe(403);
    },
  );

  test.each<[what: string, options: { host?: string; origin?: string }]>([
    ['a wrong origin', { origin: 'https://evil.example' }],
    ['the origin null', { origin: 'null' }],
    ['a wrong host', { host: 'evil.example' }],
  ])('rejects a WebSocket with %s', async (_what, { host, origin }) => {
    const socket = new WebSocket(url.replace('http', 'ws'), 'mcp', {
      ...(origin !== undefined && { origin }),
      headers: host === undefined ? {} : { host },
    });
    socket.on('error', () => undefined);
    const status = await soon(
      'The refusal',
      new Promise((resolve) => socket.on('unexpected-response', (_req, res) => resolve(res.statusCode))),
    );
    expect(status).toBe(403);
    socket.terminate();
  });

  test('rejects a WebSocket on another path', async () => {
    const socket = new WebSocket(url.replace('http', 'ws').replace('/mcp', '/other'));
    socket.on('error', () => undefined);
    const status = await soon(
      'The refusal',
      new Promise((resolve) => socket.on('unexpected-response', (_req, res) => resolve(res.statusCode))),
    );
    expect(status).toBe(404);
  });
});

describe('content negotiation', () => {
  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', undefined])(
    'answers the content type %s with 415',
    async (type) => {
      const reply = await modern(url, 'tools/call', echo, { headers: { 'content-type': type } });
      expect(reply.status).toBe(415);
      expect(JSON.parse(reply.text).error.code).toBe(-32600);
    },
  );

  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON'])(
    'accepts the content type %s',
    async (type) => {
      expect((await modern(url, 'tools/call', echo, { headers: { 'content-type': type } })).status).toBe(200);
    },
  );

  test.each([
    [undefined, 'text/event-stream'],
    ['*/*', 'text/event-stream'],
    ['application/json', 'application/json'],
    ['application/*', 'application/json'],
    ['text/html', 'application/json'],
  ])(
    'sends JSON to a client with Accept %s for a call without progress, and %s for one with progress',
    async (accept, withProgress) => {
      const meta = { progressToken: 'p' };
      const quiet = await modern(url, 'tools/call', echo, { headers: { accept } });
      expect(quiet.headers['content-type']).toBe('application/json');
      const params = { name: 'count', arguments: { to: 2 } };
      const loud = await modern(url, 'tools/call', params, { headers: { accept }, meta });
      expect(loud.headers['content-type']).toBe(withProgress);
      expect(loud.text).toContain('counted to 2');
    },
  );

  test('sends a stream for a result and a status for an error to a client that accepts only text/event-stream', async () => {
    const headers = { accept: 'text/event-stream' };
    const reply = await modern(url, 'tools/call', echo, { headers });
    expect(reply.headers['content-type']).toBe('text/event-stream');
    expect(reply.text).toContain('"text":"hi"');
    const unknown = await modern(url, 'tools/destroy', {}, { headers });
    expect(unknown.status).toBe(404);
    const mismatch = await modern(url, 'tools/call', echo, { headers: { ...headers, 'mcp-name': 'crash' } });
    expect(mismatch.status).toBe(400);
  });

  test('answers a subscription of a client that does not accept streams with 406', async () => {
    const params = { notifications: { toolsListChanged: true } };
    const reply = await modern(url, 'subscriptions/listen', params, {
      headers: { accept: 'application/json' },
    });
    expect(reply.status).toBe(406);
  });

  test('sends JSON to a session client that accepts only JSON', async () => {
    const session = await openSession(url);
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'count', arguments: { to: 2 }, _meta: { progressToken: 'p' } },
    };
    const reply = await session.post(call, { accept: 'application/json' });
    expect(reply.headers['content-type']).toBe('application/json');
    expect(JSON.parse(reply.text).result.content[0].text).toBe('counted to 2');
  });
});

describe('the endpoint', () => {
  test.each(['PUT', 'PATCH', 'HEAD', 'GET', 'DELETE'])(
    'answers %s without a session with 405',
    async (method) => {
      const reply = await send(url, { method });
      expect(reply.status).toBe(405);
      expect(reply.headers['allow']).toBe('POST, OPTIONS');
    },
  );

  test.each(['PUT', 'PATCH'])('answers %s in a session with 405', async (method) => {
    const session = await openSession(url);
    const reply = await send(url, { method, headers: session.headers, body: '{}' });
    expect(reply.status).toBe(405);
    expect(reply.headers['allow']).toBe('GET, POST, DELETE, OPTIONS');
  });

  test('names the allowed methods on the paths of HTTP+SSE, and answers an unknown session there with 404', async () => {
    const sse = await send(url.replace('/mcp', '/sse'), { method: 'POST', headers: jsonHeaders, body: '{}' });
    expect([sse.status, sse.headers['allow']]).toEqual([405, 'GET, OPTIONS']);
    const messages = await send(url.replace('/mcp', '/messages'), { method: 'GET' });
    expect([messages.status, messages.headers['allow']]).toEqual([405, 'POST, OPTIONS']);
    const wrongSession = await send(url.replace('/mcp', '/messages?sessionId=guess'), {
      headers: jsonHeaders,
      body: JSON.stringify(initializeMessage('2024-11-05')),
    });
    expect(wrongSession.status).toBe(404);
  });

  test('answers another path with 404', async () => {
    expect((await send(url.replace('/mcp', '/admin'), { method: 'GET' })).status).toBe(404);
  });

  test('grants a preflight from an allowed origin the valid ones of the headers it names', async () => {
    const reply = await send(url, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers':
          'content-type, mcp-protocol-version, Mcp-Param-Foo, X-Tenant, x evil, <x>,,',
      },
    });
    expect(reply.status).toBe(204);
    expect(reply.headers['access-control-allow-origin']).toBe('https://app.example.com');
    const granted = String(reply.headers['access-control-allow-headers']).split(', ');
    expect(granted).toEqual(['content-type', 'mcp-protocol-version', 'mcp-param-foo', 'x-tenant']);
    expect(reply.headers['access-control-allow-methods']).toContain('DELETE');
  });

  test('still serves calls after all these requests', async () => {
    expect(await callText(url, 'echo', { text: 'ok' })).toBe('ok');
    expect((await send(url.replace('/mcp', '/ready'), { method: 'GET' })).text).toBe('{"status":"ready"}');
    expect(attacked.running()).toBe(0);
  });
});
