import { lookup as dnsLookup } from 'node:dns';
import { readFileSync } from 'node:fs';
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttps, type ServerOptions } from 'node:https';
import { type AddressInfo, createServer as createTcp, type Socket } from 'node:net';
import process from 'node:process';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { nodeCarrier } from '../../../../../src/adapters/node/client/carrier.js';
import { type Client, type ConnectOptions, connect, McpError } from '../../../../../src/client.js';
import type { CarrierRequest, HttpCarrier } from '../../../../../src/transports/http/client/carrier.js';
import { type Act, modernServer } from '../../../../support/http/faulty-http.js';
import type { Body } from '../../../../support/http/http-server.js';
import { proxyServer } from '../../../../support/http/proxy-server.js';
import { leaveNothingBehind } from '../../../../support/leaks.js';
import { soon, until } from '../../../../support/until.js';

// The features that only Node's own HTTP has. Those it shares with `fetch` are tested in support/http/carrier-contract.ts.

leaveNothingBehind({ everyTimer: false });

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function pem(name: string): string {
  return readFileSync(new URL(`../../../../fixtures/tls/${name}.pem`, import.meta.url), 'utf8');
}

interface Listening {
  readonly port: number;
  readonly sockets: Set<Socket>;
  readonly connections: () => number;
}

async function listen(server: ReturnType<typeof createTcp>, secure = false): Promise<Listening> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on(secure ? 'secureConnection' : 'connection', () => connections++);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        for (const socket of sockets) socket.destroy();
      }),
  );
  return { port: (server.address() as AddressInfo).port, sockets, connections: () => connections };
}

/** An MCP server that does what a test tells it. */
function mcp(act: Act = modernServer()): (request: IncomingMessage, response: ServerResponse) => void {
  return async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { method = '', url = '', headers } = request;
    act({ method, path: url, headers, body: JSON.parse(text) as Body, at: 0 }, response);
  };
}

async function connectTo(url: string, options: ConnectOptions = {}): Promise<Client> {
  const client = await soon('the connection', connect(url, options));
  closers.push(() => client.close());
  return client;
}

async function failureOf(url: string, options: ConnectOptions = {}): Promise<McpError> {
  const error = await connect(url, options).then(
    (client) => client.close().then(() => undefined),
    (reason: unknown) => reason,
  );
  if (!McpError.is(error)) throw error ?? new Error('It connected');
  return error;
}

describe('certificates', () => {
  async function secureServer(options: ServerOptions = {}): Promise<Listening> {
    return listen(createHttps({ key: pem('key'), cert: pem('cert'), ...options }, mcp()), true);
  }

  test('of an unknown authority are rejected, and the error says how to trust them', async () => {
    const { port } = await secureServer();
    const error = await failureOf(`https://127.0.0.1:${port}/mcp`);
    expect(error.code).toBe('connect_failed');
    expect(error.message).toContain(`Cannot reach https://127.0.0.1:${port}/mcp (`);
    expect(error.message).toContain("pass the authority's certificate as the option `ca`");
  });

  test.each(['127.0.0.1', 'localhost'])(
    'of https://%s are trusted with `ca`, and connections are reused',
    async (host) => {
      const { port, connections } = await secureServer();
      const client = await connectTo(`https://${host}:${port}/mcp`, { ca: pem('ca') });
      for (let call = 0; call < 5; call++) {
        expect((await client.callTool('echo', { text: 'safe' })).text).toBe('safe');
      }
      // A call may begin before the connection of the previous one is free.
      expect(connections()).toBeLessThanOrEqual(2);
    },
  );

  test('for another name are rejected even with `ca`', async () => {
    const { port } = await secureServer();
    const lookup: ConnectOptions['lookup'] = (_name, { all }, callback) =>
      all ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4);
    const error = await failureOf(`https://mcp.test:${port}/mcp`, { ca: [pem('ca')], lookup });
    expect(error.message).toContain('its certificate is for another host name');
  });

  test('of `cert` and `key` are sent to a server that requests one', async () => {
    const { port } = await secureServer({ ca: pem('ca'), requestCert: true, rejectUnauthorized: true });
    const url = `https://127.0.0.1:${port}/mcp`;
    const own = { ca: pem('ca'), cert: pem('client-cert'), key: Buffer.from(pem('client-key')) };
    expect((await (await connectTo(url, own)).callTool('echo')).text).toBe('hello');
    expect((await failureOf(url, { ca: pem('ca') })).code).toBe('connect_failed');
  });

  test('that are malformed are rejected before anything is sent', async () => {
    const { port, sockets } = await secureServer();
    for (const wrong of [{ ca: 'no certificate' }, { cert: pem('client-cert'), key: pem('key') }]) {
      const error = await failureOf(`https://127.0.0.1:${port}/mcp`, wrong);
      expect(error.code).toBe('invalid_request');
      expect(error.message).toContain('The options `ca`, `cert` and `key` cannot be used');
      expect(error.message).not.toContain('PRIVATE KEY-----');
    }
    expect(sockets.size).toBe(0);
  });

  test('are an error together with a custom `fetch`, since they would do nothing', async () => {
    const error = await failureOf('https://127.0.0.1:1/mcp', { fetch, ca: pem('ca'), proxy: false });
    expect(error.code).toBe('invalid_request');
    expect(error.message).toContain('`ca`, `proxy`: this has no effect with the option `fetch`');
  });
});

