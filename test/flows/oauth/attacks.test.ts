import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { connect } from 'fullmcp/client';
import {
  fileTokenStore,
  memoryTokenStore,
  type OAuthEvent,
  type OAuthOptions,
  oauth,
  type TokenStore,
} from 'fullmcp/oauth';
import { afterEach, describe, expect, it } from 'vitest';
import { type ProtectedOptions, startProtected } from '../../support/oauth/provider.js';
import { TestUser } from '../../support/oauth/user.js';
import { until } from '../../support/until.js';

const run = promisify(execFile);
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start(options?: ProtectedOptions) {
  const server = await startProtected(options);
  closing.push(server.close);
  return server;
}

async function open(url: string, options: OAuthOptions) {
  const client = await connect(url, { auth: oauth(options), revision: '2026-07-28' });
  closing.push(() => client.close());
  return client;
}

/** Logs in, and changes the URL that the browser is sent back to. */
function tampering(change: (url: URL) => void, redirected: string[] = []): OAuthOptions {
  return {
    redirectUri: 'http://127.0.0.1:9/callback',
    async authorize({ url }) {
      const user = new TestUser();
      await user.open(url).catch(() => undefined);
      const back = new URL(user.visited.at(-1) as string);
      redirected.push(back.searchParams.get('code') ?? '', back.searchParams.get('state') ?? '');
      change(back);
      return back;
    },
  };
}

