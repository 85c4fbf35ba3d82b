import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Request as ExpressRequest } from 'express';
import fastify, { type FastifyRequest } from 'fastify';
import { createServer, McpError, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { createPlugin } from 'fullmcp/fastify';
import { createHandler } from 'fullmcp/http';
import { createNodeHandler, serve } from 'fullmcp/node';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openEvents, send } from '../../support/http/http.js';
import { modern } from '../../support/http/modern.js';
import { jsonHeaders, openSession, sessionClient } from '../../support/http/sessions.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function whoami(log: string[] = []) {
  return createServer({
    name: 'who',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: (_, message, error) => void log.push(`${message} ${error}`),
    tools: {
      me: tool({ run: (_, { auth }) => (auth ? [auth.subject, auth.scopes, auth.claims] : 'nobody') }),
      host: tool({ run: (_, { request }) => request?.header('x-user') ?? 'no request' }),
    },
  });
}

const fromHeader = (user: string | string[] | undefined | null) => {
  if (user === 'mallory') throw new McpError('unauthorized', 'Log in first.');
  if (user === 'boom') throw new Error('the database is at 10.0.0.1');
  return user ? { subject: String(user) } : undefined;
};

async function listening(listener: Parameters<typeof createHttpServer>[1]): Promise<string> {
  const http = createHttpServer(listener).listen(0, '127.0.0.1');
  closing.push(() => new Promise((resolve) => http.close(resolve)));
  await once(http, 'listening');
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}

const adapters: Readonly<Record<string, () => Promise<string>>> = {
  'createHandler, with a Request': async () => {
    const handle = createHandler(whoami(), {
      auth: async (request) => fromHeader(request.headers.get('x-user')),
    });
    return listening(async (req, res) => {
      const body: Buffer[] = [];
      for await (const chunk of req) body.push(chunk as Buffer);
      const { method = 'GET' } = req;
      const response = await handle(
        new Request(`http://localhost${req.url}`, {
          method,
          headers: req.headers as Record<string, string>,
          ...(method === 'POST' && { body: Buffer.concat(body) }),
        }),
      );
      res.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text());
    });
  },
  'createNodeHandler, with an IncomingMessage': () =>
    listening(createNodeHandler(whoami(), { auth: (req) => fromHeader(req.headers['x-user']) })),
  'createNodeHandler in Express, with req.user': async () => {
    type WithUser = ExpressRequest & { user?: string };
    const app = express();
    app.use((req: WithUser, _res, next) => {
      const user = req.header('x-user');
      if (user !== undefined) req.user = user;
      next();
    });
    app.all('/mcp', createNodeHandler(whoami(), { auth: (req: WithUser) => fromHeader(req.user) }));
    return listening(app);
  },
  "createPlugin, with Fastify's request": async () => {
    type WithUser = FastifyRequest & { user?: string };
    const app = fastify();
    app.decorateRequest('user', undefined);
    app.addHook('onRequest', async (request: WithUser) => {
      request.user = request.headers['x-user'] as string;
    });
    await app.register(createPlugin(whoami(), { auth: (request: WithUser) => fromHeader(request.user) }), {
      prefix: '/mcp',
    });
    closing.push(() => app.close());
    return `${await app.listen({ port: 0, host: '127.0.0.1' })}/mcp`;
  },
  'serve, with an IncomingMessage': async () => (await serving()).url,
};

async function serving(log: string[] = []) {
  const running = await serve(whoami(log), {
    port: 0,
    secret: 'x'.repeat(32),
    signals: false,
    auth: (req: IncomingMessage) => fromHeader(req.headers['x-user']),
  });
  closing.push(() => running.close());
  return running;
}

async function me(url: string, user?: string): Promise<unknown> {
  const { status, text } = await modern(
    url,
    'tools/call',
    { name: 'me' },
    { headers: user === undefined ? {} : { 'x-user': user } },
  );
  return status === 200 ? JSON.parse(JSON.parse(text).result.content[0].text) : status;
}

describe.each(Object.entries(adapters))('auth of %s,', (_, start) => {
  it('provides the caller of a call, with defaults for omitted fields', async () => {
    const url = await start();
    expect(await me(url, 'ann')).toEqual(['ann', [], {}]);
    const nobody = await modern(url, 'tools/call', { name: 'me' });
    expect(JSON.parse(nobody.text).result.content[0].text).toBe('nobody');
  });

  it('rejects a request with the error that it throws, before the body is parsed', async () => {
    const url = await start();
    const reply = await send(url, { headers: { 'x-user': 'mallory' }, body: 'not even JSON' });
    expect(reply.status).toBe(401);
    expect(reply.headers['www-authenticate']).toBe('Bearer');
    expect(JSON.parse(reply.text).error.message).toBe('Log in first.');
  });

  it('runs for every request of a session, which no other caller can use', async () => {
    const url = await start();
    const ann = await openAs(url, 'ann');
    expect((await ann.post(call('me'), { 'x-user': 'ann' })).text).toContain('ann');
    for (const other of ['bob', undefined]) {
      const stolen = await ann.post(call('me'), { 'x-user': other });
      expect(stolen.status).toBe(404);
      expect(stolen.text).toContain('session is unknown');
      expect(
        (await send(url, { method: 'DELETE', headers: { ...ann.headers, 'x-user': other } })).status,
      ).toBe(404);
      expect((await send(url, { method: 'GET', headers: { ...ann.headers, 'x-user': other } })).status).toBe(
        404,
      );
    }
    expect((await ann.post(call('me'), { 'x-user': 'ann' })).status).toBe(200);
  });
});

