import { connect } from 'fullmcp/client';
import { memoryTokenStore, type OAuthEvent, type OAuthOptions, oauth } from 'fullmcp/oauth';
import { afterEach, describe, expect, it } from 'vitest';
import { type ProtectedOptions, startProtected } from '../../support/oauth/provider.js';
import { TestUser } from '../../support/oauth/user.js';
import { until } from '../../support/until.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start(options?: ProtectedOptions) {
  const server = await startProtected(options);
  closing.push(server.close);
  return server;
}

function login(options: OAuthOptions = {}) {
  const user = new TestUser();
  const events: OAuthEvent[] = [];
  const auth = oauth({ open: user.open, onEvent: (event) => events.push(event), ...options });
  const open = async (url: string) => {
    const client = await connect(url, { auth, revision: '2026-07-28' });
    closing.push(() => client.close());
    return client;
  };
  return { user, events, auth, open };
}

describe('logout', () => {
  it('revokes both tokens at the authorization server, and the next call logs in again', async () => {
    const server = await start();
    const { user, auth, open, events } = login();
    const client = await open(server.url);
    await client.callTool('read');
    const [accessToken] = server.issued;
    await auth.logout(server.url);
    const revoked = server.seen.filter(({ path }) => path === '/token/revocation');
    expect(revoked.map(({ form }) => [form.get('token_type_hint'), form.get('token')])).toEqual([
      ['refresh_token', server.refreshTokens[0]],
      ['access_token', accessToken],
    ]);
    expect(await server.provider.AccessToken.find(accessToken as string)).toBeUndefined();
    expect(await server.provider.RefreshToken.find(server.refreshTokens[0] as string)).toBeUndefined();
    expect(events).toContainEqual({ type: 'tokens deleted', reason: 'logout', server: server.url });
    expect((await client.callTool('read')).text).toBe('read');
    expect(user.opened).toHaveLength(2);
    expect(server.count('/reg')).toBe(1);
  });

  it('works in another run than the login, and in whatever form the URL of the server is given', async () => {
    const server = await start();
    const store = memoryTokenStore();
    await (await login({ store }).open(server.url)).close();
    await login({ store }).auth.logout(new URL(`${server.url.replace('http', 'ws')}#tools`));
    expect(server.count('/token/revocation')).toBe(2);
    const { user, open } = login({ store });
    await open(server.url);
    expect(user.opened).toHaveLength(1);
  });

  it('sends nothing if there are no tokens', async () => {
    const server = await start();
    await login().auth.logout(server.url);
    expect(server.seen).toEqual([]);
  });

  it('only deletes the tokens where the authorization server cannot revoke them', async () => {
    const server = await start({
      configure: (configuration) => ({
        ...configuration,
        features: { ...configuration.features, revocation: { enabled: false } },
      }),
    });
    const { auth, open, user } = login();
    const client = await open(server.url);
    await auth.logout(server.url);
    await client.callTool('read');
    expect(user.opened).toHaveLength(2);
  });

  it('deletes the tokens and says that they are still valid if the authorization server cannot be told', async () => {
    let isDown = false;
    const server = await start({
      intercept(request, response) {
        if (!isDown || request.url !== '/token/revocation') return false;
        response.writeHead(503).end('out of order');
        return true;
      },
    });
    const store = memoryTokenStore();
    const { auth, open, events } = login({ store });
    await open(server.url);
    isDown = true;
    const failure = await auth.logout(server.url).catch((error: unknown) => error as Error);
    expect(failure).toMatchObject({ code: 'unauthorized', data: { hop: 'revocation', status: 503 } });
    expect((failure as Error).message).toContain('were deleted here');
    expect((failure as Error).message).not.toContain(server.refreshTokens[0]);
    expect(events.at(-1)).toMatchObject({ type: 'failed', hop: 'revocation' });
    isDown = false;
    const next = login({ store });
    await next.open(server.url);
    expect(next.user.opened).toHaveLength(1);
  });

  it('ends a login in progress', async () => {
    const server = await start();
    const opened: string[] = [];
    const { auth, open } = login({ open: (url) => opened.push(url) });
    const failure = open(server.url).catch((error: unknown) => error as Error);
    await until('the browser was opened', () => opened.length === 1);
    await auth.logout(server.url);
    expect(await failure).toMatchObject({ code: 'unauthorized' });
    expect(((await failure) as Error).message).toContain('was logged out');
  });

  it('waits for a refresh that is going on, and revokes the tokens that the refresh brings', async () => {
    let isReleased = true;
    const server = await start({ beforeToken: () => until('the logout has begun', () => isReleased) });
    const { auth, open } = login();
    const client = await open(server.url);
    await client.callTool('read');
    for (const token of server.issued) await (await server.provider.AccessToken.find(token))?.destroy();
    isReleased = false;
    const call = client.callTool('read').catch((error: unknown) => error as Error);
    await until('the refresh was sent', () => server.count('/token', 'refresh_token') === 1);
    const loggedOut = auth.logout(server.url);
    isReleased = true;
    await loggedOut;
    expect(((await call) as Error).message).toContain('was logged out');
    expect(server.refreshTokens).toHaveLength(2);
    const revoked = server.seen
      .filter(({ path }) => path === '/token/revocation')
      .map(({ form }) => form.get('token'));
    expect(revoked).toContain(server.refreshTokens[1]);
    for (const token of server.refreshTokens)
      expect(await server.provider.RefreshToken.find(token)).toBeUndefined();
  });
});
