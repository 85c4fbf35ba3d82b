import { once } from 'node:events';
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo, Socket as NetSocket } from 'node:net';
import { createServer, tool } from 'fullmcp';
import { serveWebSocket, type WebSocketOptions } from 'fullmcp/websocket';
import { afterEach, describe, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Attacked, attackedServer } from '../../support/http/attacked-server.js';
import { modernMessage } from '../../support/http/modern.js';
import { soon, until } from '../../support/until.js';
import { openWebSocket, type WebSocketClient } from '../../support/wires/web-socket.js';

// WebSocket clients that send without reading, open too many calls, or do not answer pings.

const closing: (() => void)[] = [];

afterEach(() => {
  for (const close of closing.splice(0)) close();
});

interface Fixture {
  readonly url: string;
  readonly attacked: Attacked;
  /** The server's ends of the connections. */
  readonly sockets: WebSocket[];
  readonly begun: () => number;
}

async function start(options: WebSocketOptions = {}): Promise<Fixture> {
  const attacked = attackedServer();
  let begun = 0;
  attacked.server.tool('big', {}, () => {
    begun += 1;
    return 'x'.repeat(500_000);
  });
  const http: HttpServer = createHttpServer();
  const accepting = new WebSocketServer({ server: http, path: '/mcp' });
  const sockets: WebSocket[] = [];
  accepting.on('connection', (socket) => {
    sockets.push(socket);
    serveWebSocket(attacked.server, socket, options);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    for (const socket of sockets) socket.terminate();
    http.closeAllConnections();
    http.close();
  });
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  return { url, attacked, sockets, begun: () => begun };
}

const call = (name: string, id: number, args = {}): object =>
  modernMessage('tools/call', { name, arguments: args }, { id });

async function stillServes(client: WebSocketClient): Promise<void> {
  client.send(call('echo', 123_456, { text: 'still here' }));
  for (;;) {
    const answer = await client.next();
    if (answer['id'] === 123_456) return expect(answer['result'].content[0].text).toBe('still here');
  }
}

/** The underlying connection, to write bytes that no library would. */
function beneath(client: WebSocketClient): NetSocket {
  return (client.socket as unknown as { _socket: NetSocket })._socket;
}

describe('a WebSocket client that does not read', () => {
  test('but keeps pinging is slowed down, and served again when it reads', async () => {
    const { url, sockets } = await start();
    const client = await openWebSocket(url);
    let handled = 0;
    sockets[0]?.on('ping', () => {
      handled += 1;
    });
    const raw = beneath(client);
    raw.pause();
    const frame = Buffer.concat([Buffer.from([0x89, 0x80 | 125, 0, 0, 0, 0]), Buffer.alloc(125)]);
    const thousand = Buffer.concat(Array.from({ length: 1000 }, () => frame));
    let sent = 0;
    for (; sent < 250_000; sent += 1000) raw.write(thousand);
    let before = -1;
    await until('the server takes no more', async () => {
      const same = handled === before && handled > 0;
      before = handled;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return same;
    });
    expect(handled).toBeLessThan(sent * 0.8);
    expect(raw.writableLength).toBeGreaterThan(0);
    // The server buffers only a small part of the requested data.
    expect(sockets[0]?.bufferedAmount).toBeLessThan((sent * frame.length) / 20);
    raw.resume();
    const handledBefore = handled;
    await until('the server takes more again', () => handled > handledBefore + 10_000, 15_000);
    client.socket.terminate();
  }, 30_000);

  test('gets all its responses when it reads, and until then some of its calls do not begin', async () => {
    const { url, sockets, begun } = await start();
    const client = await openWebSocket(url);
    client.socket.pause();
    for (let id = 0; id < 150; id++) client.send(call('big', id));
    await until('responses are buffered', () => (sockets[0]?.bufferedAmount ?? 0) > 500_000);
    const begunBefore = begun();
    expect(begunBefore).toBeLessThan(140);
    client.socket.resume();
    for (let at = 0; at < 150; at++)
      expect((await client.next())['result'].content[0].text).toHaveLength(500_000);
    expect(begun()).toBe(150);
    client.socket.terminate();
  });
});

describe('the open calls of a WebSocket', () => {
  const count = 1500;

  test('are limited to 1,000, and further calls are rejected while none of them ends', async () => {
    const { url, attacked } = await start();
    const client = await openWebSocket(url);
    for (let id = 0; id < count; id++) client.send(call('hang', id));
    await until('1,000 have begun', () => attacked.begun('hang') === 1000);
    for (let id = 1000; id < count; id++) {
      const answer = await client.next();
      expect(answer).toMatchObject({
        id,
        error: { message: expect.stringContaining('1000 calls are open') },
      });
    }
    expect(attacked.begun('hang')).toBe(1000);
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
    client.send(cancel);
    await until('one is aborted', () => attacked.aborted('hang') === 1);
    await stillServes(client);
    client.socket.terminate();
    await until('all are aborted', () => attacked.aborted('hang') === 1000);
  });

  test('do not block the event loop when 10,000 of them end at once', async () => {
    const { url, attacked } = await start({ maxOpenCalls: 10_000 });
    const client = await openWebSocket(url);
    for (let id = 0; id < 10_000; id++) client.send(call('hang', id));
    await until('all have begun', () => attacked.begun('hang') === 10_000, 40_000);
    client.socket.terminate();
    await until('some are aborted', () => attacked.aborted('hang') > 0);
    let turns = 0;
    await until('all are aborted', () => ++turns > 0 && attacked.aborted('hang') === 10_000, 40_000);
    // Other work could run in between.
    expect(turns).toBeGreaterThan(3);
  }, 90_000);
});

