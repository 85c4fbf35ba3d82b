import { once } from 'node:events';
import v8 from 'node:v8';
import vm from 'node:vm';
import { createServer, type Server, tool } from 'fullmcp';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Serving, serve } from '../../../src/node.js';
import { type Attacked, attackedServer } from '../../support/http/attacked-server.js';
import { openEvents, send } from '../../support/http/http.js';
import { callText, modernExchange, modernMessage, modernStream } from '../../support/http/modern.js';
import { head, printPost, rawSocket } from '../../support/http/raw.js';
import { initializeMessage, jsonHeaders, openSession } from '../../support/http/sessions.js';
import { until } from '../../support/until.js';
import { openWebSocket } from '../../support/wires/web-socket.js';

// Clients that request data and never read it. `flood` sends progress until its signal aborts.

v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc') as () => void;

/** The bytes that are in use. */
function heapUsed(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

const limit = 1_000_000;
let attacked: Attacked;
let serving: Serving;
let url: string;

beforeEach(async () => {
  attacked = attackedServer();
  serving = await serve(attacked.server, {
    port: 0,
    signals: false,
    maxBufferedBytes: limit,
    websocket: { maxBufferedBytes: limit },
  });
  url = serving.url;
});

afterEach(async () => {
  expect(await callText(url, 'echo', { text: 'still here' })).toBe('still here');
  await serving.close();
});

const flood = { name: 'flood', _meta: { progressToken: 'p' } };

async function unreadPost(exchange: { headers?: object; body?: string | Buffer }): Promise<void> {
  const socket = await rawSocket(serving.port);
  socket.pause();
  socket.write(printPost(exchange));
}

describe('a client that never reads its stream', () => {
  test('has its call aborted over modern HTTP', async () => {
    await unreadPost(modernExchange('tools/call', { name: 'flood' }, { meta: { progressToken: 'p' } }));
    await until('the flood is stopped', () => attacked.aborted('flood') === 1, 10_000);
    await until('no handler runs', () => attacked.running() === 0);
  });

  test('has its call aborted over WebSocket', async () => {
    const client = await openWebSocket(url);
    client.socket.pause();
    client.send(modernMessage('tools/call', { name: 'flood' }, { id: 1, meta: { progressToken: 'p' } }));
    await until('the flood is stopped', () => attacked.aborted('flood') === 1, 10_000);
    await until('no handler runs', () => attacked.running() === 0);
    client.socket.terminate();
  });

  test('has its call aborted over HTTP+SSE', async () => {
    const socket = await rawSocket(serving.port);
    socket.write(head(['GET /sse HTTP/1.1', 'host: localhost']));
    const [first] = (await once(socket, 'data')) as [Buffer];
    let text = first.toString();
    while (!text.includes('sessionId=')) text += String((await once(socket, 'data'))[0]);
    socket.pause();
    const path = /\/messages\?sessionId=[0-9a-f-]+/.exec(text)?.[0];
    const say = (message: object): Promise<unknown> =>
      send(new URL(String(path), url).href, { headers: jsonHeaders, body: JSON.stringify(message) });
    await say(initializeMessage('2024-11-05'));
    await say({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: flood });
    await until('the flood is stopped', () => attacked.aborted('flood') === 1, 10_000);
    socket.destroy();
  });

  test('may reconnect in a session, so its call continues until it is cancelled, in bounded memory', async () => {
    const session = await openSession(url);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: flood });
    await unreadPost({ headers: session.headers, body });
    await until('the flood has begun', () => attacked.begun('flood') === 1);
    // Far more data passes through than is ever buffered or stored; the event log keeps at most 16 MB of it.
    const before = heapUsed();
    await until('64 MB have been sent', () => attacked.sent() > 64 * 1024 * 1024);
    expect(heapUsed() - before).toBeLessThan(attacked.sent() / 2);
    await session.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    await until('the flood is stopped', () => attacked.aborted('flood') === 1);
  });
});

describe('a response larger than the limit of unread bytes', () => {
  const size = 6_000_000;
  const bigServer = (): Server =>
    createServer({
      name: 'big',
      version: '1',
      tools: {
        big: tool({
          run: (_input, { progress }) => {
            progress(1);
            return 'x'.repeat(size);
          },
        }),
      },
    });
  let other: Serving;

  beforeEach(async () => {
    other = await serve(bigServer(), { port: 0, signals: false });
  });

  afterEach(() => other.close());

  test('arrives complete on a stream of modern HTTP', async () => {
    const events = await modernStream(
      other.url,
      'tools/call',
      { name: 'big' },
      { meta: { progressToken: 1 } },
    );
    const all = await events.rest();
    expect(all).toHaveLength(2);
    expect(all[1]?.data.length).toBeGreaterThan(size);
  });

  test('arrives complete over WebSocket', async () => {
    const client = await openWebSocket(other.url);
    client.send(modernMessage('tools/call', { name: 'big' }, { id: 1, meta: { progressToken: 1 } }));
    await client.next();
    expect((await client.next())['result'].content[0].text.length).toBe(size);
    // The connection is still open.
    client.send(modernMessage('tools/list', {}, { id: 2 }));
    expect(await client.next()).toMatchObject({ id: 2, result: { tools: [{ name: 'big' }] } });
    client.socket.terminate();
  });

  test('arrives complete in a session and over HTTP+SSE', async () => {
    const params = { name: 'big', _meta: { progressToken: 1 } };
    const session = await openSession(other.url);
    const stream = await (await session.stream('tools/call', params)).rest();
    expect(stream.at(-1)?.data.length).toBeGreaterThan(size);
    const events = await openEvents(other.url.replace('/mcp', '/sse'), { method: 'GET' });
    const endpoint = new URL(String((await events.next())?.data), other.url).href;
    const say = (message: object): Promise<unknown> =>
      send(endpoint, { headers: jsonHeaders, body: JSON.stringify(message) });
    await say(initializeMessage('2024-11-05'));
    await events.next();
    await say({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    expect(JSON.parse(String((await events.next())?.data)).method).toBe('notifications/progress');
    expect((await events.next())?.data.length).toBeGreaterThan(size);
    events.drop();
  });
});
