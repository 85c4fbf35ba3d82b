import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, McpError, tool } from 'fullmcp';
import { type ConnectOptions, connect } from 'fullmcp/client';
import { serve } from 'fullmcp/node';
import { openId, type UpstreamTokens, type UserTokensOptions, userTokens } from 'fullmcp/oauth-proxy';
import { proxy } from 'fullmcp/proxy';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startUpstream, UPSTREAM_SECRET } from '../../support/oauth/proxied-server.js';
import { TestUser } from '../../support/oauth/user.js';

// A proxy whose users log in at a real provider, whose tokens the server behind the proxy takes.

const quiet = { logger: () => undefined };

async function setUp(options: Partial<UserTokensOptions> = {}) {
  const pages = createHttpServer();
  pages.listen(0, '127.0.0.1');
  await once(pages, 'listening');
  const site = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  const upstream = await startUpstream({ callbacks: [`${site}/login/callback`] });
  const stored = new Map<string, UpstreamTokens>();
  const logged: string[] = [];
  const keyOf = (key: object) => JSON.stringify(key);
  const tokens = userTokens({
    upstream: openId({
      ...{ issuer: upstream.issuer, clientId: 'proxy', clientSecret: UPSTREAM_SECRET },
      scopes: ['openid', 'offline_access'],
      authorizationParameters: { prompt: 'consent' },
    }),
    vault: {
      get: (key) => stored.get(keyOf(key)),
      set: (key, value) => void stored.set(keyOf(key), value),
      delete: (key) => void stored.delete(keyOf(key)),
    },
    publicUrl: `${site}/login`,
    browserUser(request) {
      const [, subject] = /user=(\w+)/.exec(request.headers.get('cookie') ?? '') ?? [];
      return subject === undefined ? undefined : { subject };
    },
    logger: (...message) => logged.push(JSON.stringify(message)),
    ...options,
  });
  pages.on('request', async (request, response) => {
    const url = new URL(request.url ?? '', site);
    const [, user] = url.pathname.split('/session/');
    if (user !== undefined) return void response.setHeader('set-cookie', `user=${user}`).end('Hello');
    const { cookie = '' } = request.headers;
    const reply = await tokens.handler(new Request(url, { headers: { cookie } }));
    response.writeHead(reply.status, Object.fromEntries(reply.headers)).end(await reply.text());
  });
  const refused = new Set<string>();
  const seen: string[] = [];
  const server = createServer({
    ...{ name: 'behind', version: '1', ...quiet },
    use: [
      async (call, next) => {
        const token = call.http?.header('authorization')?.slice('Bearer '.length) ?? '';
        if (call.method !== 'tools/call') return next(call);
        seen.push(token);
        return { resultType: 'complete', content: [{ type: 'text', text: token }] };
      },
    ],
    tools: { who: tool({ run: () => '' }) },
  });
  const behind = await serve(server, {
    ...{ port: 0, signals: false },
    auth({ headers: { authorization = '' } }) {
      if (refused.has(authorization)) throw new McpError('unauthorized', 'This token was revoked.');
      return { subject: authorization };
    },
  });
  const between = proxy(behind.url, { identity: tokens.identity, auth: 'own', ...quiet });
  const serving = await serve(between, {
    ...{ port: 0, signals: false },
    auth: ({ headers }) =>
      headers['x-user'] === undefined ? undefined : { subject: String(headers['x-user']) },
  });
  onTestFinished(async () => {
    await serving.close();
    await behind.close();
    upstream.close();
    pages.closeAllConnections();
    pages.close();
  });
  const browserOf = async (user?: string) => {
    const browser = new TestUser();
    if (user !== undefined) await browser.open(`${site}/session/${user}`);
    return browser;
  };
  const asked: string[] = [];
  const open = async (user: string, visit: (url: string) => unknown, more: ConnectOptions = {}) => {
    const url = async (page: { url: string }) => {
      asked.push(page.url);
      return ((await visit(page.url)) as { action: 'accept' } | undefined) ?? { action: 'accept' as const };
    };
    const client = await connect(serving.url, { headers: { 'x-user': user }, elicit: { url }, ...more });
    onTestFinished(() => client.close());
    return client;
  };
  const tokensOf = (principal: string) =>
    stored.get(keyOf({ principal, upstream: upstream.issuer })) as UpstreamTokens;
  const change = (principal: string, changed: Partial<UpstreamTokens>) =>
    stored.set(keyOf({ principal, upstream: upstream.issuer }), { ...tokensOf(principal), ...changed });
  return { upstream, stored, logged, refused, seen, asked, browserOf, open, tokensOf, change };
}

