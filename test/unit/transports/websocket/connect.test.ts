import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import type { Wire } from '../../../../src/transports/client/wire.js';
import { type WebSocketWireOptions, webSocketWire } from '../../../../src/transports/websocket/connect.js';
import { until } from '../../../support/until.js';
import { type RecordedWire, recordWire } from '../../../support/wires/recorded-wire.js';

let http: Server;
let sockets: WebSocketServer;
let url: string;
const wires: Wire[] = [];

beforeEach(async () => {
  http = createServer((_request, response) => void response.writeHead(404).end());
  sockets = new WebSocketServer({ noServer: true });
  http.on('upgrade', (request, socket, head) => {
    if (request.url?.startsWith('/refused')) socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n');
    else sockets.handleUpgrade(request, socket, head, (one) => sockets.emit('connection', one, request));
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
});

afterEach(async () => {
  vi.unstubAllGlobals();
  await Promise.all(wires.splice(0).map((wire) => wire.close()));
  for (const one of sockets.clients) one.terminate();
  http.close();
  http.closeAllConnections();
  await once(http, 'close');
});

function open(
  to = url,
  options: WebSocketWireOptions = { WebSocket },
): RecordedWire & { readonly wire: Wire } {
  const wire = webSocketWire(to, options);
  wires.push(wire);
  return { wire, ...recordWire(wire) };
}

async function firstClient(): Promise<WebSocket> {
  await until('a client has connected', () => sockets.clients.size > 0);
  return [...sockets.clients][0] as WebSocket;
}

test('messages over a WebSocket go both ways, and wait until it is open', async () => {
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(String(data))));
  const { wire, next, problems } = open();
  wire.send('{"first":1}');
  wire.send('{"second":"é😀"}');
  expect(await next()).toEqual({ first: 1 });
  expect(await next()).toEqual({ second: 'é😀' });
  wire.send('{"third":3}');
  expect(await next()).toEqual({ third: 3 });
  expect(problems).toEqual([]);
  expect((await firstClient()).protocol).toBe('mcp');
});

test('binary or overlong messages over a WebSocket are skipped and reported', async () => {
  const { problems, next } = open(url, { WebSocket, maxMessageBytes: 100 });
  const socket = await firstClient();
  socket.send(Buffer.from('{"binary":true}'));
  socket.send(JSON.stringify('x'.repeat(99)));
  socket.send('{"good":true}');
  expect(await next()).toEqual({ good: true });
  expect(problems).toEqual([
    'The server sent a binary message. It was skipped.',
    'The server sent a message of more than 100 bytes. It was skipped.',
  ]);
});

test('the runtime’s own WebSocket is used by default', async () => {
  vi.stubGlobal('WebSocket', WebSocket);
  const { next } = open(url, {});
  (await firstClient()).send('{"a":1}');
  expect(await next()).toEqual({ a: 1 });
});

describe('opening a WebSocket fails with the reason', () => {
  const secretly = (to: string): string => `${to.replace('ws://', 'ws://user:password@')}?token=secret`;

  test('if nothing listens', async () => {
    const closedPort = createTcpServer().listen(0, '127.0.0.1');
    await once(closedPort, 'listening');
    const free = (closedPort.address() as AddressInfo).port;
    closedPort.close();
    await once(closedPort, 'close');
    const error = await open(secretly(`ws://127.0.0.1:${free}/mcp`)).end();
    expect(error).toMatchObject({ code: 'connect_failed' });
    expect(error.message).toBe(
      `Cannot connect to ws://127.0.0.1:${free}/mcp: connect ECONNREFUSED 127.0.0.1:${free}`,
    );
  });

  test('if the server rejects it', async () => {
    const { wire, end, closed } = open(secretly(url.replace('/mcp', '/refused')));
    wire.send('{}');
    const error = await end();
    expect(error).toMatchObject({ code: 'connect_failed' });
    expect(error.message).toBe(
      `Cannot connect to ${url.replace('/mcp', '/refused')}: Unexpected server response: 401`,
    );
    await wire.close();
    expect(closed).toHaveLength(1);
  });

  test('if the URL is invalid', async () => {
    const error = await open('ws://user:password@').end();
    expect(error).toMatchObject({ code: 'connect_failed' });
    expect(error.message).not.toContain('password');
  });

  test('if the runtime has no WebSocket', async () => {
    vi.stubGlobal('WebSocket', undefined);
    const { wire, end } = open(url, {});
    expect((await end()).message).toContain('has no WebSocket');
    await wire.close();
  });
});