describe('a proxy', () => {
  test('forwards http:// requests, with its credentials', async () => {
    const { port } = await listen(createHttp(mcp()));
    await using proxy = await proxyServer();
    const url = `http://127.0.0.1:${port}/mcp?key=1`;
    const client = await connectTo(url, { proxy: proxy.url.replace('http://', 'http://user:p%40ss@') });
    expect((await client.callTool('echo')).text).toBe('hello');
    expect(new Set(proxy.requests)).toEqual(new Set([`POST ${url}`]));
    const basic = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
    expect(new Set(proxy.credentials)).toEqual(new Set([basic]));
    await client.close();
  });

  test('tunnels https:// connections, which are reused', async () => {
    const server = createHttps({ key: pem('key'), cert: pem('cert') }, mcp());
    const { port } = await listen(server, true);
    await using proxy = await proxyServer();
    const client = await connectTo(`https://localhost:${port}/mcp`, { proxy: proxy.url, ca: pem('ca') });
    for (let call = 0; call < 3; call++) expect((await client.callTool('echo')).text).toBe('hello');
    expect(new Set(proxy.requests)).toEqual(new Set([`CONNECT localhost:${port}`]));
    expect(proxy.requests.length).toBeLessThanOrEqual(2);
    await client.close();
  });

  test('that the environment names is used, and named in the error if it refuses', async () => {
    await using proxy = await proxyServer({ refuse: 502 });
    process.env['HTTPS_PROXY'] = proxy.url;
    try {
      const error = await failureOf('https://mcp.test/mcp?key=secret');
      expect(error.code).toBe('connect_failed');
      expect(error.message).toContain(`The proxy ${proxy.url} refused to connect to mcp.test:443 (502).`);
      expect(error.message).not.toContain('secret');
    } finally {
      Reflect.deleteProperty(process.env, 'HTTPS_PROXY');
    }
    expect(proxy.requests).toEqual(['CONNECT mcp.test:443']);
  });

  test('that requires credentials leads to an error that says where to put them', async () => {
    await using proxy = await proxyServer({ refuse: 407 });
    const secure = await failureOf('https://mcp.test/mcp', { proxy: proxy.url });
    expect(secure.message).toContain(
      'requires a user name and a password. Put them in the URL in the option `proxy`',
    );
    const plain = await failureOf('http://mcp.test/mcp', { proxy: proxy.url });
    expect(plain.message).toContain('the proxy requires a user name and a password (407)');
  });

  test.each(['http', 'https'])(
    'that cannot be reached is named in the error instead of the server, for %s',
    async (scheme) => {
      const { port } = await listen(createTcp());
      await closers.pop()?.();
      const error = await failureOf(`${scheme}://mcp.test/mcp`, {
        proxy: `http://user:secret@127.0.0.1:${port}`,
      });
      expect(error.code).toBe('connect_failed');
      expect(error.message).toContain(
        `Cannot reach the proxy http://127.0.0.1:${port} (ECONNREFUSED), which is set in the option \`proxy\`.`,
      );
      expect(error.message).not.toContain('secret');
    },
  );

  test('leaves nothing open if the call is aborted while the tunnel is made', async () => {
    const { port, sockets } = await listen(createTcp((socket) => void socket.resume()));
    const controller = new AbortController();
    const failing = failureOf('https://mcp.test/mcp', {
      proxy: `http://127.0.0.1:${port}`,
      signal: controller.signal,
    });
    await until('the proxy is asked', () => sockets.size === 1);
    controller.abort();
    expect((await failing).code).toBe('cancelled');
    await until('the tunnel is given up', () => sockets.size === 0);
  });
});