describe('a proxy whose users log in at the server behind it', () => {
  it.each(['2026-07-28', '2025-11-25'] as const)(
    'asks a user of %s to open a page, and calls with the tokens of that user from then on',
    async (revision) => {
      const { asked, browserOf, open, tokensOf, seen } = await setUp();
      const browser = await browserOf('ada');
      const client = await open('ada', browser.open, { revision });
      expect((await client.tools().all()).map(({ name }) => name)).toEqual(['who']);
      const { text } = await client.callTool('who');
      expect(text).toBe(tokensOf('ada').accessToken);
      await client.callTool('who');
      expect(asked).toHaveLength(1);
      expect(asked[0]).not.toContain('ada');
      expect(browser.lastPages.at(-1)).toContain('You are logged in');
      expect(seen).toEqual([text, text]);
      const other = await open('ben', () => ({ action: 'decline' }), { revision });
      await expect(other.callTool('who').then((result) => result.unwrap())).rejects.toThrow('refused');
      expect(seen).toHaveLength(2);
    },
  );

  it('shows its pages over http only on a host that `privateHosts` names', async () => {
    const publicUrl = 'http://login.internal:8080/login';
    await expect(setUp({ publicUrl })).rejects.toThrow('privateHosts');
    await expect(setUp({ publicUrl, privateHosts: ['http://login.internal:8080'] })).resolves.toBeDefined();
  });

  it('asks in the words of `message`', async () => {
    const { open } = await setUp({ message: 'The archive wants to know you.' });
    const messages: string[] = [];
    const url = ({ message }: { message: string }) => {
      messages.push(message);
      return { action: 'decline' as const };
    };
    const client = await open('ada', () => undefined, { elicit: { url } });
    await expect(client.callTool('who').then((result) => result.unwrap())).rejects.toThrow('refused');
    expect(messages).toEqual(['The archive wants to know you.']);
  });

  it('does not let somebody else finish the login of a user', async () => {
    const { asked, browserOf, open, stored, logged, upstream } = await setUp();
    const [ada, victim, nobody] = await Promise.all([browserOf('ada'), browserOf('victim'), browserOf()]);
    const client = await open('ada', async (url) => {
      await victim.open(url);
      await nobody.open(url);
      expect(stored.size).toBe(0);
      expect(upstream.count('/auth')).toBe(0);
      await ada.open(url);
    });
    await client.callTool('who');
    expect(victim.lastPages.at(-1)).toContain('not yours');
    expect(nobody.lastPages.at(-1)).toContain('Log in here first');
    expect(logged.join()).toContain('opened by another one');
    expect([...stored.keys()].join()).toContain('ada');
    // Each link and each way back counts once.
    await ada.open(asked[0] as string);
    await ada.open(ada.visited.find((url) => url.includes('/callback?')) as string);
    expect(ada.lastPages.slice(-2).every((page) => page.includes('This login is over'))).toBe(true);
    expect(stored.size).toBe(1);
  });

  it('does not take a way back that began in another browser, or that belongs to another user', async () => {
    const { browserOf, open, stored, upstream } = await setUp();
    const first = await browserOf('ada');
    const second = await browserOf('ada');
    const client = await open('ada', async (url) => {
      const start = async () => {
        const reply = await fetch(url, { redirect: 'manual', headers: { cookie: 'user=ada' } });
        const state = new URL(reply.headers.get('location') as string).searchParams.get('state');
        const [cookie = ''] = reply.headers.getSetCookie().map((one) => one.split(';', 1)[0] ?? '');
        return { back: `${url.split('?', 1)[0]}/callback?code=stolen&state=${state}`, cookie };
      };
      await second.open((await start()).back);
      const { back, cookie } = await start();
      const stranger = await fetch(back, { headers: { cookie: `user=ben; ${cookie}` } });
      expect([stranger.status, stored.size, upstream.count('/token')]).toEqual([403, 0, 0]);
      await first.open(url);
    });
    await client.callTool('who');
    expect(second.lastPages.at(-1)).toContain('This login is over');
    expect(stored.size).toBe(1);
  });

  it('refuses a link that is too old', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { browserOf, open, stored } = await setUp({ loginMs: 60_000 });
    const browser = await browserOf('ada');
    const client = await open('ada', async (url) => {
      vi.advanceTimersByTime(60_000);
      await browser.open(url);
      return { action: 'cancel' };
    });
    await expect(client.callTool('who').then((result) => result.unwrap())).rejects.toThrow();
    expect(browser.lastPages.at(-1)).toContain('This login is over');
    expect(stored.size).toBe(0);
  });

  it('refuses callers who are not known, who cannot be asked, and calls that cannot ask', async () => {
    const { open, seen } = await setUp();
    const deaf = await open('ada', () => undefined, { elicit: undefined } as never);
    await expect(deaf.callTool('who')).rejects.toMatchObject({ code: 'missing_capability' });
    const client = await open('ada', () => undefined);
    await expect(
      client.request('completion/complete', {
        ref: { type: 'ref/prompt', name: 'a' },
        argument: { name: 'b', value: 'c' },
      }),
    ).rejects.toMatchObject({ code: 'forbidden' });
    await expect(open('', () => undefined, { headers: {} })).rejects.toMatchObject({ code: 'unauthorized' });
    expect(seen).toEqual([]);
  });

  it('refreshes tokens once for all calls, when they expire and when the server refuses them', async () => {
    const { browserOf, open, tokensOf, change, upstream, refused, asked } = await setUp();
    const client = await open('ada', (await browserOf('ada')).open);
    const first = (await client.callTool('who')).text;
    change('ada', { expiresAt: 1 });
    const texts = await Promise.all(
      Array.from({ length: 10 }, async () => (await client.callTool('who')).text),
    );
    expect(new Set(texts)).toEqual(new Set([tokensOf('ada').accessToken]));
    expect(texts[0]).not.toBe(first);
    expect(upstream.count('/token', 'refresh_token')).toBe(1);
    expect(asked).toHaveLength(1);
    // Long after the refresh. The fake clock starts at 0.
    const refreshedAt = performance.now();
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    vi.advanceTimersByTime(refreshedAt + 60_000);
    refused.add(`Bearer ${texts[0]}`);
    expect((await client.callTool('who')).text).toBe(tokensOf('ada').accessToken);
    expect(upstream.count('/token', 'refresh_token')).toBe(2);
  });

  it('asks the user again when the provider has ended the login', async () => {
    const { browserOf, open, tokensOf, change, asked } = await setUp();
    const client = await open('ada', (await browserOf('ada')).open);
    const first = (await client.callTool('who')).text;
    change('ada', { expiresAt: 1, refreshToken: 'revoked' });
    const second = (await client.callTool('who')).text;
    expect(second).toBe(tokensOf('ada').accessToken);
    expect(second).not.toBe(first);
    expect(asked).toHaveLength(2);
  });
});
