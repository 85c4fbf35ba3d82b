import { connect } from 'fullmcp/client';
import { type OAuthOptions, oauth } from 'fullmcp/oauth';
import { afterEach, describe, expect, it } from 'vitest';
import {
  openPort,
  type ProxiedOptions,
  startProxied,
  startUpstream,
} from '../../../support/oauth/proxied-server.js';
import { Browser, callWith, ProxyFlow } from '../../../support/oauth/proxy-flow.js';
import { requestWith } from '../../../support/oauth/token-issuer.js';
import { TestUser } from '../../../support/oauth/user.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function setUp(
  options: ProxiedOptions & { readonly accessTokenSeconds?: number; readonly base?: string } = {},
) {
  const { accessTokenSeconds, base = '', ...more } = options;
  const http = await openPort();
  const upstream = await startUpstream({
    callbacks: [`${http.origin}${base}/callback`],
    ...(accessTokenSeconds !== undefined && { accessTokenSeconds }),
  });
  closing.push(upstream.close);
  const server = await startProxied(upstream.issuer, { ...more, http });
  closing.push(server.close);
  const user = new TestUser();
  const open = async (login: OAuthOptions = {}) => {
    const auth = oauth({ client: { name: 'Test program' }, open: user.open, ...login });
    const client = await connect(server.url, { auth, revision: '2026-07-28' });
    closing.push(() => client.close());
    return client;
  };
  return { upstream, server, user, open };
}

describe('oauthProxy', () => {
  it('logs the user of our client in through a real OpenID provider, and identifies the user by the ID token', async () => {
    const { upstream, user, open } = await setUp();
    const client = await open();
    const me = JSON.parse((await client.callTool('me')).text) as Record<string, unknown>;
    expect(me).toMatchObject({
      issuer: upstream.issuer,
      subject: 'test',
      email: 'test@example.com',
      scopes: ['files:read'],
      claims: { name: 'User test' },
    });
    expect(user.opened).toHaveLength(1);
    expect(user.lastPages).toEqual([expect.stringContaining('You can close this window')]);
    // Nothing of the upstream's tokens is in what handlers see by themselves.
    const token = (await client.callTool('upstream')).text;
    expect(await upstream.provider.AccessToken.find(token)).toBeDefined();
    expect(JSON.stringify(me)).not.toContain(token);
  });

  it('publishes metadata at every well-known address, at any mount path', async () => {
    const { server } = await setUp({ path: '/tools/mcp', base: '/tools' });
    for (const path of [
      '/.well-known/oauth-authorization-server/tools',
      '/.well-known/openid-configuration/tools',
      '/tools/.well-known/openid-configuration',
    ]) {
      const response = await fetch(`${server.origin}${path}`);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(await response.json()).toMatchObject({
        issuer: `${server.origin}/tools`,
        authorization_endpoint: `${server.origin}/tools/authorize`,
        token_endpoint: `${server.origin}/tools/token`,
        registration_endpoint: `${server.origin}/tools/register`,
        code_challenge_methods_supported: ['S256'],
        client_id_metadata_document_supported: true,
        authorization_response_iss_parameter_supported: true,
      });
    }
    const tokens = await new ProxyFlow(server.proxy.issuer).tokens();
    expect((await callWith(server.url, tokens.access_token)).status).toBe(200);
  });

  it('refreshes the tokens of the client with rotation, and those of the provider when they expire', async () => {
    const { server, upstream } = await setUp({ accessTokenSeconds: 30 });
    const flow = new ProxyFlow(server.proxy.issuer);
    const first = await flow.tokens();
    // The provider's token lives for 30 s, less than the margin: every use refreshes it.
    const upstreamToken = (await callWith(server.url, first.access_token, 'upstream')).text;
    expect(upstream.count('/token', 'refresh_token')).toBe(1);
    expect(await upstream.provider.AccessToken.find(upstreamToken)).toBeDefined();
    const second = (await (await flow.refresh(first.refresh_token)).json()) as typeof first;
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect((await callWith(server.url, second.access_token)).status).toBe(200);
    expect(second.scope).toBe('files:read');
  });

  it('ends the login when the provider has ended it', async () => {
    const { server, upstream } = await setUp({ accessTokenSeconds: 30 });
    const flow = new ProxyFlow(server.proxy.issuer);
    const tokens = await flow.tokens();
    const upstreamToken = (await callWith(server.url, tokens.access_token, 'upstream')).text;
    await fetch(`${upstream.issuer}/token/revocation`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa('proxy:the+secret+of+the+proxy+at+its+provider')}` },
      body: new URLSearchParams({ token: upstreamToken }),
    });
    // Revoking one token of a grant revokes the refresh tokens of it there.
    const reply = await flow.refresh(tokens.refresh_token);
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: 'invalid_grant' });
    expect((await callWith(server.url, tokens.access_token)).status).toBe(401);
  });

  it('revokes the login of a token, and the tokens of the provider', async () => {
    const { server, upstream } = await setUp();
    const flow = new ProxyFlow(server.proxy.issuer);
    const tokens = await flow.tokens();
    const upstreamToken = (await callWith(server.url, tokens.access_token, 'upstream')).text;
    // Open streams are asked about with this.
    const isStillValid = () =>
      server.proxy.isStillValid?.(requestWith(tokens.access_token), { subject: '', scopes: [], claims: {} });
    expect(await isStillValid()).toBe(true);
    const revoked = await flow.post('revoke', { client_id: flow.clientId, token: tokens.refresh_token });
    expect(revoked.status).toBe(200);
    expect((await callWith(server.url, tokens.access_token)).status).toBe(401);
    expect(await isStillValid()).toBe(false);
    expect((await flow.refresh(tokens.refresh_token)).status).toBe(400);
    await expect.poll(() => upstream.provider.AccessToken.find(upstreamToken)).toBeUndefined();
  });

  it('remembers the consent for a website in the browser, and asks again for other scopes', async () => {
    const { server, upstream } = await setUp();
    const flow = new ProxyFlow(server.proxy.issuer);
    await flow.register();
    const browser = new Browser();
    await flow.allow(browser, flow.attempt(), { remember: 'yes' });
    const again = await browser.fetch(flow.authorizeUrl(flow.attempt()));
    expect(again.status).toBe(302);
    expect(again.headers.get('location')).toMatch(new RegExp(`^${upstream.issuer}/auth\\?`));
    await flow.openConsent(browser, flow.attempt({ scope: 'files:read files:write' }));
    await flow.openConsent(new Browser(), flow.attempt());
  });

  it('refuses users whom the operator does not admit, and grants only the scopes that are left', async () => {
    const admit = ({ user }: { readonly user: { readonly email?: string | undefined } }) =>
      user.email === 'alice@example.com' && ['files:read'];
    const { server } = await setUp({ proxy: { admit } });
    const flow = new ProxyFlow(server.proxy.issuer);
    const tokens = await flow.tokens(new Browser(), { scope: 'files:read files:write' });
    expect(tokens.scope).toBe('files:read');
    const refused = await flow.complete(new Browser('mallory'), flow.attempt());
    expect(Object.fromEntries(refused)).toEqual({
      error: 'access_denied',
      error_description: 'This user may not use the server.',
      state: 'the state of the client',
      iss: server.proxy.issuer,
    });
  });
});
