import { channel } from 'node:diagnostics_channel';
import { readFile } from 'node:fs/promises';
import { createServer, type Middleware, tool } from 'fullmcp';
import { type AuthProvider, apiKey, bearer, hashApiKey, sharedSecretJwt } from 'fullmcp/auth';
import { gateway } from 'fullmcp/gateway';
import { createHandler } from 'fullmcp/http';
import { type AuditEntry, audit } from 'fullmcp/middleware';
import { serve } from 'fullmcp/node';
import { telemetry } from 'fullmcp/otel';
import { proxy } from 'fullmcp/proxy';
import { rest } from 'fullmcp/rest';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { McpError } from '../../../src/protocol/errors.js';
import { memoryOtel } from '../../unit/middleware/otel/memory-otel.js';

// Requests whose credentials are refused never become calls. The operator hears of them all the same.

const { version } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8'));
const SECRET = 'sk-a-very-secret-credential-1234567890';
const closing: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.splice(0).reverse()) await close();
});

function watched(auth: AuthProvider, ...use: readonly Middleware[]) {
  const logged: string[] = [];
  const entries: AuditEntry[] = [];
  const server = createServer({
    name: 'guarded',
    version: '1.0.0',
    auth,
    use: [audit({ to: (written) => void entries.push(...written) }), ...use],
    logger: (_, message) => void logged.push(message),
    tools: { me: tool({ run: () => 'me' }) },
  });
  const refusedEntries = () => entries.filter(({ type }) => type === 'refused');
  return {
    server,
    logged,
    refusedEntries,
    refusals: () => logged.filter((line) => line.includes('refused (')),
  };
}

