import { memoryStore } from 'fullmcp';
import { type AuthProvider, anyOf, bearer } from 'fullmcp/auth';
import { type KnownClient, type OAuthProxy, type OAuthProxyOptions, oauthProxy } from 'fullmcp/oauth-proxy';
import { describe, expect, it } from 'vitest';

const upstream: OAuthProxyOptions['upstream'] = {
  name: 'Fake',
  issuer: 'https://provider.example.com',
  clientId: 'proxy',
  endpoints: {
    authorization: 'https://provider.example.com/authorize',
    token: 'https://provider.example.com/token',
  },
  scopes: [],
  identify: () => ({ issuer: 'https://provider.example.com', subject: 'alice' }),
};
const publicUrl = 'https://mcp.example.com/mcp';
const fetchNothing = () => Promise.reject(new Error('Nothing may be fetched.'));

async function start(options: Partial<OAuthProxyOptions> = {}): Promise<OAuthProxy> {
  const proxy = oauthProxy({ upstream, publicUrl, fetch: fetchNothing, ...options });
  const shared = { server: 'unit', store: memoryStore(), bus: () => undefined, eventLog: () => undefined };
  await proxy.start?.({ shared, secrets: ['x'.repeat(32)], log: () => undefined });
  return proxy;
}

async function send(proxy: OAuthProxy, path: string, init?: RequestInit): Promise<Response> {
  return (await proxy.handle?.(new Request(`https://mcp.example.com${path}`, init))) as Response;
}

