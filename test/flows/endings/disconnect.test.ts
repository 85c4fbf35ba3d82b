import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createNodeHandler, type Serving, serve } from '../../../src/node.js';
import { type Attacked, attackedServer } from '../../support/http/attacked-server.js';
import { openEvents, send } from '../../support/http/http.js';
import { callText, modernExchange, modernMessage, modernStream } from '../../support/http/modern.js';
import { head, printPost, rawSocket, readAll } from '../../support/http/raw.js';
import { initializeMessage, jsonHeaders, openSession } from '../../support/http/sessions.js';
import { soon, until } from '../../support/until.js';
import { openWebSocket } from '../../support/wires/web-socket.js';

// Clients that disconnect at various points: the handler's signal aborts, and nothing is left open.

let attacked: Attacked;
let serving: Serving;
let url: string;

beforeEach(async () => {
  attacked = attackedServer();
  serving = await serve(attacked.server, { port: 0, signals: false, drainMs: 60_000 });
  url = serving.url;
});

afterEach(async () => {
  expect(await callText(url, 'echo', { text: 'still here' })).toBe('still here');
  await until('no handler runs', () => attacked.running() === 0);
  // No call is left that a drain would wait for, which takes longer than this may take.
  await soon('The end of the server', serving.close());
}, 40_000);

const half = `${head([
  'POST /mcp HTTP/1.1',
  'host: localhost',
  'content-type: application/json',
  'content-length: 1000',
])}{"jsonrpc":`;

/** Posts on a raw socket, and returns the socket so that a test can cut it. */
async function post(exchange: {
  headers?: object;
  body?: string | Buffer;
}): Promise<import('node:net').Socket> {
  const socket = await rawSocket(serving.port);
  socket.write(printPost(exchange));
  return socket;
}

describe('a client that disconnects in the middle of a call', () => {
  test('aborts the handler over modern HTTP before a stream has begun', async () => {
    const socket = await post(modernExchange('tools/call', { name: 'hang' }));
    await until('the call has begun', () => attacked.begun('hang') === 1);
    socket.destroy();
    await until('the call is aborted', () => attacked.aborted('hang') === 1);
  });

  test('aborts the handler over modern HTTP with a stream', async () => {
    const params = { name: 'hangAfterProgress' };
    const events = await modernStream(url, 'tools/call', params, { meta: { progressToken: 'p' } });
    expect(JSON.parse(String((await events.next())?.data)).method).toBe('notifications/progress');
    events.drop();
    await until('the call is aborted', () => attacked.aborted('hangAfterProgress') === 1);
  });

  test('ends its subscription over modern HTTP', async () => {
    const params = { notifications: { toolsListChanged: true } };
    const events = await modernStream(url, 'subscriptions/listen', params);
    expect(JSON.parse(String((await events.next())?.data)).method).toContain('acknowledged');
    expect(attacked.aborted('listen')).toBe(0);
    events.drop();
    await until('the subscription is aborted', () => attacked.aborted('listen') === 1);
  });

  test('aborts the handler over WebSocket, in both eras', async () => {
    const client = await openWebSocket(url);
    client.send(modernMessage('tools/call', { name: 'hang' }, { id: 1 }));
    client.send(initializeMessage('2025-11-25'));
    expect((await client.next())['id']).toBe('init');
    client.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'hang' } });
    await until('both calls have begun', () => attacked.begun('hang') === 2);
    client.socket.terminate();
    await until('both calls are aborted', () => attacked.aborted('hang') === 2);
  });

  test('aborts the handler over HTTP+SSE', async () => {
    const events = await openEvents(url.replace('/mcp', '/sse'), { method: 'GET' });
    const endpoint = String((await events.next())?.data);
    const say = (message: object): Promise<unknown> =>
      send(new URL(endpoint, url).href, { headers: jsonHeaders, body: JSON.stringify(message) });
    await say(initializeMessage('2024-11-05'));
    expect(JSON.parse(String((await events.next())?.data)).id).toBe('init');
    await say({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'hang' } });
    await until('the call has begun', () => attacked.begun('hang') === 1);
    events.drop();
    await until('the call is aborted', () => attacked.aborted('hang') === 1);
    expect(await say({ jsonrpc: '2.0', id: 2, method: 'ping' })).toMatchObject({ status: 404 });
  });

  test('aborts the handler in a session before a stream has begun', async () => {
    const session = await openSession(url);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'hang' } });
    const socket = await post({ headers: session.headers, body });
    await until('the call has begun', () => attacked.begun('hang') === 1);
    socket.destroy();
    await until('the call is aborted', () => attacked.aborted('hang') === 1);
    // The id may be used again.
    expect(
      (await session.request('tools/call', { name: 'echo', arguments: { text: 'a' } }, 1)).text,
    ).toContain('"a"');
  });

  test('leaves a call that streams in a session running until it cancels that call', async () => {
    const session = await openSession(url);
    const params = { name: 'hangAfterProgress', _meta: { progressToken: 'p' } };
    const events = await session.stream('tools/call', params, 1);
    await events.next();
    events.drop();
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    expect(attacked.aborted('hangAfterProgress')).toBe(0);
    expect((await session.post(cancel)).status).toBe(202);
    await until('the call is aborted', () => attacked.aborted('hangAfterProgress') === 1);
  });

  test('with DELETE aborts the handler, and ends the streams of its session', async () => {
    const session = await openSession(url);
    const params = { name: 'hangAfterProgress', _meta: { progressToken: 'p' } };
    const events = await session.stream('tools/call', params, 1);
    const standing = await session.get();
    await events.next();
    expect((await session.end()).status).toBe(200);
    await until('the call is aborted', () => attacked.aborted('hangAfterProgress') === 1);
    expect((await standing.rest()).at(-1)?.data ?? '').toBe('');
    expect((await session.request('ping')).status).toBe(404);
    expect((await session.get()).status).toBe(404);
  });

  test('leaves no request open if it was still sending its body', async () => {
    const socket = await rawSocket(serving.port);
    socket.write(half);
    await until('the head has arrived', async () => (await callText(url, 'echo', { text: 'a' })) === 'a');
    socket.destroy();
  });
});

