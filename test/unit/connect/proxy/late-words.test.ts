// Proxies in a row in front of an older server that ends no call that is cancelled: its late words reach no other caller.

import { type Client, type ConnectOptions, connect } from 'fullmcp/client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { JsonObject } from '../../../../src/jsonrpc/message.js';
import { type ServeOptions, serve } from '../../../../src/node.js';
import { type ProxyOptions, type ProxyServer, proxy } from '../../../../src/proxy.js';
import { until } from '../../../support/until.js';

const quiet = { logger: () => undefined };
type Target = Parameters<typeof proxy>[0];
const older: ProxyOptions = { revision: '2025-11-25' };
const byCredentials: ServeOptions = {
  auth: (() => ({ subject: 'the proxy in front', scopes: [], claims: {} })) as never,
};

function made(target: Target, options: ProxyOptions = {}): ProxyServer {
  const one = proxy(target, { ...quiet, ...options });
  onTestFinished(() => one.close());
  return one;
}

async function served(server: Parameters<typeof serve>[0], options: ServeOptions = {}): Promise<string> {
  const serving = await serve(server, { port: 0, signals: false, ...options });
  onTestFinished(() => serving.close());
  return serving.url;
}

const ws = (url: string) => url.replace('http', 'ws');

/** Ways from the outermost proxy to the innermost one, which is in front of an older server. */
type Way = readonly [name: string, (inner: ProxyServer) => Promise<ProxyServer>];
const noProxyInFront: Way = ['no proxy in front', async (inner) => inner];
const ways: readonly Way[] = [
  ['a proxy in the same program', async (inner) => made(inner)],
  ['a proxy over HTTP of 2026 without credentials', async (inner) => made(await served(inner))],
  ['a proxy over HTTP of 2026 with credentials', async (inner) => made(await served(inner, byCredentials))],
  ['a proxy over a WebSocket of 2026', async (inner) => made(ws(await served(inner)))],
  [
    'a proxy over a WebSocket of 2026 with credentials',
    async (inner) => made(ws(await served(inner, byCredentials))),
  ],
  ['a proxy over HTTP of 2025 known by its session', async (inner) => made(await served(inner), older)],
  [
    'a proxy over HTTP of 2025 known by its credentials',
    async (inner) => made(await served(inner, byCredentials), older),
  ],
  [
    'a proxy over a WebSocket of 2025 known by its session',
    async (inner) => made(ws(await served(inner)), older),
  ],
  [
    'a proxy over a WebSocket of 2025 known by its credentials',
    async (inner) => made(ws(await served(inner, byCredentials)), older),
  ],
  [
    'two proxies, both over WebSockets of 2025',
    async (inner) => made(ws(await served(made(ws(await served(inner)), older))), older),
  ],
  [
    'two proxies, the first of 2026 over HTTP and the second of 2025 over HTTP',
    async (inner) => made(await served(made(await served(inner), older))),
  ],
];
const allWays = [noProxyInFront, ...ways];

async function joined(target: Target, options: ConnectOptions = {}): Promise<Client> {
  const client = await connect(target, options);
  onTestFinished(() => client.close());
  return client;
}

interface OpenCall {
  readonly id: unknown;
  readonly name: string;
  readonly socket: WebSocket;
  readonly meta: JsonObject;
}

/** An older server over a WebSocket that does what the test says, and does not care about cancellations. */
async function olderServer() {
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => void sockets.close());
  const calls: OpenCall[] = [];
  const cancelled: unknown[] = [];
  const answered = new Set<WebSocket>();
  const send = (socket: WebSocket, message: object) =>
    socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
  sockets.on('connection', (socket) => {
    socket.on('error', () => undefined);
    socket.on('message', (data) => {
      const { id, method, params } = JSON.parse(String(data));
      if (method === undefined) answered.add(socket);
      if (method === 'initialize') {
        const capabilities = { tools: {}, logging: {} };
        const serverInfo = { name: 'older', version: '1' };
        send(socket, { id, result: { protocolVersion: '2025-11-25', capabilities, serverInfo } });
      } else if (method === 'tools/call') {
        calls.push({ id, name: String(params.arguments?.name), socket, meta: params._meta ?? {} });
      } else if (method === 'tools/list') {
        send(socket, { id, result: { tools: [{ name: 'wait', inputSchema: { type: 'object' } }] } });
      } else if (method === 'notifications/cancelled') cancelled.push(params.requestId);
      else if (id !== undefined && method !== undefined) send(socket, { id, result: {} });
    });
  });
  await until('it listens', () => sockets.address() !== null);
  const { port } = sockets.address() as { port: number };
  return {
    url: `ws://127.0.0.1:${port}/`,
    calls,
    cancelled,
    call: async (name: string): Promise<OpenCall> => {
      await until(`the call of ${name} is open`, () => calls.some((one) => one.name === name));
      return calls.find((one) => one.name === name) as OpenCall;
    },
    answer: ({ id, socket, name }: OpenCall) =>
      send(socket, { id, result: { content: [{ type: 'text', text: `for ${name}` }] } }),
    ask: ({ socket }: OpenCall, message: string) => {
      const requestedSchema = { type: 'object', properties: {} };
      const params = { message, requestedSchema };
      send(socket, { id: `question ${message}`, method: 'elicitation/create', params });
    },
    hasHeard: ({ socket }: OpenCall) => answered.has(socket) || socket.readyState !== socket.OPEN,
    log: ({ socket }: OpenCall, data: string) =>
      send(socket, { method: 'notifications/message', params: { level: 'error', data } }),
  };
}