describe('oauthProxy', () => {
  it('refuses options that cannot work, and says which', () => {
    const client: KnownClient = { id: 'c', name: 'C', redirectUris: ['https://app.example.com/'] };
    const wrong: readonly [Partial<OAuthProxyOptions>, RegExp][] = [
      [{ publicUrl: 'http://mcp.example.com/mcp' }, /https/],
      [{ publicUrl: '/mcp' }, /publicUrl/],
      [{ publicUrl: 'https://mcp.example.com/mcp?x=1' }, /query/],
      [{ path: 'oauth' }, /slash/],
      [{ path: '/oauth/' }, /slash/],
      [{ scopes: ['a b'] }, /scope/],
      [{ scopes: ['a'], defaultScopes: ['b'] }, /default scope/],
      [{ redirectSchemes: ['javascript'] }, /javascript/],
      [{ redirectSchemes: ['https'] }, /https/],
      [{ accessTokenMs: 0 }, /accessTokenMs/],
      [{ refreshGraceMs: Number.NaN }, /refreshGraceMs/],
      [{ clients: [{ ...client, redirectUris: ['javascript:x'] }] }, /redirect URI/],
      [{ clients: [client, client] }, /twice/],
      [{ clients: [{ ...client, secret: 'short' }] }, /32 characters/],
      [{ clients: [{ ...client, id: 'https://app.example.com/x' }] }, /not a URL/],
      [{ upstream: undefined } as object, /"upstream" must be the provider/],
      [{ upstream: { issuer: 'https://login.example.com' } } as object, /"upstream" must be the provider/],
      [{ unknown: 1 } as object, /unknown/],
    ];
    for (const [options, message] of wrong)
      expect(() => oauthProxy({ upstream, publicUrl, ...options }), String(message)).toThrow(message);
  });

  it('does not replace the cookie of a login under way when another site posts to the authorization endpoint', async () => {
    const client: KnownClient = { id: 'c', name: 'C', redirectUris: ['https://app.example.com/'] };
    const proxy = await start({ clients: [client] });
    const body = new URLSearchParams({
      client_id: 'c',
      response_type: 'code',
      redirect_uri: 'https://app.example.com/',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
      state: 'a b&c',
    });
    // The browser does not send its SameSite=Lax cookie.
    const posted = await send(proxy, '/authorize', { method: 'POST', body });
    expect(posted.status).toBe(302);
    expect(posted.headers.get('set-cookie')).toBeNull();
    const again = new URL(posted.headers.get('location') ?? '', 'https://mcp.example.com/authorize');
    expect(again.pathname).toBe('/authorize');
    expect(again.searchParams.get('state')).toBe('a b&c');
    // It does with GET, and it does so for its own forms.
    const page = await send(proxy, `${again.pathname}${again.search}`);
    expect(page.status).toBe(200);
    const cookie = page.headers.get('set-cookie')?.split(';')[0] ?? '';
    const own = await send(proxy, '/authorize', { method: 'POST', body, headers: { cookie } });
    expect(own.status).toBe(200);
    expect(own.headers.get('set-cookie')).toContain(cookie);
  });

  it('leaves a token that it did not seal to the next provider of anyOf', async () => {
    const [first, second] = [await start(), await start({ path: '/second' })];
    const foreign = 'mcp_at_a-token-of-another-proxy';
    const request = new Request(publicUrl, { headers: { authorization: `Bearer ${foreign}` } });
    const edge = { url: publicUrl, header: (name: string) => request.headers.get(name) ?? undefined };
    const next = bearer((token) => (token === foreign ? { subject: 'ada' } : undefined));
    const check = (provider: AuthProvider) => provider.check(edge as Parameters<AuthProvider['check']>[0]);
    await expect(check(anyOf(first, second, next))).resolves.toMatchObject({ subject: 'ada' });
    await expect(check(anyOf(first, second))).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('derives its issuer from the public URL, and takes only its own paths', async () => {
    expect((await start()).issuer).toBe('https://mcp.example.com');
    expect((await start({ publicUrl: 'https://mcp.example.com/a/b/mcp' })).issuer).toBe(
      'https://mcp.example.com/a/b',
    );
    const proxy = await start({ path: '/oauth' });
    expect(proxy.callbackUrl).toBe('https://mcp.example.com/oauth/callback');
    for (const path of ['/', '/mcp', '/oauth', '/oauth/x', '/oauth/token/', '/x/oauth/token', '/OAUTH/token'])
      expect([path, proxy.handle?.(new Request(`https://mcp.example.com${path}`))]).toEqual([
        path,
        undefined,
      ]);
    // As a framework passes it that has removed its mount path.
    const mounted = await start({ publicUrl: 'https://mcp.example.com/tools/mcp' });
    expect((await send(mounted, '/.well-known/openid-configuration')).status).toBe(200);
    expect((await send(mounted, '/token', { method: 'OPTIONS' })).status).toBe(204);
  });

  it('sets cookies that no other host can set or read', async () => {
    const client: KnownClient = { id: 'c', name: 'C', redirectUris: ['https://app.example.com/'] };
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: 'c',
      redirect_uri: 'https://app.example.com/',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    });
    const page = await send(await start({ clients: [client] }), `/authorize?${query}`);
    expect(page.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-mcp-browser-\w{1,8}=[\w-]{43}; Path=\/; Max-Age=3600; HttpOnly; SameSite=Lax; Secure$/,
      ),
    ]);
    expect(await page.text()).toContain('Registered by the operator of this server.');
  });

  it('demands the secret of a client that has one, in the header or in the body, and not in both', async () => {
    const secret = 'the secret of the client: 100% safe & +32';
    const client = { id: 'c-1', name: 'C', secret, redirectUris: ['https://app.example.com/'] };
    const proxy = await start({ clients: [client] });
    const encode = (text: string) => new URLSearchParams([['', text]]).toString().slice(1);
    const errorOf = async (form: Record<string, string>, authorization?: string) => {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'x', ...form });
      const reply = await send(proxy, '/token', { method: 'POST', headers, body });
      const { error } = (await reply.json()) as { error: string };
      return `${reply.status} ${error}`;
    };
    const basic = (id: string, text: string) => `Basic ${btoa(`${encode(id)}:${encode(text)}`)}`;
    // Authenticated; only the refresh token is not one.
    expect(await errorOf({}, basic('c-1', secret))).toBe('400 invalid_grant');
    expect(await errorOf({ client_id: 'c-1', client_secret: secret })).toBe('400 invalid_grant');
    expect(await errorOf({ client_id: 'c-1' })).toBe('401 invalid_client');
    expect(await errorOf({ client_id: 'c-1', client_secret: `${secret}x` })).toBe('401 invalid_client');
    expect(await errorOf({}, basic('c-1', 'wrong'))).toBe('401 invalid_client');
    expect(await errorOf({}, 'Basic ???')).toBe('401 invalid_client');
    expect(await errorOf({ client_id: 'other' }, basic('c-1', secret))).toBe('401 invalid_client');
    expect(await errorOf({ client_secret: secret }, basic('c-1', secret))).toBe('400 invalid_request');
    expect(await errorOf({})).toBe('400 invalid_request');
    const metadata = await (await send(proxy, '/.well-known/oauth-authorization-server')).json();
    expect(metadata).toMatchObject({
      token_endpoint_auth_methods_supported: [
        'none',
        'private_key_jwt',
        'client_secret_basic',
        'client_secret_post',
      ],
    });
  });

  it('leaves tokens of other kinds to other providers', async () => {
    const proxy = await start();
    const check = (authorization: string | undefined) =>
      proxy.check({
        method: 'POST',
        url: publicUrl,
        remoteAddress: undefined,
        header: () => authorization,
      });
    expect(await check(undefined)).toBeUndefined();
    expect(await check('Basic eDp5')).toBeUndefined();
    expect(await check('Bearer eyJhbGciOiJSUzI1NiJ9.e30.x')).toBeUndefined();
    await expect(check('Bearer mcp_at_x')).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('does not hand out the token of a provider for a caller whose login it is not', async () => {
    const proxy = await start();
    const auth = { subject: 'alice', scopes: [], claims: { 'urn:fullmcp:login': 'x' } };
    for (const caller of [undefined, auth, { ...auth, claims: {} }])
      await expect(proxy.upstreamToken(caller)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('has no endpoint for registration where clients may not register', async () => {
    const proxy = await start({ registration: false, clientDocuments: false });
    const reply = await send(proxy, '/register', { method: 'POST', body: '{}' });
    expect(reply.status).toBe(400);
    const metadata = (await (await send(proxy, '/.well-known/oauth-authorization-server')).json()) as object;
    expect(metadata).not.toHaveProperty('registration_endpoint');
    expect(metadata).toMatchObject({
      client_id_metadata_document_supported: false,
      token_endpoint_auth_methods_supported: ['none'],
    });
  });
});
