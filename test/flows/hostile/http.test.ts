import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer, type Server, tool } from 'fullmcp';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createNodeHandler, type ServeOptions, type Serving, serve } from '../../../src/node.js';
import { type Attacked, attackedServer } from '../../support/http/attacked-server.js';
import { callText, modernExchange } from '../../support/http/modern.js';
import { head, rawSocket, readAll, printPost as request } from '../../support/http/raw.js';
import { openSession } from '../../support/http/sessions.js';
import { soon, until } from '../../support/until.js';

// Requests that no HTTP library sends, but a hostile client may.

let attacked: Attacked;
let serving: Serving | undefined;

async function start(options: ServeOptions = {}): Promise<Serving> {
  serving = await serve(attacked.server, { port: 0, signals: false, drainMs: 1000, ...options });
  return serving;
}

beforeEach(() => {
  attacked = attackedServer();
});

afterEach(async () => {
  if (serving === undefined) return;
  expect(await callText(serving.url, 'echo', { text: 'still here' })).toBe('still here');
  await until('no handler runs', () => attacked.running() === 0);
  await serving.close();
  serving = undefined;
});

interface Raw {
  readonly headers?: object;
  readonly body?: string | Buffer;
}

const call = (name: string, args = {}): Raw => modernExchange('tools/call', { name, arguments: args });

describe('pipelined calls', () => {
  test('are all aborted when their connection closes, even 2,000 of them', async () => {
    const { port } = await start();
    const socket = await rawSocket(port);
    const one = request(call('hang'));
    for (let at = 0; at < 20; at++) {
      if (!socket.write(one.repeat(100))) await once(socket, 'drain');
    }
    await until('all calls have begun', () => attacked.begun('hang') === 2000);
    socket.destroy();
    await until('all calls are aborted', () => attacked.aborted('hang') === 2000);
  });

  test('of a session are all aborted when their connection closes', async () => {
    const { port, url } = await start();
    const session = await openSession(url);
    const socket = await rawSocket(port);
    for (let id = 1; id <= 20; id++) {
      const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'hang' } });
      socket.write(request({ headers: session.headers, body }));
    }
    await until('all calls have begun', () => attacked.begun('hang') === 20);
    socket.destroy();
    await until('all calls are aborted', () => attacked.aborted('hang') === 20);
  });

  test('that all stream share one limit of unread bytes, beyond which they are aborted', async () => {
    const { port } = await start();
    const socket = await rawSocket(port);
    socket.pause();
    const flood = modernExchange('tools/call', { name: 'flood' }, { meta: { progressToken: 'p' } });
    socket.write(request(flood).repeat(50));
    await until('the calls have begun', () => attacked.begun('flood') > 40);
    await until('all are aborted', () => attacked.running() === 0, 15_000);
    // Each call alone could leave 4 MB unread; the kernel's buffers come on top.
    expect(attacked.sent()).toBeLessThan(60_000_000);
    socket.destroy();
  });

  test('beyond 10,000 close the connection, and all are aborted', { timeout: 90_000 }, async () => {
    const { port } = await start();
    const socket = await rawSocket(port);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const one = request(call('hang'));
    for (let at = 0; at < 110 && !socket.destroyed; at++) {
      if (!socket.write(one.repeat(100))) await Promise.race([once(socket, 'drain'), closed]);
    }
    await soon('The end', closed, 40_000);
    await until('all calls are aborted', () => attacked.running() === 0, 40_000);
    expect(attacked.aborted('hang')).toBe(attacked.begun('hang'));
    // The requests of the bytes that Node had read by then begin too.
    expect(attacked.begun('hang')).toBeLessThan(10_000 + 2 * (65_536 / one.length));
  });

  test('are answered in order, and a slow one after an unread one is not cut off', async () => {
    const { port } = await start({ writeTimeoutMs: 200 });
    const socket = await rawSocket(port);
    socket.pause();
    const text = 'x'.repeat(3_000_000);
    socket.write(request(call('echo', { text })) + request(call('gated', { to: 1 })));
    await until('the slow call has begun', () => attacked.begun('gated') === 1);
    const answers = readAll(socket, (all) => all.includes('through'));
    await until('the long answer has come', () => socket.bytesRead > 3_000_000);
    const readAt = performance.now();
    await until('more than the time limit has gone by', () => performance.now() - readAt > 600);
    attacked.open();
    const all = await soon('The answers', answers);
    expect(all.indexOf('xxx')).toBeGreaterThan(0);
    expect(all.indexOf('xxx')).toBeLessThan(all.indexOf('through'));
    socket.destroy();
  });
});

