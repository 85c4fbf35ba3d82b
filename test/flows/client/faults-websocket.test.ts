import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Client, type ConnectOptions, connect, KnownServers } from '../../../src/client.js';
import { cleanup, failure, statuses } from '../../support/faults.js';
import { leaveNothingBehind } from '../../support/leaks.js';
import { soon, until } from '../../support/until.js';

// Failures on a WebSocket.

leaveNothingBehind();
const { closeLater, closeAll } = cleanup();
afterEach(closeAll);

interface Request {
  readonly id: number;
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks wherever it wants
  readonly params: any;
}

type Act = (request: Request, socket: WebSocket) => void;

const content = (text: string): object => ({ resultType: 'complete', content: [{ type: 'text', text }] });
const result = (id: number, value: object): string => JSON.stringify({ jsonrpc: '2.0', id, result: value });

const acts: Readonly<Record<string, Act>> = {
  never: () => undefined,
  'stop reading': (_request, socket) => socket.pause(),
  'break off': (_request, socket) => socket.terminate(),
  'say goodbye': (_request, socket) => socket.close(1012, 'restarting'),
  'answer and leave': ({ id }, socket) =>
    socket.send(result(id, content('my last words')), () => socket.close()),
  twice: ({ id }, socket) => {
    socket.send(result(id, content('the first')));
    socket.send(result(id, content('the second')));
  },
  'wrong id': (_request, socket) => socket.send(result(4711, content('wrong'))),
  'half a message': ({ id }, socket) => socket.send(result(id, content('half')).slice(0, 40)),
  garbage: ({ id }, socket) => {
    socket.send('hello');
    socket.send(Buffer.from('{"binary":true}'));
    socket.send('{}');
    socket.send('');
    socket.send(result(id, content('after the garbage')));
  },
  untyped: ({ id }, socket) =>
    socket.send(
      JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'untyped' }] } }),
    ),
  '20 MB': ({ id }, socket) => socket.send(result(id, content('x'.repeat(20 * 1024 * 1024)))),
  '100 MB': ({ id }, socket) => socket.send(result(id, content('x'.repeat(100 * 1024 * 1024)))),
};

interface WebSocketFixture {
  readonly url: string;
  readonly methods: string[];
  /** Lets sockets that have stopped reading continue. */
  readonly resume: () => void;
  readonly die: () => Promise<void>;
  readonly revive: () => Promise<void>;
  readonly close: () => Promise<void>;
}

async function start(): Promise<WebSocketFixture> {
  const methods: string[] = [];
  const open = new Set<WebSocket>();
  let http: HttpServer;
  let port = 0;

  function receive(text: string, socket: WebSocket): void {
    const request = JSON.parse(text) as Request;
    const { id, method, params } = request;
    methods.push(method);
    if (id === undefined) return;
    const capabilities = { tools: {}, resources: { subscribe: true } };
    if (method === 'server/discover')
      return socket.send(
        result(id, { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities }),
      );
    if (method === 'subscriptions/listen') {
      const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
      const acknowledgement = { notifications: params.notifications, _meta };
      const acknowledged = 'notifications/subscriptions/acknowledged';
      return socket.send(JSON.stringify({ jsonrpc: '2.0', method: acknowledged, params: acknowledgement }));
    }
    const act = acts[params.name];
    if (act !== undefined) return act(request, socket);
    socket.send(result(id, content(params.arguments?.text ?? 'hello')));
  }

  async function listen(): Promise<void> {
    http = createServer((_req, res) => void res.writeHead(404).end()).listen(port, '127.0.0.1');
    new WebSocketServer({ server: http }).on('connection', (socket) => {
      open.add(socket);
      socket.on('close', () => open.delete(socket)).on('error', () => undefined);
      socket.on('message', (data) => receive(String(data), socket));
    });
    await until('the server listens', () => http.listening);
    port = (http.address() as AddressInfo).port;
  }

  async function die(): Promise<void> {
    for (const socket of open) socket.terminate();
    await new Promise((resolve) => http.close(resolve));
  }

  await listen();
  return {
    url: `ws://127.0.0.1:${port}/mcp`,
    methods,
    resume() {
      for (const socket of open) socket.resume();
    },
    die,
    revive: listen,
    async close() {
      if (!http.listening) return;
      await until('every socket is closed', () => open.size === 0).finally(die);
    },
  };
}

async function connectTo({ url }: WebSocketFixture, options: ConnectOptions = {}): Promise<Client> {
  const reconnect = { baseMs: 10, maxMs: 50 };
  return closeLater(await connect(url, { knownServers: new KnownServers(), reconnect, ...options }));
}

describe('connecting over WebSocket to a server that cannot be reached', () => {
  test('fails with the reason if nothing listens', async () => {
    const server = await start();
    await server.die();
    const error = await failure(connect(server.url));
    expect(error.code).toBe('connect_failed');
    expect(error.message).toContain(`Cannot connect to ${server.url}`);
    expect(error.message).toContain('ECONNREFUSED');
  });

  test('fails with the reason if the host name does not exist', async () => {
    const error = await failure(connect('ws://mcp.invalid/mcp?key=secret'));
    expect(error.code).toBe('connect_failed');
    expect(error.message).toContain('ws://mcp.invalid/mcp');
    expect(error.message).not.toContain('secret');
  });

  test('fails with the reason if the server does not accept WebSockets', async () => {
    const http = createServer((_req, res) => void res.writeHead(500).end()).listen(0, '127.0.0.1');
    await until('the server listens', () => http.listening);
    const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
    const error = await failure(connect(url));
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
    expect(error.code).toBe('connect_failed');
    expect(error.message).toContain(url);
    expect(error.message).toContain('500');
  });

  test('fails with the reason if the port does not speak TLS', async () => {
    const server = closeLater(await start());
    const error = await failure(connect(server.url.replace('ws:', 'wss:')));
    expect(error.code).toBe('connect_failed');
    expect(error.message).toBe(
      `Cannot connect to ${server.url.replace('ws:', 'wss:')}: it does not speak TLS there. Is it ws:// instead of wss://?`,
    );
  });

  test('times out if the server accepts the connection and sends nothing', async () => {
    const http = createServer().listen(0, '127.0.0.1');
    // Reads the upgrade request, and never answers.
    const sockets = new Set<{ destroy(): unknown }>();
    http.on('upgrade', (_req, socket) => sockets.add(socket.on('error', () => undefined)));
    await until('the server listens', () => http.listening);
    const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
    const error = await failure(connect(url, { connectTimeoutMs: 300 }));
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => http.close(resolve));
    expect(error.code).toBe('timeout');
  });
});