describe('WebSockets over Node', () => {
  async function socketServer(): Promise<Listening> {
    const https = createHttps({ key: pem('key'), cert: pem('cert') });
    const sockets = new WebSocketServer({ server: https });
    sockets.on('connection', (socket) =>
      socket.on('message', (data) => {
        const { id, method } = JSON.parse(String(data));
        const fields =
          method === 'server/discover'
            ? { supportedVersions: ['2026-07-28'], capabilities: {} }
            : { content: [] };
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...fields } }));
      }),
    );
    return listen(https, true);
  }

  test('use `ca` and `proxy` for wss:// too', async () => {
    const { port } = await socketServer();
    await using proxy = await proxyServer();
    const url = `wss://localhost:${port}/`;
    expect((await failureOf(url)).code).toBe('connect_failed');
    const client = await connectTo(url, { ca: pem('ca'), proxy: proxy.url });
    expect((await client.callTool('echo')).content).toEqual([]);
    expect(proxy.requests).toEqual([`CONNECT localhost:${port}`]);
    await client.close();
  });

  test('reject `ca` together with a custom `WebSocket`, since it would do nothing', async () => {
    const error = await failureOf('wss://127.0.0.1:1/', { WebSocket: class {} as never, ca: pem('ca') });
    expect(error.message).toContain('`ca`: this needs the WebSocket that fullmcp opens on Node');
  });
});

describe('name resolution', () => {
  test('uses `lookup`, and does not connect to an address that it rejects', async () => {
    const { port } = await listen(createHttp(mcp()));
    const names: string[] = [];
    const lookup: ConnectOptions['lookup'] = (name, { all }, callback) => {
      names.push(name);
      if (name !== 'mcp.test') return callback(Object.assign(new Error('no'), { code: 'EACCES' }), '');
      if (all) callback(null, [{ address: '127.0.0.1', family: 4 }]);
      else callback(null, '127.0.0.1', 4);
    };
    const client = await connectTo(`http://mcp.test:${port}/mcp`, { lookup });
    expect((await client.callTool('echo')).text).toBe('hello');
    expect((await failureOf(`http://other.test:${port}/mcp`, { lookup })).message).toContain('(EACCES)');
    expect(new Set(names)).toEqual(new Set(['mcp.test', 'other.test']));
  });

  test("accepts Node's own lookup function", async () => {
    const { port } = await listen(createHttp(mcp()));
    const client = await connectTo(`http://127.0.0.1:${port}/mcp`, { lookup: dnsLookup });
    expect((await client.callTool('echo')).text).toBe('hello');
  });

  test('finds localhost on whichever of its addresses the server listens', async () => {
    const { port } = await listen(createHttp(mcp()));
    const client = await connectTo(`http://localhost:${port}/mcp`);
    expect((await client.callTool('echo')).text).toBe('hello');
  });
});