describe('a response of 8 MB', () => {
  const big = (): Server =>
    createServer({
      name: 'big',
      version: '1',
      tools: { big: tool({ run: () => 'x'.repeat(8_000_000) }) },
    });

  async function unread(port: number, path = '/mcp'): Promise<Socket> {
    const socket = await rawSocket(port);
    socket.pause();
    socket.write(request(call('big'), path));
    return socket;
  }

  test('is cut off after the write timeout if it is not read', async () => {
    const own = await serve(big(), { port: 0, signals: false, writeTimeoutMs: 300 });
    const socket = await unread(own.port);
    await until('the answer has begun', () => socket.bytesRead > 0 || socket.readableLength > 0);
    // Nothing is read until the server has given up, so only the kernel's buffers are left.
    const before = performance.now();
    await until('the time has gone by', () => performance.now() - before > 1500);
    const all = await soon(
      'The end',
      readAll(socket).catch(() => ''),
    );
    expect(all.length).toBeLessThan(8_000_000);
    await own.close();
  });

  test('arrives complete even if it is read slowly', async () => {
    const own = await serve(big(), { port: 0, signals: false, writeTimeoutMs: 400 });
    const socket = await unread(own.port);
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      socket.pause();
      setTimeout(() => socket.resume(), 2);
    });
    socket.resume();
    await until('all of it has come', () => bytes > 8_000_000, 15_000);
    socket.destroy();
    await own.close();
  });

  test('is cut off also by a handler in another HTTP server', async () => {
    const mcp = createNodeHandler(big(), { writeTimeoutMs: 300 });
    const http = createHttpServer((req, res) => void mcp(req, res));
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    let closed = 0;
    http.on('connection', (socket) => socket.on('close', () => (closed += 1)));
    const socket = await unread((http.address() as AddressInfo).port);
    await until('the connection is closed', () => closed === 1);
    socket.destroy();
    await mcp.close();
    await new Promise((resolve) => http.close(resolve));
  });
});

describe('a body that stops arriving', () => {
  const begin = head([
    'POST /mcp HTTP/1.1',
    'host: localhost',
    'content-type: application/json',
    'content-length: 1000',
  ]);

  test.each<[what: string, sent: string]>([
    ['before its first byte', begin],
    ['in its middle', `${begin}{"jsonrpc":`],
  ])('is answered with 408, and the connection is closed: %s', async (_what, sent) => {
    const { port } = await start({ bodyTimeoutMs: 150 });
    const socket = await rawSocket(port);
    socket.write(sent);
    const answer = await soon('The answer', readAll(socket));
    expect(answer).toContain('HTTP/1.1 408');
    expect(answer).toContain('The body stopped arriving for 150 ms');
  });

  test('is served if it continues each time before the limit', async () => {
    const { port } = await start({ bodyTimeoutMs: 1000 });
    const socket = await rawSocket(port);
    const text = request({ ...call('echo', { text: 'slow' }) });
    const answer = readAll(socket, (all) => all.includes('slow'));
    for (let at = 0; at < text.length; at += Math.ceil(text.length / 12)) {
      socket.write(text.slice(at, at + Math.ceil(text.length / 12)));
      await new Promise((resolve) => setTimeout(resolve, 120));
    }
    expect(await soon('The answer', answer)).toContain('HTTP/1.1 200');
    socket.destroy();
  });
});