const failed = () => 'failed';

describe.each(allWays)('behind %s', (_way, inFront) => {
  test('a late question about the call of a caller that has left does not reach the next caller', async () => {
    const server = await olderServer();
    const outer = await served(await inFront(made(server.url, older)));
    const heard: string[] = [];
    const as = (name: string) =>
      joined(outer, {
        elicit: ({ message }) => {
          heard.push(`${name} was asked ${message}`);
          return { action: 'decline' };
        },
      });
    const [ada, bob] = [await as('ada'), await as('bob')];
    const leaving = new AbortController();
    const left = ada.callTool('wait', { name: 'ada' }, { signal: leaving.signal }).catch(failed);
    const first = await server.call('ada');
    leaving.abort();
    await left;
    await until('the call is cancelled', () => server.cancelled.length > 0);
    const second = bob.callTool('wait', { name: 'bob' });
    const open = await server.call('bob');
    server.ask(first, 'about ada');
    await until('the question is answered, or its connection is closed', () => server.hasHeard(first));
    server.answer(open);
    expect((await second).text).toBe('for bob');
    expect(heard).toEqual([]);
  });

  test('a late log message of the call of a caller that has left does not reach the next caller', async () => {
    const server = await olderServer();
    const outer = await served(await inFront(made(server.url, older)));
    const heard: string[] = [];
    const as = (name: string) =>
      joined(outer, {
        logLevel: 'debug',
        elicit: () => ({ action: 'decline' }),
        onLog: ({ data }) => heard.push(`${name} heard ${data}`),
      });
    const [ada, bob] = [await as('ada'), await as('bob')];
    const leaving = new AbortController();
    const left = ada.callTool('wait', { name: 'ada' }, { signal: leaving.signal }).catch(failed);
    const first = await server.call('ada');
    leaving.abort();
    await left;
    await until('the call is cancelled', () => server.cancelled.length > 0);
    const second = bob.callTool('wait', { name: 'bob' });
    const open = await server.call('bob');
    server.log(first, 'about ada');
    server.answer(open);
    expect((await second).text).toBe('for bob');
    expect(heard).toEqual([]);
  });

  test('a log message that may be of another caller that only wants logs is given to nobody', async () => {
    const server = await olderServer();
    const outer = await served(await inFront(made(server.url, older)));
    const heard: string[] = [];
    const as = (name: string) =>
      joined(outer, { logLevel: 'debug', onLog: ({ data }) => heard.push(`${name} heard ${data}`) });
    const [ada, bob] = [await as('ada'), await as('bob')];
    const one = ada.callTool('wait', { name: 'ada' });
    const first = await server.call('ada');
    const other = bob.callTool('wait', { name: 'bob' });
    const second = await server.call('bob');
    server.log(first, 'about ada');
    server.log(second, 'about bob');
    server.answer(first);
    server.answer(second);
    expect([(await one).text, (await other).text]).toEqual(['for ada', 'for bob']);
    expect(heard).not.toContain('bob heard about ada');
    expect(heard).not.toContain('ada heard about bob');
  });

  test('a log message of a caller that wants none does not reach one that wants them', async () => {
    const server = await olderServer();
    const outer = await served(await inFront(made(server.url, older)));
    const heard: string[] = [];
    const ada = await joined(outer);
    const bob = await joined(outer, { logLevel: 'debug', onLog: ({ data }) => heard.push(String(data)) });
    const one = ada.callTool('wait', { name: 'ada' });
    const first = await server.call('ada');
    const other = bob.callTool('wait', { name: 'bob' });
    const second = await server.call('bob');
    server.log(first, 'about ada');
    server.answer(first);
    server.answer(second);
    expect([(await one).text, (await other).text]).toEqual(['for ada', 'for bob']);
    expect(heard).toEqual([]);
  });
});
