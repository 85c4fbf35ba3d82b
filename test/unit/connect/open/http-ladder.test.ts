import { afterEach, describe, expect, test } from 'vitest';
import {
  type Client,
  type ConnectOptions,
  connect,
  KnownServers,
  knownServer,
} from '../../../../src/client.js';
import { McpError } from '../../../../src/protocol/errors.js';
import { type HttpServer, type Kind, startServer } from '../fixtures/http-servers.js';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function start(kind: Kind, status?: number): Promise<HttpServer> {
  const server = await startServer(kind, status);
  open.push(server);
  return server;
}

async function connected(url: string, options?: ConnectOptions): Promise<Client> {
  const client = await connect(url, { knownServers: new KnownServers(), ...options });
  open.push(client);
  return client;
}

async function failure(url: string, options?: ConnectOptions): Promise<McpError> {
  const error = await connected(url, options).catch((error: unknown) => error);
  if (!McpError.is(error)) throw new Error('It did not fail as it should', { cause: error });
  return error;
}

async function saysHello(client: Client): Promise<void> {
  expect((await client.callTool('hello')).text).toBe('hello');
}

describe('the eras over HTTP', () => {
  test.each<[kind: Kind, revision: string, transport: string]>([
    ['both', '2026-07-28', 'http'],
    ['modern', '2026-07-28', 'http'],
    ['sessions', '2025-11-25', 'http'],
    ['empty', '2025-11-25', 'http'],
    ['sse', '2025-11-25', 'http+sse'],
  ])('a server of the kind "%s" is spoken to in %s over %s', async (kind, revision, transport) => {
    const client = await connected((await start(kind)).url);
    expect(client.info()).toMatchObject({ status: 'ready', revision, transport });
    expect(client.server.info).toMatchObject({ name: 'math' });
    await saysHello(client);
  });

  test.each([400, 404, 405, 406])('a probe that is answered with %i leads to a session', async (status) => {
    const client = await connected((await start('sessions', status)).url);
    expect(client.server.revision).toBe('2025-11-25');
    await saysHello(client);
  });

  test.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
  ] as const)('%i is about who is calling, and not about the era', async (status, code) => {
    const server = await start(status);
    expect(await failure(server.url)).toMatchObject({ code, status });
    expect(server.requests).toEqual(['POST server/discover']);
  });

  test('a session that wants a token ends the search, and the error is that', async () => {
    const server = await start('guarded');
    expect(await failure(server.url)).toMatchObject({ code: 'unauthorized', status: 401 });
    expect(server.requests).toEqual(['POST server/discover', 'POST /mcp']);
  });

  test('an address where nobody listens is not asked again', async () => {
    const server = await start('both');
    await server.close();
    const error = await failure(server.url);
    expect(error).toMatchObject({ code: 'connect_failed' });
    expect(error.message).toContain('127.0.0.1');
  });

  test('a browser does not say that headers are not allowed, so the way without them is tried', async () => {
    const { url } = await start('both');
    const strict: typeof fetch = async (input, init) => {
      if (new Headers(init?.headers).has('mcp-method')) throw new TypeError('Failed to fetch');
      return fetch(input, init);
    };
    const client = await connected(url, { fetch: strict });
    expect(client.server.revision).toBe('2025-11-25');
    await saysHello(client);
  });

  test('what fails in both ways for no known reason is told once', async () => {
    const { url } = await start('both');
    const offline: typeof fetch = () => Promise.reject(new TypeError('Failed to fetch'));
    const error = await failure(url, { fetch: offline });
    expect(error.message).toMatch(/^Cannot reach .*\(CORS\)\.$/);
  });

  test('a page that signs in is no server, and the error tells what was tried', async () => {
    const server = await start('page');
    const error = await failure(`${server.url}?key=secret`);
    expect(error).toMatchObject({
      code: 'connect_failed',
      data: {
        attempts: [
          { target: server.url, transport: 'http', era: 'modern', code: 'unsupported_version' },
          { target: server.url, transport: 'http', era: 'session' },
        ],
      },
    });
    expect(error.cause).toBeUndefined();
    expect(error.message.split('\n')).toHaveLength(3);
    expect(error.message).not.toContain('secret');
  });

  test('a path that does not exist is tried in all three ways', async () => {
    const error = await failure((await start(404)).url);
    expect(error).toMatchObject({
      code: 'connect_failed',
      data: { attempts: [{ era: 'modern' }, { era: 'session' }, { era: 'http+sse', transport: 'http+sse' }] },
    });
    expect(error.message.split('\n')).toHaveLength(4);
  });

  test('headers and a token are sent with every way that is tried', async () => {
    const server = await start('sse');
    const seen = new Set<string | null>();
    const spy: typeof fetch = (input, init) => {
      const headers = new Headers(init?.headers);
      seen.add(`${headers.get('authorization')} ${headers.get('x-team')} ${headers.get('x-own')}`);
      return fetch(input, init);
    };
    const client = await connect(
      { url: server.url, headers: { 'x-own': 'mine', 'x-team': 'ours' } },
      { fetch: spy, auth: 'token', headers: { 'x-team': 'all' }, knownServers: new KnownServers() },
    );
    open.push(client);
    await saysHello(client);
    expect([...seen]).toEqual(['Bearer token ours mine']);
  });
});