describe('an offer to upgrade to another protocol', () => {
  const h2c = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' };
  const offering = (raw: Raw, offer: object = h2c): Raw => ({
    ...raw,
    headers: { ...raw.headers, ...offer },
  });

  test.each<[what: string, offer: object]>([
    ['h2c, as curl and Java offer it', h2c],
    ['TLS', { connection: 'upgrade', upgrade: 'TLS/1.0' }],
    ['a list of protocols', { connection: 'upgrade', upgrade: 'h2c, foo/2' }],
  ])('is ignored: %s', async (_what, offer) => {
    const { port } = await start();
    const socket = await rawSocket(port);
    socket.write(request(offering(call('echo', { text: 'plain' }), offer)));
    const answers = readAll(socket, (all) => all.includes('again'));
    await until('the answer has come', () => socket.bytesRead > 0);
    // From then on, the connection is an ordinary one.
    socket.write(request(call('echo', { text: 'again' })));
    const all = await soon('The answers', answers);
    expect(all).toContain('plain');
    expect(all.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    socket.destroy();
  });

  test('is ignored with a body that arrives in pieces', async () => {
    const { port } = await start();
    const socket = await rawSocket(port);
    const text = request(offering(call('echo', { text: 'pieces' })));
    socket.write(text.slice(0, -60));
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.write(text.slice(-60));
    expect(
      await soon(
        'The answer',
        readAll(socket, (all) => all.includes('pieces')),
      ),
    ).toContain('200 OK');
    socket.destroy();
  });

  test('behind open pipelined calls does not keep them from being aborted when the connection closes', async () => {
    const { port } = await start();
    const socket = await rawSocket(port);
    socket.write(request(call('hang')).repeat(3) + request(offering(call('echo', { text: 'x' }))));
    await until('the calls have begun', () => attacked.begun('hang') === 3);
    socket.destroy();
    await until('the calls are aborted', () => attacked.aborted('hang') === 3);
  });

  test('does no harm on a connection that is cut at once', async () => {
    const { port } = await start();
    for (let at = 0; at < 20; at++) {
      const socket = await rawSocket(port);
      socket.write(request(offering(call('hang'))).slice(0, -at * 20 - 1));
      socket.resetAndDestroy();
    }
  });
});

describe('the endpoint', () => {
  test('serves a request whose target is an absolute URL', async () => {
    const { port } = await start();
    const socket = await rawSocket(port);
    const closing = { ...call('echo', { text: 'absolute' }) };
    socket.write(
      request(
        { ...closing, headers: { ...closing.headers, connection: 'close' } },
        `http://localhost:${port}/mcp?x=1`,
      ),
    );
    const answer = await soon('The answer', readAll(socket));
    expect(answer).toContain('HTTP/1.1 200');
    expect(answer).toContain('absolute');
  });

  test.each<[target: string, host: string, status: number]>([
    ['http://evil.example/mcp', 'localhost', 403],
    ['http://localhost/mcp', 'evil.example', 200],
    ['HTTP://localhost/other', 'localhost', 404],
    ['http://localhost', 'localhost', 404],
    ['http:///mcp', 'localhost', 403],
    ['ftp://localhost/mcp', 'localhost', 404],
    ['*', 'localhost', 404],
  ])('answers the target %s with the host %s with %i', async (target, host, status) => {
    const { port } = await start();
    const socket = await rawSocket(port);
    const { headers, body } = call('echo', { text: 'x' });
    socket.write(request({ headers: { ...headers, host, connection: 'close' }, body: String(body) }, target));
    expect(await soon('The answer', readAll(socket))).toContain(`HTTP/1.1 ${status}`);
  });

  test('rejects a foreign origin behind 1,500 other headers', async () => {
    const { port } = await start();
    const socket = await rawSocket(port);
    const { headers, body } = call('echo', { text: 'x' });
    const many = Object.fromEntries(Array.from({ length: 1500 }, (_, at) => [`x${at}`, '']));
    socket.write(
      request({
        headers: { connection: 'close', ...headers, ...many, origin: 'https://evil.example' },
        body: String(body),
      }),
    );
    expect(await soon('The answer', readAll(socket))).toContain('HTTP/1.1 403');
  });
});
