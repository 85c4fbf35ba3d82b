import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { McpError } from '../../../../../src/protocol/errors.js';
import { call, empty, failing, failure, open, SECRET, text } from '../../../../support/http/http-link.js';
import {
  error,
  json,
  type Reply,
  result,
  scriptedServer,
  stream,
} from '../../../../support/http/http-server.js';
import { until } from '../../../../support/until.js';

describe('the HTTP link', () => {
  test('delivers the notifications that precede the response on a stream, and reports other messages', async () => {
    await using server = await scriptedServer((request, response) => {
      const { say } = stream(response);
      response.write(': hello\n\ndata: \n\nevent: ping\ndata: {}\n\ndata: not json\n\ndata: {"a":1}\n\n');
      say({ jsonrpc: '2.0', id: 'x', method: 'sampling/createMessage' });
      say({ jsonrpc: '2.0', id: 999, result: {} });
      say({ jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } });
      say(result(request, { content: [], extra: { kept: true } }));
      say(result(request, { second: true }));
      response.end();
    });
    const { link, problems } = await open(server.url);
    const events: unknown[] = [];
    const outcome = await call(
      link,
      'tools/call',
      { name: 'x' },
      { notify: (...event) => events.push(event) },
    );
    expect(outcome).toEqual({ content: [], extra: { kept: true }, resultType: 'complete' });
    expect(events).toEqual([['notifications/progress', { progress: 1 }]]);
    expect(problems).toHaveLength(4);
    await server.quiet();
  });

  test('reuses a connection after a stream', async () => {
    await using server = await scriptedServer((request, response) => {
      stream(response).say(result(request, { port: response.socket?.remotePort }));
      response.end();
    });
    const { link } = await open(server.url);
    const ports = [];
    for (let i = 0; i < 5; i++) ports.push((await call(link, 'x/y'))['port']);
    // The end of a stream may arrive a moment after its response.
    expect(new Set(ports).size).toBeLessThanOrEqual(2);
  });

  test('closes a stream that stays open after the response', async () => {
    await using server = await scriptedServer((request, response) =>
      stream(response).say(result(request, {})),
    );
    const { link } = await open(server.url);
    await call(link, 'tools/list');
    await server.quiet();
  });

  test.each<[string, Reply]>([
    ['ends without the response', empty],
    [
      'has only the response to another request',
      (request, response) => {
        stream(response).say({ ...result(request, {}), id: 77 });
        response.end();
      },
    ],
    [
      'breaks off',
      (_, response) => {
        stream(response);
        response.write('data: {"js', () => response.destroy());
      },
    ],
  ])('reports a stream that %s as incomplete', async (_, reply) => {
    const reason = await failing(reply);
    expect(reason.code).toBe('connection_closed');
    expect(reason.data).toEqual({ incomplete: true });
  });

  test.each<[string, Reply]>([
    [
      'by its declared length',
      (_, response) =>
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 5e8 }).write('{'),
    ],
    ['in chunks', (_, response) => void flood(response, 'application/json', ' ')],
    [
      'after decompression',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
        response.end(gzipSync(`"${'x'.repeat(200_000)}"`));
      },
    ],
    ['in an endless event', (_, response) => void flood(response, 'text/event-stream', 'data: x')],
  ])('rejects a response that is too large: %s', async (_, reply) => {
    const reason = await failing(reply, { maxMessageBytes: 100_000 });
    expect(reason.code).toBe('bad_response');
    expect(reason.message).toContain('larger than 100000 bytes');
  });

  function flood(response: Parameters<Reply>[1], type: string, start: string): void {
    response.writeHead(200, { 'content-type': type });
    response.write(start);
    const more = (): void => {
      if (!response.destroyed && response.write('x'.repeat(50_000))) setImmediate(more);
    };
    response.on('drain', more);
    more();
  }

  test.each<[string, Reply, Partial<McpError>, RegExp]>([
    [
      '401',
      text(401, SECRET, { 'www-authenticate': 'Bearer realm="x"' }),
      { code: 'unauthorized', status: 401, data: { status: 401, wwwAuthenticate: 'Bearer realm="x"' } },
      /`auth`.*`headers`/,
    ],
    ['403', text(403, `<html>${SECRET}`), { code: 'forbidden', status: 403 }, /`auth`/],
    [
      '404 with an error',
      (request, response) => json(response, error(request, -32601, 'No such method'), 404),
      { code: 'method_not_found', status: 404, number: -32601 },
      /^No such method$/,
    ],
    [
      '400 without an id',
      (_, response) =>
        json(response, { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'Odd' } }, 400),
      { code: 'remote_error', status: 400, number: -32000 },
      /^Odd$/,
    ],
    [
      '200 with an error',
      (request, response) => json(response, error(request, -32602, 'Wrong')),
      { code: 'invalid_params', status: 200 },
      /^Wrong$/,
    ],
    [
      '429',
      text(429, 'slow down', { 'retry-after': '7' }),
      { code: 'overloaded', data: { status: 429, retryAfterMs: 7000 } },
      /slow down/,
    ],
    [
      '503 with a long Retry-After, which is limited to an hour',
      text(503, '', { 'retry-after': '999999' }),
      { code: 'overloaded', data: { status: 503, retryAfterMs: 3_600_000 } },
      /503/,
    ],
    [
      '400 with an error that is nested too deeply',
      text(
        400,
        `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"x","data":${'['.repeat(1000)}${']'.repeat(1000)}}}`,
      ),
      { code: 'bad_response', status: 400 },
      /400/,
    ],
    [
      '500 with a page',
      text(500, `<html><head><TITLE>Oh no</TITLE></head><p>${SECRET}</p>`),
      { code: 'bad_response', status: 500 },
      /500: a web page titled "Oh no"$/,
    ],
    [
      '502 with a body that reveals too much',
      text(502, `token ${SECRET} ${'y'.repeat(999)}`),
      { code: 'bad_response', status: 502 },
      /^.{80,300}$/,
    ],
    [
      'a captive portal',
      text(200, '<!doctype html><title>Log in to the Wi-Fi</title>', { 'content-type': 'text/html' }),
      { code: 'bad_response', status: 200 },
      /a web page titled "Log in to the Wi-Fi" instead of MCP/,
    ],
    ['an empty 202', text(202, ''), { code: 'bad_response', status: 202 }, /an empty body/],
    [
      'a body that is not JSON',
      text(200, 'hello', { 'content-type': 'application/json' }),
      { code: 'bad_response' },
      /something other than JSON/,
    ],
    [
      'the response to another request',
      (request, response) => json(response, { ...result(request, {}), id: 77 }),
      { code: 'bad_response', data: { status: 200 } },
      /with JSON that does not answer the request\. A response with the id 77 was skipped/,
    ],
    [
      'JSON that is not a message',
      text(200, '{"ok":true}', { 'content-type': 'application/json' }),
      { code: 'bad_response' },
      /does not answer the request\..*"jsonrpc" must be "2\.0"/,
    ],
    ['an empty batch', text(200, '[]'), { code: 'bad_response' }, /does not answer the request\. Is this/],
    [
      '401 whose body never arrives',
      (_, response) => response.writeHead(401, { 'content-length': 100 }).write('x'),
      { code: 'unauthorized', status: 401 },
      /`auth`/,
    ],
    [
      'JSON that nests too deep',
      text(200, `{"jsonrpc":"2.0","id":1,"result":${'['.repeat(5000)}${']'.repeat(5000)}}`, {
        'content-type': 'application/json',
      }),
      { code: 'bad_response' },
      /nests deeper than 512 levels/,
    ],
    [
      'a broken connection',
      (_, response) => response.destroy(),
      { code: 'connect_failed' },
      /^The connection to \S+ broke before an answer came \((UND_ERR_SOCKET|ECONNRESET)\)\. Does the server still run\?/,
    ],
  ])('reports %s', async (_, reply, expected, words) => {
    const reason = await failing(reply);
    expect(reason).toMatchObject(expected);
    expect(reason.message).toMatch(words);
  });

  test('accepts a date in Retry-After', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1, 12) });
    onTestFinished(() => void vi.useRealTimers());
    const at = new Date(Date.now() + 60_000).toUTCString();
    const { data } = await failing(text(503, '', { 'retry-after': at }));
    expect(data).toMatchObject({ retryAfterMs: 60_000 });
  });

  test('reports that nothing listens', async () => {
    let port = '';
    {
      await using server = await scriptedServer(() => {});
      port = server.url.port;
    }
    const { link } = await open(new URL(`http://me:${SECRET}@127.0.0.1:${port}/mcp?key=${SECRET}`));
    const reason = await failure(call(link, 'tools/list'));
    expect(reason).toMatchObject({ code: 'connect_failed', data: { unsent: true, code: 'ECONNREFUSED' } });
    expect(reason.message).toContain(
      `http://127.0.0.1:${port}/mcp (ECONNREFUSED): nothing listens there. Is the server running?`,
    );
  });
});