describe('a slow body', () => {
  test("is ended with 408 by Node's time limit for a request", async () => {
    // `serve` leaves Node's limits as they are: 60 s for the head, 300 s for the whole request.
    const http = createHttpServer(
      { requestTimeout: 200, headersTimeout: 200, connectionsCheckingInterval: 50 },
      createNodeHandler(attacked.server),
    );
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const socket = await rawSocket((http.address() as AddressInfo).port);
    socket.write(half);
    expect(await soon('The answer', readAll(socket))).toContain('HTTP/1.1 408');
    http.close();
    await once(http, 'close');
  });

  test('does not delay the end of the server', async () => {
    const other = await serve(attackedServer().server, { port: 0, signals: false, drainMs: 60_000 });
    const socket = await rawSocket(other.port);
    socket.write(half);
    await until('the server serves', async () => (await callText(other.url, 'echo', { text: 'a' })) === 'a');
    await soon('The end', other.close());
    expect(await soon('The end of the connection', readAll(socket))).toBe('');
  });
});

describe('a body that is too large', () => {
  const body = Buffer.alloc(5_000_000, 'x');
  const chunk = Buffer.concat([
    Buffer.from(`${body.length.toString(16)}\r\n`),
    body,
    Buffer.from('\r\n0\r\n\r\n'),
  ]);

  test.each<[how: string, length: string, bytes: Buffer]>([
    ['with its length', 'content-length: 5000000', body],
    ['in chunks', 'transfer-encoding: chunked', chunk],
  ])(
    'is answered with 413 even if the client reads only after sending all of it %s, and the connection stays usable',
    async (_how, length, bytes) => {
      for (let round = 0; round < 3; round++) {
        const socket = await rawSocket(serving.port);
        socket.pause();
        socket.write(
          head(['POST /mcp HTTP/1.1', 'host: localhost', 'content-type: application/json', length]),
        );
        await new Promise<void>((resolve, reject) => {
          socket.once('close', () =>
            reject(new Error('The connection was cut while the client was sending')),
          );
          socket.write(bytes, () => resolve());
        });
        const answer = await soon(
          'The answer',
          readAll(socket, (text) => text.includes('maxBodyBytes')),
        );
        expect(answer).toContain('HTTP/1.1 413');
        // The same connection serves the next request.
        const next = modernExchange('tools/call', { name: 'echo', arguments: { text: 'again' } });
        const second = soon(
          'The second answer',
          readAll(socket, (text) => text.includes('"again"')),
        );
        socket.write(printPost(next));
        expect(await second).toContain('HTTP/1.1 200');
        socket.destroy();
      }
    },
  );
});

describe('closing a server', () => {
  test('does not wait for a WebSocket that never answers the close frame, nor for a rejected upgrade', async () => {
    const other = await serve(attackedServer().server, { port: 0, signals: false, drainMs: 60_000 });
    const upgrade = (path: string): string =>
      head([
        `GET ${path} HTTP/1.1`,
        'host: localhost',
        'connection: upgrade',
        'upgrade: websocket',
        'sec-websocket-version: 13',
        'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      ]);
    const rude = await rawSocket(other.port);
    rude.write(upgrade('/mcp'));
    const refused = await rawSocket(other.port);
    refused.write(upgrade('/elsewhere'));
    const [accepted] = (await once(rude, 'data')) as [Buffer];
    expect(accepted.toString()).toContain('101 Switching');
    await once(refused, 'data');
    await soon('The end', other.close());
    rude.destroy();
    refused.destroy();
  });

  test('lets open calls of every transport finish', async () => {
    const own = attackedServer();
    const other = await serve(own.server, { port: 0, signals: false, drainMs: 60_000 });
    const gated = { name: 'gated', arguments: { to: 1 } };
    const modern = send(other.url, modernExchange('tools/call', gated));
    const session = await openSession(other.url);
    const inSession = session.request('tools/call', gated);
    const client = await openWebSocket(other.url);
    client.send(modernMessage('tools/call', gated, { id: 1 }));
    const events = await openEvents(other.url.replace('/mcp', '/sse'), { method: 'GET' });
    const endpoint = new URL(String((await events.next())?.data), other.url).href;
    await send(endpoint, { headers: jsonHeaders, body: JSON.stringify(initializeMessage('2024-11-05')) });
    await events.next();
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: gated };
    await send(endpoint, { headers: jsonHeaders, body: JSON.stringify(call) });
    await until('all calls have begun', () => own.begun('gated') === 4);
    const closing = other.close();
    for (let at = 0; at < 4; at++) own.open();
    expect((await modern).text).toContain('through');
    expect((await inSession).text).toContain('through');
    expect(JSON.stringify(await client.next())).toContain('through');
    expect((await events.next())?.data).toContain('through');
    await soon('The end', closing);
    expect(own.aborted('gated')).toBe(0);
  });
});