describe('the connections of the carrier', () => {
  function carry(
    port: number,
    limits: Parameters<typeof nodeCarrier>[2] = {},
  ): (more?: Partial<CarrierRequest>) => ReturnType<HttpCarrier['send']> {
    const url = new URL(`http://127.0.0.1:${port}/mcp`);
    const carrier = nodeCarrier(url, {}, limits);
    closers.push(() => carrier.close());
    return (more = {}) =>
      carrier.send({
        ...{ method: 'POST', url, commonHeaders: {}, headers: {}, body: '{}', lane: 'call' },
        until: new AbortController(),
        ...more,
      });
  }

  test('are limited to 256 for calls, which do not delay a brief request or a stream', async () => {
    const waiting: ServerResponse[] = [];
    const { port } = await listen(
      createHttp((request, response) => {
        if (request.headers['x-lane'] === 'call') waiting.push(response);
        else response.end('now');
      }),
    );
    const send = carry(port);
    const lane = (name: CarrierRequest['lane']): Partial<CarrierRequest> => ({
      lane: name,
      headers: { 'x-lane': name },
    });
    const calls = Array.from({ length: 300 }, () => send(lane('call')));
    await until('as many calls are under way as may be', () => waiting.length === 256, 20_000);
    for (const name of ['brief', 'stream'] as const) {
      expect(
        await soon(
          name,
          send(lane(name)).then((reply) => reply.text(100)),
        ),
      ).toBe('now');
    }
    const answer = (): void => {
      for (const response of waiting.splice(0)) response.end('then');
      if (answered < 300) setTimeout(answer, 5);
    };
    let answered = 0;
    answer();
    for (const call of calls) {
      expect(
        await soon(
          'a call',
          call.then((reply) => reply.text(100)),
          20_000,
        ),
      ).toBe('then');
      answered++;
    }
  });

  test('let a waiting call be aborted while the others continue', async () => {
    const waiting: ServerResponse[] = [];
    const { port } = await listen(createHttp((_request, response) => void waiting.push(response)));
    const send = carry(port);
    const calls = Array.from({ length: 256 }, () => send());
    await until('as many calls are under way as may be', () => waiting.length === 256, 20_000);
    const controller = new AbortController();
    const queued = send({ until: controller });
    const next = send();
    const reason = new Error('given up');
    controller.abort(reason);
    await expect(soon('the reason', queued)).rejects.toBe(reason);
    for (const response of waiting.splice(0)) response.end();
    for (const call of calls) await (await call).text(100);
    await until('the next one is under way', () => waiting.length === 1, 20_000);
    waiting[0]?.end('then');
    expect(await (await next).text(100)).toBe('then');
  });

  test('are reused only if the server keeps idle ones for more than a second', async () => {
    const server = createHttp((_request, response) => void response.end('x'));
    server.keepAliveTimeout = 2000;
    const { port, connections } = await listen(server);
    const send = carry(port);
    await (await send()).text(100);
    await (await send()).text(100);
    await new Promise((resolve) => setImmediate(resolve));
    await (await send()).text(100);
    expect(connections()).toBeLessThanOrEqual(2);
    server.keepAliveTimeout = 1000;
    await (await send()).text(100);
    // Reuse needs a margin of one second, so none is left.
    await until('the connection is given up', async () => {
      return (
        (await new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))) === 0
      );
    });
  });

  test('are not reused after the server closes them between two requests', async () => {
    const { port, sockets, connections } = await listen(
      createHttp((_request, response) => void response.end('x')),
    );
    const send = carry(port);
    for (let round = 0; round < 20; round++) {
      await (await send()).text(100);
      for (const socket of sockets) socket.end();
      await until('it is closed', () => sockets.size === 0);
    }
    expect(connections()).toBe(20);
  });

  test('do not report a request as unsent if they break after the server has read it', async () => {
    let requests = 0;
    const { port } = await listen(
      createTcp((socket) =>
        socket.on('data', () => {
          if (++requests % 2 === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
          else socket.destroy();
        }),
      ),
    );
    const send = carry(port);
    await (await send()).text(100);
    const error = await send().catch((reason: unknown) => reason as { code: string; unsent?: boolean });
    expect(error).toMatchObject({ code: 'ECONNRESET' });
    expect((error as { unsent?: boolean }).unsent).toBeUndefined();
  });

  test('are given up if they are not established in time, and nothing was sent', async () => {
    const { port } = await listen(createTcp(() => undefined));
    const url = new URL(`https://127.0.0.1:${port}/mcp`);
    const carrier = nodeCarrier(url, {}, { connectMs: 50 });
    closers.push(() => carrier.close());
    const request = {
      method: 'POST',
      url,
      commonHeaders: {},
      headers: {},
      body: '{}',
      lane: 'call',
    } as const;
    await expect(
      soon('the end', carrier.send({ ...request, until: new AbortController() })),
    ).rejects.toMatchObject({
      code: 'ETIMEDOUT',
      unsent: true,
    });
  });

  test('are given up if the head of a stream is late, but not if that of a call is', async () => {
    const { port, sockets } = await listen(createHttp(() => undefined));
    const send = carry(port, { headMs: 50 });
    const call = send();
    call.catch(() => undefined);
    await expect(
      soon('the end', send({ method: 'GET', body: undefined, lane: 'stream' })),
    ).rejects.toMatchObject({
      code: 'ETIMEDOUT',
    });
    await until('only the call is open', () => sockets.size === 1);
  });

  test.each(['text', 'read'] as const)('are given up if a body stalls during %s', async (way) => {
    const { port, sockets } = await listen(
      createHttp((_request, response) => {
        response.writeHead(200);
        response.write('some');
      }),
    );
    const reply = await carry(port, { idleMs: 50 })();
    if (way === 'read') expect(Buffer.from((await reply.read()) ?? []).toString()).toBe('some');
    await expect(soon('the end', reply[way](100) as Promise<unknown>)).rejects.toMatchObject({
      code: 'ETIMEDOUT',
    });
    await until('it is closed', () => sockets.size === 0);
  });

  test('report an encoding that was not requested, by name', async () => {
    const { port } = await listen(
      createHttp((_request, response) => response.writeHead(200, { 'content-encoding': 'zstd' }).end('x')),
    );
    await expect((await carry(port)()).text(100)).rejects.toThrow('encoded as "zstd"');
  });

  test('are not opened for a request to another origin, which is rejected', async () => {
    const { port, sockets } = await listen(createHttp((_request, response) => void response.end()));
    const send = carry(port);
    await expect(send({ url: new URL(`http://localhost:${port}/mcp`) })).rejects.toThrow(
      'Requests may only be sent to http://127.0.0.1',
    );
    expect(sockets.size).toBe(0);
  });

  test('are all closed with the client, and none is opened afterwards', async () => {
    const { port, sockets, connections } = await listen(createHttp(mcp()));
    const client = await connectTo(`http://127.0.0.1:${port}/mcp`);
    await Promise.all(Array.from({ length: 20 }, () => client.callTool('echo')));
    expect(sockets.size).toBeGreaterThan(0);
    const before = connections();
    await client.close();
    await until('the connections are closed', () => sockets.size === 0);
    expect(connections()).toBe(before);
  });
});