const request = (authorization?: string, path = '/mcp') =>
  new Request(`http://localhost${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
    body: '{}',
  });

const providers: Readonly<Record<string, AuthProvider>> = {
  apiKey: apiKey({ keys: [{ hash: await hashApiKey('sk-the-right-key-1234567890'), subject: 'ada' }] }),
  bearer: bearer(() => undefined),
  sharedSecretJwt: sharedSecretJwt({ secret: 'x'.repeat(32), issuer: 'https://a.example', audience: 'b' }),
  'a provider of the program': {
    check({ header }) {
      if (header('authorization') === undefined) return undefined;
      throw new McpError('unauthorized', `I do not know ${header('authorization')}.`);
    },
  },
  'a provider of the program that forbids': {
    check({ header }) {
      if (header('authorization') === undefined) return undefined;
      throw new McpError('forbidden', 'This caller is blocked.');
    },
  },
};

describe.each(Object.entries(providers))('credentials that %s refuses', (_, provider) => {
  it('are in the log, in the audit, in the metrics and on the channel, and nowhere are the credentials themselves', async () => {
    const otel = memoryOtel();
    const { server, logged, refusedEntries, refusals } = watched(
      provider,
      telemetry({ meterProvider: otel.meterProvider, tracerProvider: otel.tracerProvider }),
    );
    const published: unknown[] = [];
    const listen = (message: unknown): void => void published.push(message);
    channel('fullmcp:refused').subscribe(listen);
    closing.push(
      () => channel('fullmcp:refused').unsubscribe(listen),
      () => server.close(),
    );
    const handler = createHandler(server);
    const { status } = await handler(request(`Bearer ${SECRET}`));
    expect([401, 403]).toContain(status);
    await vi.dynamicImportSettled();
    expect(refusals()).toEqual([expect.stringContaining(`were refused (${status}): `)]);
    expect(published).toEqual([
      { server: 'guarded', status, reason: expect.any(String), address: undefined },
    ]);
    await vi.waitFor(() => expect(refusedEntries()).toMatchObject([{ type: 'refused', status, count: 1 }]));
    const metric = (await otel.metrics()).find(({ name }) => name === 'fullmcp.server.credentials.refused');
    expect(metric?.version).toBe(version);
    expect(metric?.points).toMatchObject([{ attributes: { 'http.response.status_code': status } }]);
    expect(JSON.stringify([logged, refusedEntries(), published, metric])).not.toContain(SECRET);
  });

  it('are not reported for a request that has none', async () => {
    const { server, refusedEntries, refusals } = watched(provider);
    closing.push(() => server.close());
    const handler = createHandler(server);
    expect((await handler(request())).status).toBe(401);
    await handler.close();
    expect(refusals()).toEqual([]);
    expect(refusedEntries()).toEqual([]);
  });
});

describe('refused credentials', () => {
  it('are reported over HTTP, HTTP+SSE, WebSocket and REST, with the address of the client', async () => {
    const { server, refusals } = watched(bearer(() => undefined));
    const serving = await serve(server, { port: 0, signals: false });
    closing.push(() => serving.close());
    const headers = { authorization: `Bearer ${SECRET}` };
    await fetch(serving.url, { method: 'POST', headers, body: '{}' });
    await vi.dynamicImportSettled();
    expect(refusals()).toHaveLength(1);
    expect(refusals()[0]).toMatch(
      /^The credentials of a request from (?:127\.0\.0\.1|::1|::ffff:127\.0\.0\.1) were/,
    );
    await fetch(serving.url, { headers: { ...headers, accept: 'text/event-stream' } });
    await new Promise((resolve) => {
      new WebSocket(serving.url.replace('http', 'ws'), 'mcp', { headers }).on('error', resolve);
    });
    const api = rest(server);
    expect((await api(request(`Bearer ${SECRET}`, '/tools/me'))).status).toBe(401);
    await serving.close();
    await api.close();
    // Those of one endpoint for the same reason are one line, and another endpoint counts its own.
    expect(
      refusals()
        .map((line) => /^The credentials of (a request|\d+ more)/.exec(line)?.[1])
        .sort(),
    ).toEqual(['2 more', 'a request', 'a request']);
  });

  it('are counted in a flood: one line and one entry for each reason, then one a minute, and few reasons', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    let at = 0;
    const { server, refusals, refusedEntries } = watched({
      check() {
        throw new McpError('unauthorized', `Reason ${at++ % 1000}.`);
      },
    });
    const handler = createHandler(server);
    for (let count = 0; count < 3000; count++) await handler(request(`Bearer ${SECRET}`));
    expect(refusals().length).toBeLessThanOrEqual(21);
    await vi.advanceTimersByTimeAsync(60_000);
    const lines = refusals();
    expect(lines.length).toBeLessThanOrEqual(42);
    expect(lines.at(-1)).toMatch(
      /^The credentials of \d{4} more requests, the last were refused \(401\): Other/,
    );
    await vi.advanceTimersByTimeAsync(600_000);
    expect(refusals()).toEqual(lines);
    vi.useRealTimers();
    await handler.close();
    await server.close();
    const counted = refusedEntries().map((entry) => ('count' in entry ? entry.count : 0));
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(3000);
  });

  it('are not in the reason of a provider that repeats them, wherever the request has them, and the reason is one line', async () => {
    const repeating: AuthProvider = {
      check({ header, url }) {
        const places = [header('x-api-key'), header('cookie'), header('authorization'), url];
        const [, encoded] = /^Basic (.+)$/.exec(header('authorization') ?? '') ?? [];
        throw new McpError('unauthorized', `I do not know\n${places.join(' ')} ${atob(encoded ?? '')}.`);
      },
    };
    const { server, logged, refusals, refusedEntries } = watched(repeating);
    closing.push(() => server.close());
    const handler = createHandler(server);
    const secrets = ['the-key-of-ada', 'the-cookie-of-ada', 'the-password-of-ada', 'the-word-of-ada'];
    const presented = [
      { headers: { 'x-api-key': secrets[0] as string } },
      { headers: { cookie: `theme=dark; session_token=${secrets[1]}` } },
      { headers: { authorization: `Basic ${btoa(`ada:${secrets[2]}`)}` } },
      { query: `?access_token=${secrets[3]}` },
    ];
    for (const { headers = {}, query = '' } of presented) {
      const sent = new Request(`http://localhost/mcp${query}`, { method: 'POST', body: '{}', headers });
      expect((await handler(sent)).status).toBe(401);
    }
    await vi.dynamicImportSettled();
    expect(refusals()).toHaveLength(presented.length);
    const told = JSON.stringify([logged, refusedEntries()]);
    for (const secret of secrets) expect(told).not.toContain(secret);
    expect(logged.join('')).not.toContain('\n');
  });

  it('get their 401 although the logger fails', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    closing.push(() => process.off('unhandledRejection', unhandled));
    const logger = vi.fn(() => {
      throw new Error('The disk is full.');
    });
    const server = createServer({ name: 'guarded', version: '1.0.0', auth: bearer(() => undefined), logger });
    const handler = createHandler(server);
    // The reports are loaded with the first refusal. Later ones are reported while the request is replied to.
    expect((await handler(request(`Bearer ${SECRET}`))).status).toBe(401);
    await vi.waitFor(() => expect(logger).toHaveBeenCalledOnce());
    expect((await handler(request('Basic QQ=='))).status).toBe(401);
    await handler.close();
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('reach every listener, although the one before it fails', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    closing.push(() => process.off('unhandledRejection', unhandled));
    const heard: string[] = [];
    const hearing = (name: string, fail: () => unknown): Middleware =>
      Object.assign(((call, next) => next(call)) satisfies Middleware, {
        forServer({ onRefused }: { onRefused?: (listener: object) => void }): Middleware {
          const hear = (kind: string) => () => {
            heard.push(`${name} ${kind}`);
            return fail();
          };
          onRefused?.({ each: hear('each'), report: hear('report') });
          return (call, next) => next(call);
        },
      });
    const { server } = watched(
      providers['bearer'] as AuthProvider,
      hearing('one', () => {
        throw new Error('one failed');
      }),
      hearing('two', () => Promise.reject(new Error('two failed'))),
      hearing('three', () => undefined),
    );
    closing.push(() => server.close());
    expect((await createHandler(server)(request(`Bearer ${SECRET}`))).status).toBe(401);
    await vi.dynamicImportSettled();
    expect(heard).toEqual(['one each', 'two each', 'three each', 'one report', 'two report', 'three report']);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('that were counted since the last report are reported when the server closes', async () => {
    const { server, refusals } = watched(bearer(() => undefined));
    const handler = createHandler(server);
    for (let count = 0; count < 5; count++) await handler(request(`Bearer ${SECRET}`));
    await handler.close();
    await server.close();
    expect(refusals()).toHaveLength(2);
    expect(refusals()[1]).toMatch(/4 more requests/);
  });
});