test('a custom fetch may throw an McpError, which is kept, or another error, which becomes connect_failed', async () => {
  const first = await open(new URL('https://example.com/mcp'), {
    fetch: () => {
      throw new McpError('unauthorized', 'Log in first');
    },
  });
  expect((await failure(call(first.link, 'tools/list'))).message).toBe('Log in first');
  const second = await open(new URL('https://example.com/mcp'), {
    fetch: () => Promise.reject(new TypeError(SECRET)),
  });
  expect((await failure(call(second.link, 'tools/list'))).code).toBe('connect_failed');
});

test.each(['application/json', 'text/event-stream'])(
  'a response may have the id of its request as a string: %s',
  async (type) => {
    await using server = await scriptedServer((request, response) => {
      const answer = JSON.stringify({ ...result(request, { ok: true }), id: String(request.body?.id) });
      response.writeHead(200, { 'content-type': type });
      response.end(type === 'application/json' ? answer : `data: ${answer}\n\n`);
    });
    const { link, problems } = await open(server.url);
    expect(await call(link, 'tools/list')).toMatchObject({ ok: true });
    expect(problems).toEqual([]);
  },
);

test('a redirect whose body never arrives is followed', async () => {
  await using server = await scriptedServer((request, response) =>
    request.path === '/mcp'
      ? response.writeHead(307, { location: '/other', 'content-length': 10 }).write('x')
      : json(response, result(request, { ok: true })),
  );
  const { link } = await open(server.url);
  expect(await call(link, 'tools/list')).toMatchObject({ ok: true });
});