describe('insisting on a revision', () => {
  test('a modern one: nothing else is tried', async () => {
    const server = await start('sessions');
    expect(await failure(server.url, { revision: '2026-07-28' })).toMatchObject({
      code: 'unsupported_version',
    });
    expect(server.requests).toEqual(['POST server/discover']);
  });

  test.each(['2025-03-26', '2025-06-18', '2025-11-25'] as const)(
    '%s: nothing is probed',
    async (revision) => {
      const server = await start('both');
      const client = await connected(server.url, { revision });
      expect(client.server.revision).toBe(revision);
      expect(server.requests).not.toContain('POST server/discover');
      await saysHello(client);
    },
  );

  test('that a session does not have: nothing older is tried', async () => {
    const server = await start('both');
    const older: typeof fetch = (input, init) => {
      const body = init?.body && String(init.body).replace('2025-11-25', '2025-06-18');
      return fetch(input, { ...init, ...(body && { body }) });
    };
    const error = await failure(server.url, { revision: '2025-11-25', fetch: older });
    expect(error).toMatchObject({ code: 'unsupported_version', data: { supported: ['2025-06-18'] } });
  });

  test('2024-11-05 over HTTP+SSE', async () => {
    const client = await connected((await start('sse')).url, { revision: '2024-11-05' });
    expect(client.info()).toMatchObject({ revision: '2024-11-05', transport: 'http+sse' });
  });
});

describe('what is remembered', () => {
  test('a server of the session era is not probed again', async () => {
    const server = await start('sessions');
    const knownServers = new KnownServers();
    await connected(server.url, { knownServers });
    expect(server.requests.splice(0)).toContain('POST server/discover');
    await saysHello(await connected(server.url, { knownServers }));
    expect(server.requests).not.toContain('POST server/discover');
  });

  test('one that was remembered wrong is asked again', async () => {
    const server = await start('sessions');
    const knownServers = new KnownServers();
    await connected(server.url, { knownServers });
    server.turnInto('modern');
    const client = await connected(server.url, { knownServers });
    expect(client.server.revision).toBe('2026-07-28');
    server.turnInto('sessions');
    expect((await connected(server.url, { knownServers })).server.revision).toBe('2025-11-25');
  });

  test('the module has a memory of its own, by origin and path', async () => {
    const server = await start('sessions');
    open.push(await connect(`${server.url}?a`));
    server.requests.splice(0);
    open.push(await connect(`${server.url}?b`));
    expect(server.requests).not.toContain('POST server/discover');
  });

  test('no more than its limit', () => {
    const servers = new KnownServers({ maxEntries: 2 });
    for (const key of ['a', 'b', 'a', 'c']) servers.set(key, { era: 'modern', revision: '2026-07-28' });
    expect(['a', 'b', 'c'].map((key) => servers.get(key) !== undefined)).toEqual([true, false, true]);
  });
});

describe('the option known', () => {
  test('of a modern server: nothing is sent before the first call', async () => {
    const server = await start('both');
    const known = JSON.parse(JSON.stringify(knownServer(await connected(server.url))));
    expect(known).toMatchObject({ era: 'modern', revision: '2026-07-28' });
    server.requests.splice(0);
    const client = await connected(server.url, { known });
    expect(server.requests).toEqual([]);
    expect(client.server).toMatchObject({ revision: '2026-07-28', info: { name: 'math' } });
    await saysHello(client);
    expect(server.requests).toEqual(['POST tools/call']);
  });

  test.each([400, 404])(
    'where the server is of another era by now (%i), the call is sent again',
    async (status) => {
      const modern = await start('both');
      const known = knownServer(await connected(modern.url));
      const server = await start('sessions', status);
      const client = await connected(server.url, { known });
      expect(server.requests).toEqual([]);
      const results = await Promise.all([client.callTool('hello'), client.callTool('hello')]);
      expect(results.map(({ text }) => text)).toEqual(['hello', 'hello']);
      expect(client.info().revision).toBe('2025-11-25');
      expect(server.requests.filter((request) => request === 'POST server/discover')).toHaveLength(1);
    },
  );

  test('of a session: it is not probed', async () => {
    const server = await start('sessions');
    const known = knownServer(await connected(server.url));
    expect(known).toEqual({ era: 'session', revision: '2025-11-25' });
    server.requests.splice(0);
    await saysHello(await connected(server.url, { known }));
    expect(server.requests).not.toContain('POST server/discover');
  });

  test('of HTTP+SSE: nothing else is tried', async () => {
    const server = await start('sse');
    const known = knownServer(await connected(server.url));
    expect(known).toEqual({ era: 'http+sse', revision: '2025-11-25' });
    server.requests.splice(0);
    await saysHello(await connected(server.url, { known }));
    expect(server.requests).not.toContain('POST server/discover');
    expect(server.requests).not.toContain('POST /sse');
  });
});
