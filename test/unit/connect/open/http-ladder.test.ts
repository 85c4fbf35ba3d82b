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

const closeables: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of closeables.splice(0).reverse()) await one.close();
});

async function start(kind: Kind, status?: number): Promise<HttpServer> {
  const server = await startServer(kind, status);
  closeables.push(server);
  return server;
}

async function open(url: string, options?: ConnectOptions): Promise<Client> {
  const client = await connect(url, { knownServers: new KnownServers(), ...options });
  closeables.push(client);
  return client;
}

async function failure(url: string, options?: ConnectOptions): Promise<McpError> {
  const error = await open(url, options).catch((error: unknown) => error);
  if (!McpError.is(error)) throw new Error('It did not fail as it should', { cause: error });
  return error;
}

async function saysHello(client: Client): Promise<void> {
  expect((await client.callTool('hello')).text).toBe('hello');
}

describe('connecting over HTTP', () => {
  test.each<[kind: Kind, revision: string, transport: string]>([
    ['both', '2026-07-28', 'http'],
    ['modern', '2026-07-28', 'http'],
    ['sessions', '2025-11-25', 'http'],
    ['empty', '2025-11-25', 'http'],
    ['sse', '2025-11-25', 'http+sse'],
  ])('to a server of the kind "%s" uses %s over %s', async (kind, revision, transport) => {
    const client = await open((await start(kind)).url);
    expect(client.info()).toMatchObject({ status: 'ready', revision, transport });
    expect(client.server.info).toMatchObject({ name: 'math' });
    await saysHello(client);
  });

  test.each([400, 404, 405, 406])(
    'continues with a session after a probe that is answered with %i',
    async (status) => {
      const client = await open((await start('sessions', status)).url);
      expect(client.server.revision).toBe('2025-11-25');
      await saysHello(client);
    },
  );

  test.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
  ] as const)(
    'treats %i as an authentication failure that says nothing about the era',
    async (status, code) => {
      const server = await start(status);
      expect(await failure(server.url)).toMatchObject({ code, status });
      expect(server.requests).toEqual(['POST server/discover']);
    },
  );

  test('fails with 401 if only the handshake of a session is rejected with it', async () => {
    const server = await start('guarded');
    expect(await failure(server.url)).toMatchObject({ code: 'unauthorized', status: 401 });
    expect(server.requests).toEqual(['POST server/discover', 'POST /mcp']);
  });

  test('fails with the address if nothing listens there', async () => {
    const server = await start('both');
    await server.close();
    const error = await failure(server.url);
    expect(error).toMatchObject({ code: 'connect_failed' });
    expect(error.message).toContain('127.0.0.1');
  });

  test('tries without the new headers in a browser, which does not report that headers are not allowed', async () => {
    const { url } = await start('both');
    const strict: typeof fetch = async (input, init) => {
      if (new Headers(init?.headers).has('mcp-method')) throw new TypeError('Failed to fetch');
      return fetch(input, init);
    };
    const client = await open(url, { fetch: strict });
    expect(client.server.revision).toBe('2025-11-25');
    await saysHello(client);
  });

  test('reports a failure of fetch without a reason once, although it occurs in two ways', async () => {
    const { url } = await start('both');
    const offline: typeof fetch = () => Promise.reject(new TypeError('Failed to fetch'));
    const error = await failure(url, { fetch: offline });
    expect(error.message).toMatch(/^Cannot reach .*\(CORS\)\.$/);
  });

  test('rejects a login page, and reports both attempts without the query', async () => {
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
    const [, first, second, ...more] = error.message.split('\n');
    expect(first).toContain(`- ${server.url} (http, newest revision): `);
    expect(second).toContain(`- ${server.url} (http, older revisions): `);
    expect(more).toEqual([]);
    expect(error.message).not.toContain('secret');
  });

  test('tries a path that does not exist in all three ways', async () => {
    const error = await failure((await start(404)).url);
    expect(error).toMatchObject({
      code: 'connect_failed',
      data: { attempts: [{ era: 'modern' }, { era: 'session' }, { era: 'http+sse', transport: 'http+sse' }] },
    });
    expect(error.message.split('\n')).toHaveLength(4);
  });

  test('sends headers and a token with every attempt', async () => {
    const server = await start('sse');
    const credentials = new Set<string | null>();
    const spy: typeof fetch = (input, init) => {
      const headers = new Headers(init?.headers);
      credentials.add(`${headers.get('authorization')} ${headers.get('x-team')} ${headers.get('x-own')}`);
      return fetch(input, init);
    };
    const client = await connect(
      { url: server.url, headers: { 'x-own': 'mine', 'x-team': 'ours' } },
      { fetch: spy, auth: 'token', headers: { 'x-team': 'all' }, knownServers: new KnownServers() },
    );
    closeables.push(client);
    await saysHello(client);
    expect([...credentials]).toEqual(['Bearer token ours mine']);
  });
});

