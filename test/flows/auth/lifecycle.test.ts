import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { createServer, inProcess, insufficientScope, McpError, tool } from 'fullmcp';
import { type AuthProvider, bearer } from 'fullmcp/auth';
import { connect } from 'fullmcp/client';
import { createHandler } from 'fullmcp/http';
import { serve } from 'fullmcp/node';
import { serveWebSocket } from 'fullmcp/websocket';
import { afterEach, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { modern, modernExchange } from '../../support/http/modern.js';
import { protectedServer } from '../../support/oauth/protected-server.js';
import { soon } from '../../support/until.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.splice(0).reverse()) await close();
});

const provider = bearer((token) => ({ subject: token }));
const headers = { authorization: 'Bearer ann' };

function request(path: string, more: Readonly<Record<string, string>> = headers): Request {
  const exchange = modernExchange('tools/call', { name: 'me' }, { headers: more });
  return new Request(`http://localhost${path}`, {
    method: 'POST',
    headers: exchange.headers as Record<string, string>,
    body: exchange.body as string,
  });
}

it('A provider that cannot start makes requests fail with 503, stays healthy, and is started again with the next request', async () => {
  let attempts = 0;
  const log: string[] = [];
  const server = createServer({
    name: 'late',
    version: '1.0.0',
    logger: (_, message, error) => void log.push(`${message} ${error}`),
    tools: { me: tool({ run: (_, { auth }) => auth?.subject ?? 'nobody' }) },
  });
  const handler = createHandler(server, {
    auth: {
      ...provider,
      async start() {
        attempts++;
        await Promise.resolve();
        if (attempts === 1) throw new Error('the issuer 10.0.0.1 is down');
      },
    },
  });
  const [first, second] = await Promise.all([handler(request('/mcp')), handler(request('/mcp'))]);
  expect([first.status, second.status, first.headers.get('retry-after')]).toEqual([503, 503, '5']);
  expect(await first.text()).not.toContain('10.0.0.1');
  expect(log.join()).toContain('the issuer 10.0.0.1 is down');
  expect((await handler(new Request('http://localhost/health'))).status).toBe(200);
  expect(await (await handler(request('/mcp'))).text()).toContain('"ann"');
  expect(attempts).toBe(2);
});

it('A provider that never starts makes requests fail with 503, and does not delay the health check', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let started: () => void = () => undefined;
  let starts = 0;
  const auth: AuthProvider = {
    ...provider,
    start() {
      starts++;
      return new Promise((resolve) => {
        started = resolve;
      });
    },
  };
  const handler = createHandler(protectedServer(), { auth });
  const replies = Promise.all([handler(request('/mcp')), handler(request('/mcp'))]);
  expect((await handler(new Request('http://localhost/health'))).status).toBe(200);
  await vi.advanceTimersByTimeAsync(31_000);
  expect((await replies).map(({ status }) => status)).toEqual([503, 503]);
  const late = handler(request('/mcp'));
  started();
  expect([(await late).status, starts]).toEqual([200, 1]);
});

it('A provider that never answers about one token makes only the requests with that token fail, with 503', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const hanging = bearer((token) =>
    token === 'slow' ? new Promise<never>(() => undefined) : { subject: token },
  );
  const handler = createHandler(protectedServer(), { auth: hanging });
  const slow = Promise.all(
    Array.from({ length: 100 }, () => handler(request('/mcp', { authorization: 'Bearer slow' }))),
  );
  expect(await (await handler(request('/mcp'))).text()).toContain('"ann"');
  await vi.advanceTimersByTimeAsync(31_000);
  const replies = await slow;
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([503]));
  expect(replies[0]?.headers.get('retry-after')).toBe('5');
});

it('A handler that has not started a provider does not close it for the others that use it', async () => {
  const log: string[] = [];
  const auth: AuthProvider = {
    ...provider,
    start: ({ shared }) => void log.push(`start ${shared.server}`),
    close: (context) => void log.push(`close ${context?.shared.server}`),
  };
  const [used, unused] = [protectedServer(), protectedServer()].map((server) =>
    createHandler(server, { auth }),
  );
  await used?.(request('/mcp'));
  await unused?.close({ deadlineMs: 0 });
  expect(log).toEqual(['start protected']);
  await used?.close({ deadlineMs: 0 });
  expect(log).toEqual(['start protected', 'close protected']);
});

it('A server does not listen if its provider cannot start, and says why', async () => {
  const failing: AuthProvider = {
    ...provider,
    start: () => Promise.reject(new Error('The issuer cannot be reached.')),
  };
  for (const options of [{ auth: failing }, {}])
    await expect(
      serve(protectedServer('auth' in options ? undefined : failing), {
        ...options,
        port: 0,
        signals: false,
      }),
    ).rejects.toThrow('The issuer cannot be reached.');
});

