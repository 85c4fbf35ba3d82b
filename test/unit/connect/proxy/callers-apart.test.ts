// Proxies in a row in front of an older server that ends no call that is cancelled: callers hear only about their own calls, and are not refused.

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
    get open() {
      return sockets.clients.size;
    },
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
    progress: ({ socket, meta }: OpenCall, message: string) => {
      const { progressToken } = meta;
      const params = { progressToken, progress: 1, message };
      if (progressToken !== undefined) send(socket, { method: 'notifications/progress', params });
    },
    hasHeard: ({ socket }: OpenCall) => answered.has(socket) || socket.readyState !== socket.OPEN,
    log: ({ socket }: OpenCall, data: string) =>
      send(socket, { method: 'notifications/message', params: { level: 'error', data } }),
  };
}

const failed = () => 'failed';

/** Opens a call of `ada`, who leaves, and then one of `bob`. */
async function callAfterOneThatLeft(
  server: Awaited<ReturnType<typeof olderServer>>,
  ada: Client,
  bob: Client,
) {
  const leaving = new AbortController();
  const left = ada.callTool('wait', { name: 'ada' }, { signal: leaving.signal }).catch(failed);
  const first = await server.call('ada');
  leaving.abort();
  await left;
  await until('the call is cancelled', () => server.cancelled.length > 0);
  const second = bob.callTool('wait', { name: 'bob' });
  return { first, second, open: await server.call('bob') };
}

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
    const { first, second, open } = await callAfterOneThatLeft(server, ada, bob);
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
    const { first, second, open } = await callAfterOneThatLeft(server, ada, bob);
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

describe.each(allWays)('behind %s', (_way, inFront) => {
  test('callers of all kinds hear only about their own calls, if all are open at the same time', async () => {
    const server = await olderServer();
    const front = await inFront(made(server.url, older));
    const outer = await served(front);
    const heard: string[] = [];
    const call = async (name: string, target: Target, kind: 'asked' | 'logs' | 'none', more: object = {}) => {
      const note = (what: string) => heard.push(`${name} ${what}`);
      const client = await joined(target, {
        ...more,
        ...(kind === 'asked' && {
          elicit: ({ message }: { message: string }) => {
            note(`asked ${message}`);
            return { action: 'decline' as const };
          },
        }),
        ...(kind !== 'none' && { logLevel: 'debug' as const, onLog: ({ data }) => note(`log ${data}`) }),
      });
      const onProgress = ({ message }: { message?: string }) => note(`progress ${message}`);
      return (await client.callTool('wait', { name }, { onProgress })).text;
    };
    const as = (subject: string) => ({ caller: { subject, scopes: [], claims: {} } });
    const names = ['n1', 'n2', 'a1', 'a2', 'l1', 'l2', 'x1', 'x2', 's1', 's2'];
    const calls = [
      ...[call('n1', front, 'asked', as('n1')), call('n2', front, 'asked', as('n2'))],
      ...[call('a1', outer, 'asked'), call('a2', outer, 'asked')],
      ...[call('l1', outer, 'logs'), call('l2', outer, 'logs')],
      ...[call('x1', outer, 'none'), call('x2', outer, 'none')],
      ...[call('s1', outer, 'asked', older), call('s2', ws(outer), 'asked', older)],
    ];
    const open = await Promise.all(names.map((name) => server.call(name)));
    for (const one of open) {
      server.log(one, `of ${one.name}`);
      server.progress(one, `of ${one.name}`);
      if (/^[nas]/.test(one.name)) server.ask(one, `of ${one.name}`);
    }
    await until('all were asked', () => heard.filter((one) => one.includes(' asked ')).length >= 6, 10_000);
    for (const one of open) server.answer(one);
    expect(await Promise.all(calls)).toEqual(names.map((name) => `for ${name}`));
    expect(heard.filter((one) => !one.endsWith(`of ${one.slice(0, 2)}`))).toEqual([]);
  });

  test('few connections are opened for calls one after the other, cancelled ones among them, and all are closed in the end', async () => {
    const server = await olderServer();
    const idle: ProxyOptions = { ...older, maxConnections: 4, idleMs: 1000 };
    const outer = await served(await inFront(made(server.url, idle)));
    const client = await joined(outer, { elicit: () => ({ action: 'decline' }) });
    let most = 0;
    for (let at = 0; at < 12; at++) {
      const leaving = new AbortController();
      const call = client.callTool('wait', { name: `${at}` }, { signal: leaving.signal }).catch(failed);
      const open = await server.call(`${at}`);
      if (at % 3 === 0) leaving.abort();
      else server.answer(open);
      expect(await call).toMatchObject(at % 3 === 0 ? {} : { text: `for ${at}` });
      await until('the proxy knows', () => server.cancelled.length >= Math.floor(at / 3) + 1);
      most = Math.max(most, server.open);
    }
    expect(most).toBeLessThanOrEqual(4);
    await until('all are closed', () => server.open === 0, 10_000);
  });
});