describe('requiring a revision over HTTP', () => {
  test('sends only the probe if it is a modern one', async () => {
    const server = await start('sessions');
    expect(await failure(server.url, { revision: '2026-07-28' })).toMatchObject({
      code: 'unsupported_version',
    });
    expect(server.requests).toEqual(['POST server/discover']);
  });

  test.each(['2025-03-26', '2025-06-18', '2025-11-25'] as const)(
    'skips the probe for %s',
    async (revision) => {
      const server = await start('both');
      const client = await open(server.url, { revision });
      expect(client.server.revision).toBe(revision);
      expect(server.requests).not.toContain('POST server/discover');
      await saysHello(client);
    },
  );

  test('fails if the session that the server opens has an older one', async () => {
    const server = await start('both');
    const older: typeof fetch = (input, init) => {
      const body = init?.body && String(init.body).replace('2025-11-25', '2025-06-18');
      return fetch(input, { ...init, ...(body && { body }) });
    };
    const error = await failure(server.url, { revision: '2025-11-25', fetch: older });
    expect(error).toMatchObject({ code: 'unsupported_version', data: { supported: ['2025-06-18'] } });
  });

  test('connects with 2024-11-05 over HTTP+SSE', async () => {
    const client = await open((await start('sse')).url, { revision: '2024-11-05' });
    expect(client.info()).toMatchObject({ revision: '2024-11-05', transport: 'http+sse' });
  });
});

describe('the memory of known servers', () => {
  test('does not remember a revision that only the options chose', async () => {
    const server = await start('both');
    const knownServers = new KnownServers();
    await open(server.url, { knownServers, revision: '2025-11-25' });
    expect((await open(server.url, { knownServers })).server.revision).toBe('2026-07-28');
  });

  test('skips the probe for a server of the session era', async () => {
    const server = await start('sessions');
    const knownServers = new KnownServers();
    await open(server.url, { knownServers });
    expect(server.requests.splice(0)).toContain('POST server/discover');
    await saysHello(await open(server.url, { knownServers }));
    expect(server.requests).not.toContain('POST server/discover');
  });

  test('is corrected when the server has changed its era', async () => {
    const server = await start('sessions');
    const knownServers = new KnownServers();
    await open(server.url, { knownServers });
    server.turnInto('modern');
    const client = await open(server.url, { knownServers });
    expect(client.server.revision).toBe('2026-07-28');
    server.turnInto('sessions');
    expect((await open(server.url, { knownServers })).server.revision).toBe('2025-11-25');
  });

  test('is shared by default, and ignores the query of a URL', async () => {
    const server = await start('sessions');
    closeables.push(await connect(`${server.url}?a`));
    server.requests.splice(0);
    closeables.push(await connect(`${server.url}?b`));
    expect(server.requests).not.toContain('POST server/discover');
  });

  test('drops the entry that was set longest ago when it is full', () => {
    const servers = new KnownServers({ maxEntries: 2 });
    for (const key of ['a', 'b', 'a', 'c']) servers.set(key, { era: 'modern', revision: '2026-07-28' });
    expect(['a', 'b', 'c'].map((key) => servers.get(key) !== undefined)).toEqual([true, false, true]);
  });
});

describe('a server given by the option `known`', () => {
  test('of the modern era is sent nothing before the first call', async () => {
    const server = await start('both');
    const known = JSON.parse(JSON.stringify(knownServer(await open(server.url))));
    expect(known).toMatchObject({ era: 'modern', revision: '2026-07-28' });
    server.requests.splice(0);
    const client = await open(server.url, { known });
    expect(server.requests).toEqual([]);
    expect(client.server).toMatchObject({ revision: '2026-07-28', info: { name: 'math' } });
    await saysHello(client);
    expect(server.requests).toEqual(['POST tools/call']);
  });

  test.each([400, 404])('that has changed its era gets the calls again (%i)', async (status) => {
    const modern = await start('both');
    const known = knownServer(await open(modern.url));
    const server = await start('sessions', status);
    const client = await open(server.url, { known });
    expect(server.requests).toEqual([]);
    const results = await Promise.all([client.callTool('hello'), client.callTool('hello')]);
    expect(results.map(({ text }) => text)).toEqual(['hello', 'hello']);
    expect(client.info().revision).toBe('2025-11-25');
    expect(server.requests.filter((request) => request === 'POST server/discover')).toHaveLength(1);
  });

  test('with a session is not probed', async () => {
    const server = await start('sessions');
    const known = knownServer(await open(server.url));
    expect(known).toEqual({ era: 'session', revision: '2025-11-25' });
    server.requests.splice(0);
    await saysHello(await open(server.url, { known }));
    expect(server.requests).not.toContain('POST server/discover');
  });

  test('with HTTP+SSE is connected without a probe and without a POST to its URL', async () => {
    const server = await start('sse');
    const known = knownServer(await open(server.url));
    expect(known).toEqual({ era: 'http+sse', revision: '2025-11-25' });
    server.requests.splice(0);
    await saysHello(await open(server.url, { known }));
    expect(server.requests).not.toContain('POST server/discover');
    expect(server.requests).not.toContain('POST /sse');
  });
});