describe('oauth, under attack', () => {
  it.each([
    ['another state', (url: URL) => url.searchParams.set('state', 'forged'), 'its `state` is another one'],
    ['no state', (url: URL) => url.searchParams.delete('state'), 'its `state` is another one'],
    [
      'another issuer',
      (url: URL) => url.searchParams.set('iss', 'https://evil.example'),
      'https://evil.example',
    ],
    ['no issuer, though it is announced', (url: URL) => url.searchParams.delete('iss'), 'has no issuer'],
    ['two codes', (url: URL) => url.searchParams.append('code', 'second'), 'only once'],
  ])('does not use the code of a redirect with %s, nor print it', async (_, change, message) => {
    const server = await start();
    const secrets: string[] = [];
    const failure = await open(server.url, tampering(change, secrets)).catch(
      (error: unknown) => error as Error,
    );
    expect((failure as Error).message).toContain(message);
    expect(server.count('/token')).toBe(0);
    for (const secret of secrets) expect((failure as Error).message).not.toContain(secret);
  });

  it.each([
    ['another issuer', (url: URL) => url.searchParams.set('iss', 'https://evil.example')],
    ['no issuer, though it is announced', (url: URL) => url.searchParams.delete('iss')],
    ['another state', (url: URL) => url.searchParams.set('state', 'forged')],
  ])('does not show the error of a redirect with %s', async (_, change) => {
    const server = await start();
    const options = tampering((url) => {
      url.searchParams.delete('code');
      url.searchParams.set('error', 'temporarily_unavailable');
      url.searchParams.set('error_description', 'Call this number to get your account back');
      change(url);
    });
    const failure = await open(server.url, options).catch((error: unknown) => error as Error);
    expect(failure).toMatchObject({ code: 'unauthorized', data: { hop: 'authorization' } });
    expect(failure).not.toMatchObject({ data: { error: expect.anything() } });
    expect((failure as Error).message).not.toMatch(/Call this number|temporarily_unavailable/);
    expect(server.count('/token')).toBe(0);
  });

  it('goes on waiting when a page of somebody else sends the browser to it', async () => {
    const server = await start();
    const user = new TestUser();
    const forged: number[] = [];
    const client = await open(server.url, {
      async open(url) {
        const redirectUri = new URL(url).searchParams.get('redirect_uri');
        for (const query of ['?code=stolen&state=forged', '?error=access_denied', '/../elsewhere?code=a'])
          forged.push((await fetch(`${redirectUri}${query}`)).status);
        await user.open(url);
      },
    });
    expect((await client.callTool('read')).text).toBe('read');
    expect(forged).toEqual([400, 400, 404]);
  });

  it('does not open a browser with an authorization endpoint that is not a web address', async () => {
    const opened: string[] = [];
    let issuer = '';
    const server = await start({
      intercept(request, response) {
        if (!request.url?.startsWith('/.well-known/')) return false;
        response.writeHead(200, { 'content-type': 'application/json' }).end(
          JSON.stringify({
            issuer,
            authorization_endpoint: 'javascript:alert(1)//',
            token_endpoint: `${issuer}/token`,
            registration_endpoint: `${issuer}/reg`,
            response_types_supported: ['code'],
            code_challenge_methods_supported: ['S256'],
          }),
        );
        return true;
      },
    });
    issuer = server.issuer;
    const failure = open(server.url, { open: (url) => opened.push(url) });
    await expect(failure).rejects.toMatchObject({ code: 'unauthorized' });
    expect(opened).toEqual([]);
    expect(server.count('/reg')).toBe(0);
  });

  it('does not send the refresh token or the client id to another authorization server', async () => {
    const first = await start();
    const second = await start();
    const user = new TestUser();
    const events: OAuthEvent[] = [];
    const client = await open(first.url, { open: user.open, onEvent: (event) => events.push(event) });
    await client.callTool('read');
    for (const token of first.issued) await (await first.provider.AccessToken.find(token))?.destroy();
    first.mcp.issuer = second.issuer;
    await client.callTool('read').catch(() => undefined);
    const clientId = new URL(user.opened[0] as string).searchParams.get('client_id') as string;
    expect(second.count('/reg')).toBe(1);
    expect(second.count('/token', 'refresh_token')).toBe(0);
    const sent = JSON.stringify(second.seen.map(({ path, form }) => [path, [...form]]));
    expect(sent).not.toContain(clientId);
    for (const token of first.refreshTokens) expect(sent).not.toContain(token);
  });

  it('logs in again when its refresh token was used by somebody else', async () => {
    const server = await start();
    const user = new TestUser();
    const values = memoryTokenStore();
    const written: [key: string, value: string][] = [];
    const store: TokenStore = {
      ...values,
      set(key, value, options) {
        if (key.startsWith('tokens ')) written.push([key, value]);
        return values.set(key, value, options);
      },
    };
    await (await open(server.url, { store, open: user.open })).close();
    const revoke = async () => {
      for (const token of server.issued) await (await server.provider.AccessToken.find(token))?.destroy();
    };
    await revoke();
    await (await open(server.url, { store, open: user.open })).close();
    expect(server.count('/token', 'refresh_token')).toBe(1);
    // A thief would use the old refresh token; here it is put back.
    await values.set(...(written[0] as [string, string]));
    await revoke();
    const client = await open(server.url, { store, open: user.open });
    expect((await client.callTool('read')).text).toBe('read');
    expect(user.opened).toHaveLength(2);
    expect(server.count('/token', 'refresh_token')).toBe(2);
  });

  it('refreshes once for 20 requests that are refused at once in each of two processes that share a folder', async () => {
    let isReady: () => boolean = () => true;
    const server = await start({ beforeToken: () => until('both processes ask', isReady) });
    const folder = await mkdtemp(join(tmpdir(), 'fullmcp-oauth-'));
    closing.push(() => rm(folder, { recursive: true, force: true }));
    const key = 'k'.repeat(32);
    const user = new TestUser();
    await (await open(server.url, { store: fileTokenStore({ folder, key }), open: user.open })).close();
    for (const token of server.issued) await (await server.provider.AccessToken.find(token))?.destroy();
    const before = server.mcp.requests;
    isReady = () => server.mcp.requests >= before + 40;
    const script = fileURLToPath(new URL('../fixtures/oauth/call-many.mjs', import.meta.url));
    const processes = [1, 2].map(() => run(process.execPath, [script, server.url, folder, key]));
    const texts = (await Promise.all(processes)).map(({ stdout }) => stdout.trim());
    expect(texts).toEqual(['read', 'read']);
    expect(server.count('/token', 'refresh_token')).toBe(1);
    expect(user.opened).toHaveLength(1);
  });

  it('takes over the lock of a process that was killed while it held it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'fullmcp-oauth-'));
    closing.push(() => rm(folder, { recursive: true, force: true }));
    const key = 'k'.repeat(32);
    const script = fileURLToPath(new URL('../fixtures/oauth/lock-and-wait.mjs', import.meta.url));
    const child = spawn(process.execPath, [script, folder, key, 'a'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    closing.push(() => child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    const store = fileTokenStore({ folder, key });
    const early = store.lock('a', { ms: 1000, signal: AbortSignal.timeout(200) });
    await expect(early).rejects.toMatchObject({ name: 'TimeoutError' });
    child.kill('SIGKILL');
    await once(child, 'exit');
    await (await store.lock('a', { ms: 1000, signal: AbortSignal.timeout(10_000) }))();
  });
});