describe('a caller without a name', () => {
  const at = (dispatch: ProxyServer['dispatch'], address: string, name: string) =>
    dispatch({
      ...{ id: 1, method: 'tools/call', notify: () => undefined, signal: new AbortController().signal },
      params: { name: 'wait', arguments: { name } },
      via: { transport: 'http' },
      http: { header: () => undefined, remoteAddress: address },
      peer: {
        ...{ revision: '2026-07-28', client: undefined, logLevel: undefined },
        capabilities: { elicitation: { form: {} } },
      },
    } as never).catch((error) => String(error));

  test('is not refused because callers at other addresses use the connections that it has opened', async () => {
    const server = await olderServer();
    const { dispatch } = made(server.url, { ...older, maxConnections: 4 });
    const ended = async (calls: readonly Promise<unknown>[], names: readonly string[]) => {
      for (const name of names) server.answer(await server.call(name));
      return Promise.all(calls);
    };
    await ended([at(dispatch, '192.0.2.1', 'a'), at(dispatch, '192.0.2.1', 'b')], ['a', 'b']);
    const others = [at(dispatch, '198.51.100.1', 'c'), at(dispatch, '198.51.100.1', 'd')];
    await Promise.all(['c', 'd'].map(server.call));
    const own = at(dispatch, '192.0.2.1', 'e');
    expect(await Promise.race([own, server.call('e').then(() => 'open')])).toBe('open');
    await ended([own, ...others], ['c', 'd', 'e']);
  });
});

describe('a proxy behind others', () => {
  test.each([
    ['over HTTP', (url: string) => url],
    ['over a WebSocket', ws],
  ] as const)('tells the callers of two proxies with the same credentials apart %s', async (_name, over) => {
    const server = await olderServer();
    const inner = over(await served(made(server.url, older), byCredentials));
    const heard: string[] = [];
    const names = ['a1', 'b1', 'a2', 'b2'];
    const fronts = [await served(made(inner, older)), await served(made(inner, older))] as const;
    const calls = names.map(async (name, at): Promise<string> => {
      const client = await joined(fronts[at % 2] as string, {
        elicit: ({ message }) => {
          heard.push(`${name} of ${message}`);
          return { action: 'decline' };
        },
      });
      return (await client.callTool('wait', { name })).text;
    });
    const open = await Promise.all(names.map((name) => server.call(name)));
    for (const one of open) server.ask(one, one.name);
    await until('all were asked', () => heard.length >= 4, 10_000);
    for (const one of open) server.answer(one);
    expect(await Promise.all(calls)).toEqual(names.map((name) => `for ${name}`));
    expect(heard.sort()).toEqual(names.map((name) => `${name} of ${name}`).sort());
  });

  test.each([
    ['a plain random tag, as older versions send it', (): string => crypto.randomUUID()],
    ['one tag for a connection that it says one caller has', (): string => 'alone:the same'],
    ['another tag of that kind each time', (): string => `alone:${crypto.randomUUID()}`],
    ['one tag for callers without a name', (): string => 'anonymous:the same'],
    ['a tag that is only the beginning', (): string => 'anonymous:'],
  ] as const)('serves many calls of one session in turn that carry %s', async (_name, tag) => {
    const server = await olderServer();
    const inner = ws(await served(made(server.url, { ...older, maxConnections: 4 })));
    const client = await joined(inner, { ...older, elicit: () => ({ action: 'decline' }) });
    for (let at = 0; at < 8; at++) {
      const call = client.callTool('wait', { name: `${at}` }, { meta: { 'fullmcp/caller': tag() } });
      server.answer(await server.call(`${at}`));
      expect((await call).text).toBe(`for ${at}`);
    }
    expect(server.open).toBeLessThanOrEqual(3);
  });

  test.each([
    ['by its session', 'alone:x', undefined],
    ['by its session', 'anonymous:x', undefined],
    ['by its session', ' anonymous', undefined],
    ['by its credentials', 'alone:x', true],
    ['by its credentials', 'anonymous:x', true],
  ] as const)(
    'that knows a caller %s does not ask it about the calls of others, although it sends the tag %j as they do',
    async (_how, tag, hasAuth) => {
      const server = await olderServer();
      const auth = ((request: { headers: Record<string, unknown> }) => ({
        subject: String(request.headers['authorization']),
      })) as never;
      const inner = ws(await served(made(server.url, older), hasAuth && { auth }));
      const heard: string[] = [];
      const names = ['liar', 'ada', 'bob'];
      const calls = names.map(async (name): Promise<string> => {
        const client = await joined(inner, {
          ...older,
          auth: name,
          elicit: ({ message }) => {
            heard.push(`${name} of ${message}`);
            return { action: 'decline' };
          },
        });
        return (await client.callTool('wait', { name }, { meta: { 'fullmcp/caller': tag } })).text;
      });
      const open = await Promise.all(names.map((name) => server.call(name)));
      for (const one of open) server.ask(one, one.name);
      await until('all were asked', () => heard.length >= 3, 10_000);
      for (const one of open) server.answer(one);
      expect(await Promise.all(calls)).toEqual(names.map((name) => `for ${name}`));
      expect(heard.sort()).toEqual(names.map((name) => `${name} of ${name}`).sort());
    },
  );
});