describe('a server that closes its WebSocket', () => {
  test.each([
    ['break off', /closed the connection \(1006\)/],
    ['say goodbye', /closed the connection \(1012: "restarting"\)/],
  ])('during a call (%s) fails that call, and the next call works', async (tool, why) => {
    const server = closeLater(await start());
    const client = await connectTo(server);
    const history = statuses(client);
    const error = await failure(client.callTool(tool));
    expect(error.code).toBe('connection_closed');
    expect(error.message).toContain(server.url);
    expect(error.message).toMatch(why);
    expect((await client.callTool('echo', { text: 'again' })).text).toBe('again');
    expect(history()).toEqual(['reconnecting', 'ready']);
  });

  test('right after a response still has that response delivered, and the next call works', async () => {
    const server = closeLater(await start());
    const client = await connectTo(server);
    const history = statuses(client);
    expect((await client.callTool('answer and leave')).text).toBe('my last words');
    await until('the client is ready again', () => history().at(-1) === 'ready');
    expect((await client.callTool('echo')).text).toBe('hello');
  });

  test('and listens again later fails calls in the meantime, then gets the subscription again', async () => {
    const server = closeLater(await start());
    const client = await connectTo(server);
    const changes: unknown[] = [];
    await client.subscribe('note://1', { onChange: (change) => changes.push(change) });
    await server.die();
    const error = await failure(client.callTool('echo'));
    expect(['connection_closed', 'connect_failed']).toContain(error.code);
    expect(error.message).toContain(server.url);
    await server.revive();
    await until('a change is reported', () => changes.length > 0, 8000);
    expect(changes).toEqual([{ kind: 'resource', uri: 'note://1' }]);
    expect((await client.callTool('echo')).text).toBe('hello');
  });

  test('for good makes the client give up after `maxAttempts`, and further calls fail', async () => {
    const server = closeLater(await start());
    const client = await connectTo(server, { reconnect: { baseMs: 5, maxMs: 10, maxAttempts: 3 } });
    await server.die();
    await until('the client is closed', () => client.status === 'closed');
    expect((await failure(client.callTool('echo'))).code).toBe('connection_closed');
  });
});

describe('a server that sends wrong messages over WebSocket', () => {
  test.each(['never', 'wrong id', 'half a message'])(
    'but no response (%s) makes the call time out and be cancelled, and the next call works',
    async (tool) => {
      const server = closeLater(await start());
      const client = await connectTo(server);
      const error = await failure(client.callTool(tool, {}, { timeoutMs: 2000 }));
      expect(error.code).toBe('timeout');
      if (tool === 'wrong id') expect(error.message).toMatch(/Meanwhile: .*not open.*4711/);
      if (tool === 'half a message') expect(error.message).toMatch(/Meanwhile: .*not valid JSON/);
      expect((await client.callTool('echo')).text).toBe('hello');
      expect(server.methods).toContain('notifications/cancelled');
      expect(client.pending()).toEqual([]);
    },
  );

  test('may send duplicates, garbage, and a response without a result type: the client finds the right response', async () => {
    const server = closeLater(await start());
    const client = await connectTo(server);
    expect((await client.callTool('twice')).text).toBe('the first');
    expect((await client.callTool('garbage')).text).toBe('after the garbage');
    expect((await client.callTool('untyped')).text).toBe('untyped');
    expect(client.info().problems.join('\n')).toMatch(/answered it twice.*not valid JSON.*binary/s);
  });

  test('may send 100 MB: the call fails with the connection, and the next call works', async () => {
    const server = closeLater(await start());
    const client = await connectTo(server);
    const error = await failure(client.callTool('100 MB'));
    expect(error.code).toBe('connection_closed');
    expect(error.message).toContain(
      `${server.url} has closed the connection (1006: "Max payload size exceeded")`,
    );
    expect((await client.callTool('echo')).text).toBe('hello');
  });

  test('may send 20 MB, which is above the limit: the call fails, and the connection stays open', async () => {
    const server = closeLater(await start());
    const client = await connectTo(server);
    const error = await failure(client.callTool('20 MB'));
    expect(error.code).toBe('bad_response');
    expect(error.message).toContain('The server sent a message of more than 16777216 bytes');
    expect((await client.callTool('echo')).text).toBe('hello');
    expect(client.info().reconnects).toBe(0);
  });
});

test('closing a client over WebSocket does not wait for a server that does not answer the close frame', async () => {
  const server = closeLater(await start());
  const client = await connectTo(server);
  const open = failure(client.callTool('stop reading'));
  await until('the call has arrived', () => server.methods.includes('tools/call'));
  await soon('The end of the client', client.close());
  expect((await open).code).toBe('connection_closed');
  expect(client.status).toBe('closed');
  server.resume();
});