test('a compressed response is read', async () => {
  await using server = await scriptedServer((request, response) => {
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-encoding': 'gzip',
    });
    response.end(gzipSync(JSON.stringify(result(request, { text: 'größe' }))));
  });
  const { link } = await open(server.url);
  expect(await call(link, 'tools/list')).toMatchObject({ text: 'größe' });
});

describe('a redirect', () => {
  const to = (status: number, location: string): Reply => text(status, 'moved', { location });

  test('with 307 or 308 to the same origin is followed, with method, body and headers', async () => {
    await using server = await scriptedServer((request, response) =>
      request.path === '/mcp'
        ? to(307, '/mcp/')(request, response)
        : json(response, result(request, { ok: true })),
    );
    const { link } = await open(server.url, { auth: 'abc' });
    expect(await call(link, 'tools/list')).toMatchObject({ ok: true });
    expect(server.received[1]).toMatchObject({
      method: 'POST',
      headers: { authorization: 'Bearer abc', 'mcp-method': 'tools/list' },
    });
    expect(server.received[1]?.body).toEqual(server.received[0]?.body);
  });

  test.each<[string, Reply, RegExp]>([
    ['without end', to(308, '/mcp'), /more than 3 redirects/],
    [
      'to another origin',
      to(307, `https://user:${SECRET}@example.com/mcp?x=${SECRET}`),
      /connect to https:\/\/example\.com\/mcp directly/,
    ],
    ['as a GET', to(302, '/login'), /connect to http:\/\/127\.0\.0\.1:\d+\/login directly/],
    ['to nowhere', text(301, ''), /It gives no address/],
    ['to nonsense', to(307, 'http://['), /not a valid HTTP address\.$/],
    ['to a script', to(307, 'javascript:alert(1)'), /not a valid HTTP address\.$/],
  ])('is rejected: %s', async (_, reply, words) => {
    const reason = await failing(reply);
    expect(reason.code).toBe('bad_response');
    expect(reason.message).toMatch(words);
  });

  test('whose target the browser hides is an error that says so', async () => {
    const fetch = (async () => ({
      type: 'opaqueredirect',
      status: 0,
      headers: new Headers(),
      body: null,
    })) as unknown as typeof globalThis.fetch;
    const { link } = await open(new URL('https://example.com/mcp'), { fetch });
    expect((await failure(call(link, 'tools/list'))).message).toContain('the browser hides the address');
  });
});

describe('ending a call of the HTTP link', () => {
  test('by its signal closes its stream and throws the reason', async () => {
    await using server = await scriptedServer((_, response) => void stream(response));
    const { link } = await open(server.url);
    const [own, plain] = [new AbortController(), new AbortController()];
    const first = failure(call(link, 'subscriptions/listen', {}, own));
    const second = failure(call(link, 'tools/call', { name: 'x' }, plain));
    await until('both have arrived', () => server.received.length === 2);
    own.abort(new McpError('timeout', 'Too late'));
    plain.abort();
    expect((await first).code).toBe('timeout');
    expect((await second).code).toBe('cancelled');
    await server.quiet();
    expect((await failure(call(link, 'tools/list', {}, own))).code).toBe('timeout');
    expect(server.received).toHaveLength(2);
  });

  test('by closing the link throws connection_closed, even if fetch ignores its signal', async () => {
    await using server = await scriptedServer((_, response) => void stream(response));
    const { link } = await open(server.url);
    const deaf = await open(server.url, { fetch: () => new Promise(() => {}) });
    const calls = [link, link, deaf.link].map((over) => failure(call(over, 'subscriptions/listen')));
    await until('they have arrived', () => server.received.length === 2);
    await link.close();
    await deaf.link.close();
    for (const reason of await Promise.all(calls)) expect(reason.code).toBe('connection_closed');
    await server.quiet();
    expect((await failure(call(link, 'tools/list'))).code).toBe('connection_closed');
  });
});