describe.each(['gateway', 'proxy'] as const)('credentials that a served %s refuses', (kind) => {
  it('are in the audit and in the metrics of its middleware as well, each reason once a minute', async () => {
    const otel = memoryOtel();
    const entries: AuditEntry[] = [];
    const logged: string[] = [];
    const options = {
      logger: (_: unknown, message: string) => void logged.push(message),
      use: [
        audit({ to: (written) => void entries.push(...written) }),
        telemetry({ meterProvider: otel.meterProvider, tracerProvider: otel.tracerProvider }),
      ],
    };
    const behind = createServer({
      name: 'behind',
      version: '1.0.0',
      tools: { me: tool({ run: () => 'me' }) },
    });
    const front =
      kind === 'proxy' ? proxy(behind, options) : gateway({ mcpServers: { s: { target: behind } } }, options);
    const handler = createHandler(front, { auth: bearer(() => undefined) });
    closing.push(
      () => behind.close(),
      () => front.close(),
      () => handler.close(),
    );
    for (let at = 0; at < 5; at++) expect((await handler(request(`Bearer ${SECRET}`))).status).toBe(401);
    await vi.dynamicImportSettled();
    await vi.waitFor(() => expect(entries).toMatchObject([{ type: 'refused', status: 401, count: 1 }]));
    const metric = (await otel.metrics()).find(({ name }) => name === 'fullmcp.server.credentials.refused');
    expect(metric?.points).toMatchObject([{ attributes: { 'http.response.status_code': 401 } }]);
    await handler.close();
    await vi.waitFor(() => expect(entries).toMatchObject([{ count: 1 }, { type: 'refused', count: 4 }]));
    expect(JSON.stringify([entries, logged, metric])).not.toContain(SECRET);
  });
});