describe('the end of a WebSocket', () => {
  test('by the server is reported with its code and reason', async () => {
    const { end, closed, wire } = open(`${url}?token=secret`);
    (await firstClient()).close(1001, 'The server is shutting down');
    const error = await end();
    expect(error).toMatchObject({ code: 'connection_closed' });
    expect(error.message).toBe(`${url} has closed the connection (1001: "The server is shutting down")`);
    await wire.close();
    wire.send('{}');
    expect(closed).toHaveLength(1);
  });

  test('without a close frame is reported with code 1006', async () => {
    const { end, next } = open();
    const socket = await firstClient();
    socket.send('{}');
    await next();
    socket.terminate();
    expect((await end()).message).toContain('(1006)');
  });

  test('by closing sends a close frame, and is not reported', async () => {
    const { wire, next, closed } = open();
    const socket = await firstClient();
    socket.send('{}');
    await next();
    const goodbye = once(socket, 'close');
    await wire.close();
    expect((await goodbye)[0]).toBe(1000);
    expect(closed).toEqual([]);
  });

  test('by closing before it is open is not reported, and leaves no connection', async () => {
    const { wire, closed } = open();
    await wire.close();
    expect(closed).toEqual([]);
    const never = webSocketWire(url, { WebSocket });
    await never.close();
    recordWire(never);
    await until('no client is left', () => sockets.clients.size === 0);
  });

  test('comes about a second after closing if the server sends no close frame', async () => {
    const { wire, next } = open();
    const socket = await firstClient();
    socket.send('{}');
    await next();
    socket.pause();
    const from = performance.now();
    await wire.close();
    expect(performance.now() - from).toBeGreaterThan(900);
    socket.resume();
    await until('the socket is gone', () => sockets.clients.size === 0);
  });

  test('comes if the server does not read', async () => {
    const raw = new Set<Socket>();
    http.on('connection', (socket) => raw.add(socket));
    const { wire, closed, end, next } = open(url, { WebSocket, maxBufferedBytes: 1000 });
    (await firstClient()).send('{}');
    await next();
    for (const socket of raw) socket.pause();
    const text = JSON.stringify('x'.repeat(1_000_000));
    await until('it is given up', () => {
      wire.send(text);
      return closed.length > 0;
    });
    expect((await end()).message).toContain('does not read what is sent');
    await wire.close();
  });

  test('comes if the server does not answer pings', async () => {
    const { end } = open(url, { WebSocket, pingMs: 50 });
    const socket = await firstClient();
    socket.pause();
    expect((await end()).message).toContain('does not answer pings');
  });

  test('does not come if the server answers pings', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    let pongs = 0;
    class PingingWebSocket extends WebSocket {
      constructor(...args: ConstructorParameters<typeof WebSocket>) {
        super(...args);
        this.on('pong', () => {
          pongs += 1;
        });
      }
    }
    const { closed, next, wire } = open(url, { WebSocket: PingingWebSocket as never, pingMs: 30 });
    const socket = await firstClient();
    socket.on('message', () => socket.send('{"open":true}'));
    wire.send('{"is it":"open"}');
    expect(await next()).toEqual({ open: true });
    for (let pinged = 1; pinged <= 5; pinged++) {
      vi.advanceTimersByTime(30);
      await until('the ping is answered', () => pongs === pinged);
    }
    expect(closed).toEqual([]);
    socket.send('{"still":"here"}');
    expect(await next()).toEqual({ still: 'here' });
  });

  test('does not come for a server that pings and does not read, which is held back until it reads', async () => {
    const created: WebSocket[] = [];
    class ListedWebSocket extends WebSocket {
      constructor(...args: ConstructorParameters<typeof WebSocket>) {
        super(...args);
        created.push(this);
      }
    }
    const { closed } = open(url, { WebSocket: ListedWebSocket as unknown as typeof WebSocket });
    const socket = await firstClient();
    const raw = (socket as unknown as { _socket: Socket })._socket;
    await until('it is open', () => created[0]?.readyState === WebSocket.OPEN);
    let handled = 0;
    created[0]?.on('ping', () => {
      handled += 1;
    });
    raw.pause();
    const frame = Buffer.concat([Buffer.from([0x89, 125]), Buffer.alloc(125)]);
    const thousand = Buffer.concat(Array.from({ length: 1000 }, () => frame));
    for (let at = 0; at < 200; at++) raw.write(thousand);
    await until('the client reads no more', () => created[0]?.isPaused === true && handled > 0, 15_000);
    expect(created[0]?.bufferedAmount).toBeLessThan((200_000 * frame.length) / 20);
    expect(closed).toEqual([]);
    const before = handled;
    raw.resume();
    await until('the client reads again', () => handled > before + 5000, 15_000);
  }, 30_000);

  test('comes if too much is sent before it is open', async () => {
    const silent = createTcpServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const { wire, closed } = open(`ws://127.0.0.1:${port}`, { WebSocket, maxBufferedBytes: 1000 });
    wire.send('x'.repeat(600));
    wire.send('x'.repeat(600));
    expect(closed).toEqual([]);
    wire.send('x');
    expect(closed).toMatchObject([{ code: 'connect_failed' }]);
    await wire.close();
    silent.close();
  });
});