const call = (name: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: {} },
});

async function openAs(url: string, user: string) {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
  });
  const reply = await send(url, { headers: { ...jsonHeaders, 'x-user': user }, body });
  return sessionClient(url, String(reply.headers['mcp-session-id']));
}

describe('auth', () => {
  it('binds a session to its caller even on a server that did not open the session', async () => {
    const first = await serving();
    const ann = await openAs(first.url, 'ann');
    const second = await serving();
    const there = sessionClient(second.url, ann.id);
    expect((await there.post(call('me'), { 'x-user': 'bob' })).status).toBe(404);
    expect((await there.post(call('me'), { 'x-user': 'ann' })).text).toContain('ann');
  });

  it('may return no caller, and no caller can use the session that was opened then', async () => {
    const { url } = await serving();
    const session = await openSession(url);
    expect((await session.request('tools/call', { name: 'me' })).text).toContain('nobody');
    expect((await session.post(call('me'), { 'x-user': 'ann' })).status).toBe(404);
  });

  it('gets the opening request of HTTP+SSE, and another caller cannot post to that session', async () => {
    const { url } = await serving();
    const events = await openEvents(url.replace('/mcp', '/sse'), {
      method: 'GET',
      headers: { 'x-user': 'ann' },
    });
    const path = (await events.next())?.data ?? '';
    const messages = new URL(path, url).href;
    const post = (user: string, message: object) =>
      send(messages, { headers: { ...jsonHeaders, 'x-user': user }, body: JSON.stringify(message) });
    const initialize = {
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 't', version: '1' } },
    };
    expect((await post('bob', initialize)).status).toBe(404);
    expect((await post('ann', initialize)).status).toBe(202);
    expect(JSON.parse((await events.next())?.data ?? '')).toMatchObject({ id: 0, result: {} });
    await post('ann', call('me'));
    expect((await events.next())?.data).toContain('ann');
    await post('ann', call('host'));
    expect((await events.next())?.data).toContain('ann');
    events.drop();
  });

  it('gets the opening request of a WebSocket, as handlers do, and rejects the connection with 401', async () => {
    const { url } = await serving();
    const socket = url.replace('http', 'ws');
    for (const revision of ['2026-07-28', '2025-11-25'] as const) {
      const client = await connect(socket, { revision, headers: { 'x-user': 'ann' } });
      closing.push(() => client.close());
      expect((await client.callTool('me')).text).toContain('ann');
      expect((await client.callTool('host')).text).toBe('ann');
    }
    await expect(connect(socket, { headers: { 'x-user': 'mallory' } })).rejects.toMatchObject({
      message: expect.stringContaining('401'),
    });
  });

  it('masks an error that is not an McpError, and logs it in full', async () => {
    const log: string[] = [];
    const { url } = await serving(log);
    const reply = await modern(url, 'tools/call', { name: 'me' }, { headers: { 'x-user': 'boom' } });
    expect(reply.status).toBe(500);
    expect(reply.text).toMatch(/Internal error \(ref [0-9a-f]{8}\)/);
    expect(reply.text).not.toContain('10.0.0.1');
    expect(log.join()).toContain('10.0.0.1');
  });

  it.each([
    [{}, 'auth.subject must be a string of 1 to 1024 characters.'],
    [{ subject: '' }, 'auth.subject must be a string of 1 to 1024 characters.'],
    [{ subject: 'ann', scopes: 'read write' }, 'auth.scopes must be an array of strings.'],
    [{ subject: 'ann', claims: 'x' }, 'auth.claims must be an object.'],
    ['ann', 'auth must be an object with a "subject", or undefined.'],
  ])('that returns %j fails the request with 500, and the log says why', async (value, message) => {
    const log: string[] = [];
    const handle = createHandler(whoami(log), { auth: () => value as never });
    const response = await handle(new Request('http://localhost/mcp', { method: 'POST' }));
    expect(response.status).toBe(500);
    expect(log.join()).toContain(message);
  });

  it('that does not settle fails the request with 503 after 30 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const handle = createHandler(whoami(), { auth: () => new Promise(() => undefined) });
      const response = handle(new Request('http://localhost/mcp', { method: 'POST' }));
      await vi.advanceTimersByTimeAsync(30_000);
      expect((await response).status).toBe(503);
    } finally {
      vi.useRealTimers();
    }
  });

  it('must be a provider or a function', () => {
    expect(() => createHandler(whoami(), { auth: 'token' as never })).toThrow(
      '"auth" must be a provider, such as the functions of fullmcp/auth make, or a function that takes the request.',
    );
  });
});