it('A server whose provider cannot start ends its lifespan', async () => {
  const log: string[] = [];
  const server = createServer({
    name: 'lifespan',
    version: '1.0.0',
    lifespan: async function* () {
      log.push('begun');
      yield undefined;
      log.push('ended');
    },
    tools: {},
  });
  const auth: AuthProvider = { ...provider, start: () => Promise.reject(new Error('Not now.')) };
  await expect(serve(server, { auth, port: 0, signals: false })).rejects.toThrow('Not now.');
  expect(log).toEqual(['begun', 'ended']);
});

it('A provider is closed after its start, even if the server is closed in between', async () => {
  const log: string[] = [];
  let finish: () => void = () => undefined;
  const handler = createHandler(protectedServer(), {
    auth: {
      ...provider,
      start: () =>
        new Promise((resolve) => {
          finish = () => {
            log.push('started');
            resolve();
          };
        }),
      close: () => void log.push('closed'),
    },
  });
  const reply = handler(request('/mcp'));
  const closed = handler.close({ deadlineMs: 0 });
  finish();
  expect((await reply).status).toBe(503);
  await closed;
  await handler.close();
  expect(log).toEqual(['started', 'closed']);
});

it('A request without credentials is refused before its body arrives', async () => {
  const serving = await serve(protectedServer(provider), { port: 0, signals: false });
  closing.push(serving.close);
  const socket = connectSocket(serving.port, '127.0.0.1');
  closing.push(() => socket.destroy());
  socket.write(
    'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{',
  );
  const [chunk] = await soon('the refusal', once(socket, 'data'));
  expect(String(chunk)).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/);
});

it('The refusal of a WebSocket cannot be made to print another header', async () => {
  const text = 'x"\r\nSet-Cookie: a=1';
  const serving = await serve(
    protectedServer({
      check: () => {
        throw new McpError('unauthorized', 'No.', {
          challenge: { error: text, description: text, scopes: [text], nonce: text },
        });
      },
    }),
    { port: 0, signals: false },
  );
  closing.push(serving.close);
  const socket = new WebSocket(serving.url.replace('http', 'ws'));
  const [, response] = await once(socket, 'unexpected-response');
  expect(response.headers['set-cookie']).toBeUndefined();
  expect(response.headers['www-authenticate']).toBe(
    `Bearer error="x'??Set-Cookie: a=1", error_description="x'??Set-Cookie: a=1"`,
  );
});

it('A function is enough as the auth of a server: it sees the head of the request, and decides who is anonymous', async () => {
  const seen: string[] = [];
  const server = createServer({
    name: 'function',
    version: '1.0.0',
    auth: ({ method, url, header }) => {
      seen.push(`${method} ${url}`);
      const user = header('x-user');
      if (user === 'weak') throw insufficientScope(['admin']);
      return user === undefined ? undefined : { subject: user };
    },
    tools: { me: tool({ run: (_, { auth }) => auth?.subject ?? 'nobody' }) },
  });
  const serving = await serve(server, { port: 0, signals: false });
  closing.push(serving.close);
  const call = (more: Record<string, string>) =>
    modern(serving.url, 'tools/call', { name: 'me' }, { headers: more });
  expect((await call({ 'x-user': 'ann' })).text).toContain('"ann"');
  expect((await call({ authorization: 'Bearer of-somebody-else' })).text).toContain('"nobody"');
  const weak = await call({ 'x-user': 'weak' });
  expect([weak.status, weak.headers['www-authenticate']]).toEqual([
    403,
    'Bearer error="insufficient_scope", error_description="This needs the scope admin.", scope="admin"',
  ]);
  const { origin } = new URL(serving.url);
  expect(seen[0]).toBe(`POST ${origin}/mcp`);
});

it('The auth of a server is ignored in-process, and a WebSocket of the program needs the caller from it', async () => {
  const server = protectedServer(provider);
  closing.push(() => server.close());
  const outcome = await inProcess(server)('tools/call', { name: 'me' });
  expect(JSON.stringify(outcome)).toContain('nobody');
  await using client = await connect(server);
  expect((await client.callTool('me')).text).toBe('nobody');
  const socket = { send() {}, close() {}, addEventListener() {} };
  expect(() => serveWebSocket(server, socket)).toThrow('pass its caller');
  expect(() => serveWebSocket(server, socket, { auth: { subject: 'ann' } })).not.toThrow();
});
