import { connect } from 'fullmcp/client';
import { memoryTokenStore, type OAuthEvent, type OAuthOptions, oauth } from 'fullmcp/oauth';
import type { StoredToken } from 'oidc-provider';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type ProtectedOptions, startProtected } from '../../support/oauth/provider.js';
import { TestUser } from '../../support/oauth/user.js';
import { until } from '../../support/until.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.splice(0).reverse()) await close();
});

async function setUp(options?: ProtectedOptions) {
  const server = await startProtected(options);
  closing.push(server.close);
  const user = new TestUser();
  const events: OAuthEvent[] = [];
  const login = (more: OAuthOptions = {}) =>
    oauth({
      client: { name: 'Test program' },
      open: user.open,
      onEvent: (event) => events.push(event),
      ...more,
    });
  const open = async (auth = login()) => {
    const client = await connect(server.url, { auth, revision: '2026-07-28' });
    closing.push(() => client.close());
    return client;
  };
  return { server, user, events, login, open };
}

describe('oauth', () => {
  it('logs the user in once, registers the client, and shows a last page', async () => {
    const { server, user, events, open } = await setUp();
    const client = await open();
    expect((await client.callTool('read')).text).toBe('read');
    expect(user.opened).toHaveLength(1);
    expect(server.count('/reg')).toBe(1);
    expect(user.lastPages).toEqual([
      expect.stringContaining('You can close this window and go back to Test program.'),
    ]);
    expect(events.map(({ type }) => type).filter((type) => type !== 'reply')).toEqual([
      'challenge',
      'authorization server',
      'client',
      'authorize',
      'tokens',
    ]);
    const hops = events.flatMap((event) => (event.type === 'reply' ? event.hop : []));
    expect(hops).toEqual(['resource metadata', 'authorization server metadata', 'registration', 'token']);
    // No event but the one for the browser has a secret in it.
    const secrets = JSON.stringify(events.filter(({ type }) => type !== 'authorize'));
    expect(secrets).not.toMatch(/code=|state=|verifier|secret/);
    const sent = new URL(user.opened[0] as string).searchParams;
    expect(sent.get('resource')).toBe(server.url);
    expect(sent.get('scope')).toBe('mcp:read offline_access');
    expect(sent.get('prompt')).toBe('consent');
  });

  it('asks for more scopes when a tool needs them, and keeps those that it has', async () => {
    const { user, open } = await setUp();
    const client = await open();
    expect((await client.callTool('write')).text).toBe('written');
    expect((await client.callTool('read')).text).toBe('read');
    const scopes = user.opened.map((url) => new URL(url).searchParams.get('scope'));
    expect(scopes).toEqual(['mcp:read offline_access', 'mcp:read mcp:write offline_access']);
  });

  it('does not ask again for scopes that a login did not give', async () => {
    const { user, open } = await setUp({
      configure: (configuration) => ({
        ...configuration,
        features: {
          ...configuration.features,
          resourceIndicators: {
            ...configuration.features?.resourceIndicators,
            getResourceServerInfo: () => ({ scope: 'mcp:read', accessTokenFormat: 'opaque' }),
          },
        },
      }),
    });
    const client = await open();
    await expect(client.callTool('write')).rejects.toMatchObject({ code: 'forbidden' });
    expect(user.opened.length).toBeLessThanOrEqual(2);
    const before = user.opened.length;
    await expect(client.callTool('write')).rejects.toMatchObject({ code: 'forbidden' });
    expect(user.opened).toHaveLength(before);
    expect((await client.callTool('read')).text).toBe('read');
  });

  it('refreshes a token before it ends, without a 401', async () => {
    const { server, user, events, open } = await setUp();
    const client = await open();
    const end = events.find((event) => event.type === 'tokens')?.expiresAt as number;
    // The clock of the client is that of the servers, too.
    vi.useFakeTimers({ toFake: ['Date'] });
    vi.setSystemTime(end - 90_000);
    expect((await client.callTool('read')).text).toBe('read');
    expect(server.count('/token', 'refresh_token')).toBe(0);
    vi.setSystemTime(end - 30_000);
    for (let i = 0; i < 3; i++) expect((await client.callTool('read')).text).toBe('read');
    expect(server.count('/token', 'refresh_token')).toBe(1);
    expect(user.opened).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'challenge')).toHaveLength(1);
    const [refresh] = server.seen.filter(({ form }) => form.get('grant_type') === 'refresh_token');
    expect(refresh?.form.get('resource')).toBe(server.url);
  });

  it('makes exactly one refresh for 20 requests that are refused at once', async () => {
    const { server, user, open } = await setUp();
    const client = await open();
    await client.callTool('read');
    for (const token of await tokensOf(server)) await token.destroy();
    const results = await Promise.all(Array.from({ length: 20 }, () => client.callTool('read')));
    expect(results.map(({ text }) => text)).toEqual(Array.from({ length: 20 }, () => 'read'));
    expect(server.count('/token', 'refresh_token')).toBe(1);
    expect(user.opened).toHaveLength(1);
  });

  it('logs in again when the refresh token is refused, and keeps the registration', async () => {
    const { server, user, events, open } = await setUp();
    const client = await open();
    await client.callTool('read');
    await destroyAll(server);
    expect((await client.callTool('read')).text).toBe('read');
    expect(user.opened).toHaveLength(2);
    expect(server.count('/reg')).toBe(1);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'tokens deleted', reason: 'invalid_grant' }),
    );
  });

  it('registers again when the authorization server no longer knows the client', async () => {
    const { server, user, login, open } = await setUp();
    const store = memoryTokenStore();
    const client = await open(login({ store }));
    const clientId = new URL(user.opened[0] as string).searchParams.get('client_id') as string;
    for (const token of await tokensOf(server)) await token.destroy();
    await server.provider.Client.adapter.destroy(clientId);
    expect((await client.callTool('read')).text).toBe('read');
    expect(server.count('/reg')).toBe(2);
    expect(new URL(user.opened[1] as string).searchParams.get('client_id')).not.toBe(clientId);
  });

  it('uses stored tokens in the next run without a login, and its refresh token when they have ended', async () => {
    const { server, user, login, open } = await setUp();
    const store = memoryTokenStore();
    await (await open(login({ store }))).close();
    const second = await open(login({ store }));
    expect((await second.callTool('read')).text).toBe('read');
    for (const token of await tokensOf(server)) await token.destroy();
    const third = await open(login({ store }));
    expect((await third.callTool('read')).text).toBe('read');
    expect(user.opened).toHaveLength(1);
    expect(server.count('/reg')).toBe(1);
    expect(server.count('/token', 'refresh_token')).toBe(1);
  });

  it('logs in with the same redirect URI as before, because it is registered', async () => {
    const { server, user, login, open } = await setUp();
    const store = memoryTokenStore();
    const auth = login({ store });
    await (await open(auth)).close();
    await auth.logout(server.url);
    await open(login({ store }));
    const uris = user.opened.map((url) => new URL(url).searchParams.get('redirect_uri'));
    expect(uris).toHaveLength(2);
    expect(uris[1]).toBe(uris[0]);
    expect(server.count('/reg')).toBe(1);
  });

  it('logs in without a server on this computer, by handing out the URL', async () => {
    const { open, login } = await setUp();
    const redirectUri = 'http://127.0.0.1:9/callback';
    const client = await open(
      login({
        open: undefined,
        redirectUri,
        async authorize({ url }) {
          const user = new TestUser();
          const failed = await user.open(url).catch((error: unknown) => error);
          // Nothing listens there: the URL that the browser could not open is what the user copies.
          expect(failed).toBeInstanceOf(Error);
          return user.visited.at(-1) as string;
        },
      }),
    );
    expect((await client.callTool('read')).text).toBe('read');
  });

  it('begins a login of its own for a call that comes when all others have given up', async () => {
    const { server, user, login, open } = await setUp();
    const opened: string[] = [];
    const auth = login({
      async open(url) {
        opened.push(url);
        if (opened.length > 1) await user.open(url);
      },
    });
    const impatient = new AbortController();
    const first = connect(server.url, { auth, revision: '2026-07-28', signal: impatient.signal });
    const ended = first.catch((error: unknown) => error);
    await until('the browser was opened', () => opened.length === 1);
    impatient.abort(new Error('The first call was cancelled.'));
    const client = await open(auth);
    expect((await client.callTool('read')).text).toBe('read');
    expect(opened).toHaveLength(2);
    expect(await ended).toBeInstanceOf(Error);
  });

  it('uses DPoP when it is asked to', async () => {
    const { server, login, open } = await setUp({ scheme: 'DPoP' });
    const client = await open(login({ dpop: true }));
    expect((await client.callTool('read')).text).toBe('read');
    const [token] = await tokensOf(server);
    expect(token?.jkt).toMatch(/^[\w-]{43}$/);
  });
});

/** The access tokens that were issued. */
async function tokensOf({
  provider,
  issued,
}: Awaited<ReturnType<typeof startProtected>>): Promise<StoredToken[]> {
  const found = await Promise.all(issued.map((token) => provider.AccessToken.find(token)));
  return found.filter((token) => token !== undefined);
}

/** Ends everything that a user has allowed. */
async function destroyAll(server: Awaited<ReturnType<typeof startProtected>>): Promise<void> {
  for (const token of await tokensOf(server)) await token.destroy();
  for (const refresh of server.refreshTokens)
    await (await server.provider.RefreshToken.find(refresh))?.destroy();
}