describe('a WebSocket connection', () => {
  test('is closed, and its calls aborted, if the client does not answer pings', async () => {
    const { url, attacked, sockets } = await start({ pingMs: 100 });
    const client = await openWebSocket(url);
    client.send(call('hang', 1));
    await until('the call has begun', () => attacked.begun('hang') === 1);
    client.socket.pause();
    await until('the call is aborted', () => attacked.aborted('hang') === 1);
    await until('the connection is closed', () => sockets[0]?.readyState === 3);
    client.socket.terminate();
  });

  test('stays open if the client answers pings', async () => {
    const { url } = await start({ pingMs: 50 });
    const client = await openWebSocket(url);
    let pings = 0;
    client.socket.on('ping', () => {
      pings += 1;
    });
    await until('the client was pinged several times', () => pings > 5);
    await stillServes(client);
    client.socket.close();
  });

  test('is closed when idle, unless a call is open', async () => {
    const { url, attacked } = await start({ idleMs: 200 });
    const [quiet, busy] = [await openWebSocket(url), await openWebSocket(url)];
    busy.send(call('hang', 1));
    const [code, reason] = (await soon('The end', once(quiet.socket, 'close'))) as [number, Buffer];
    expect([code, String(reason)]).toEqual([1001, 'The connection was idle']);
    expect(attacked.running()).toBe(1);
    await stillServes(busy);
    busy.socket.terminate();
  });

  test('is closed at its maximum age, and its subscription ends with a result', async () => {
    const { url } = await start({ maxAgeMs: 300 });
    const client = await openWebSocket(url);
    client.send(
      modernMessage('subscriptions/listen', { notifications: { toolsListChanged: true } }, { id: 1 }),
    );
    expect((await client.next())['method']).toContain('acknowledged');
    const ended = once(client.socket, 'close');
    expect(await client.next()).toMatchObject({ id: 1, result: { resultType: 'complete' } });
    const [code, reason] = (await soon('The end', ended)) as [number, Buffer];
    expect([code, String(reason)]).toEqual([1001, 'The connection is too old']);
  });
});

describe('a WebSocket that cannot be paused', () => {
  function plainSocket(options: WebSocketOptions): {
    say: (message: object) => void;
    rejectedIds: () => unknown[];
  } {
    const sent: string[] = [];
    let take: ((event: { data: unknown }) => void) | undefined;
    const socket = {
      send: (text: string) => void sent.push(text),
      close: () => undefined,
      addEventListener: (type: string, listener: (event: { data: unknown }) => void) => {
        if (type === 'message') take = listener;
      },
    };
    const serving = serveWebSocket(attackedServer().server, socket, options);
    closing.push(() => void serving.close({ deadlineMs: 0 }));
    return {
      say: (message) => take?.({ data: JSON.stringify(message) }),
      rejectedIds: () => sent.map((text) => JSON.parse(text).id),
    };
  }

  test('has calls beyond the limit rejected at once', () => {
    const { say, rejectedIds } = plainSocket({ maxOpenCalls: 3 });
    for (let id = 0; id < 5; id++) say(call('hang', id));
    expect(rejectedIds()).toEqual([3, 4]);
  });

  test('has calls rejected while the open ones hold more than 64 MB', () => {
    const { say, rejectedIds } = plainSocket({ maxMessageBytes: 20_000_000 });
    const meta = { 'example.com/pad': 'x'.repeat(15_000_000) };
    for (let id = 0; id < 7; id++) say(modernMessage('tools/call', { name: 'hang' }, { id, meta }));
    expect(rejectedIds()).toEqual([5, 6]);
  });
});

test('a WebSocket client that pauses before 15 MB of responses, each after a progress notification, gets them all', async () => {
  const server = createServer({
    name: 'mixed',
    version: '1',
    tools: {
      big: tool({
        run: (_input, { progress }) => {
          progress(1);
          return 'x'.repeat(500_000);
        },
      }),
    },
  });
  const http = createHttpServer();
  new WebSocketServer({ server: http }).on('connection', (socket) => void serveWebSocket(server, socket));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  closing.push(() => void http.close());
  const client = await openWebSocket(`http://127.0.0.1:${(http.address() as AddressInfo).port}`);
  client.socket.pause();
  for (let id = 0; id < 30; id++)
    client.send(modernMessage('tools/call', { name: 'big' }, { id, meta: { progressToken: id } }));
  await new Promise((resolve) => setTimeout(resolve, 100));
  client.socket.resume();
  let answers = 0;
  while (answers < 30) if ((await client.next())['result'] !== undefined) answers += 1;
  client.socket.terminate();
});
