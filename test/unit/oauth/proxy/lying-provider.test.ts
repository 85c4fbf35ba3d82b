import { memoryStore } from 'fullmcp';
import { openId, type SafeFetch } from 'fullmcp/oauth-proxy';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { FakeProvider, Replica } from '../../../support/oauth/proxy-replica.js';

const ISSUER = 'https://login.example.com';
const CLIENT_SECRET = 'the secret of the proxy';
type Keys = Awaited<ReturnType<typeof generateKeyPair>>;

let own: Keys;
let other: Keys;
beforeAll(async () => {
  [own, other] = [await generateKeyPair('ES256'), await generateKeyPair('ES256')];
});

/** The token reply of the provider, given the claims that a right ID token has. */
type Lie = (claims: JWTPayload) => Promise<Response> | Response;

async function sign(claims: JWTPayload, { privateKey } = own): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(privateKey);
}

function tokens(idToken: string | undefined, more: object = {}): Response {
  return Response.json({
    access_token: 'upstream-access',
    refresh_token: 'upstream-refresh',
    token_type: 'Bearer',
    id_token: idToken,
    ...more,
  });
}

/** Logs in at a provider that lies. Resolves to the parameters that the client gets. */
async function logIn(lie: Lie, { metadata = {}, userinfo = {} } = {}) {
  let nonce = '';
  const fetch: SafeFetch = async (url) => {
    const { pathname } = new URL(url);
    if (pathname.startsWith('/.well-known/'))
      return Response.json({
        issuer: ISSUER,
        authorization_endpoint: `${ISSUER}/authorize`,
        token_endpoint: `${ISSUER}/token`,
        jwks_uri: `${ISSUER}/keys`,
        userinfo_endpoint: `${ISSUER}/userinfo`,
        code_challenge_methods_supported: ['S256'],
        ...metadata,
      });
    if (pathname === '/keys')
      return Response.json({ keys: [{ ...(await exportJWK(own.publicKey)), kid: 'one', alg: 'ES256' }] });
    if (pathname === '/userinfo') return Response.json(userinfo);
    if (pathname !== '/token') return new Response(null, { status: 404 });
    const now = Math.floor(Date.now() / 1000);
    return lie({ iss: ISSUER, sub: 'alice', aud: 'proxy', iat: now, exp: now + 3600, nonce });
  };
  const replica = await Replica.start(memoryStore(), new FakeProvider(), {
    upstream: openId({ issuer: ISSUER, clientId: 'proxy', clientSecret: CLIENT_SECRET }),
    fetch,
  });
  const { request, cookie } = await replica.openConsent(await replica.register());
  const { searchParams } = await replica.allow(request, cookie);
  nonce = searchParams.get('nonce') ?? '';
  const reply = await replica.back(searchParams.get('state'), cookie);
  const client = new URL(reply.headers.get('location') ?? '').searchParams;
  return { code: client.get('code'), error: client.get('error'), logs: replica.logs.join('\n') };
}

const lies: [what: string, lie: Lie][] = [
  ['sends an ID token of another login', async (claims) => tokens(await sign({ ...claims, nonce: 'other' }))],
  ['sends an ID token without a nonce', async ({ nonce: _, ...claims }) => tokens(await sign(claims))],
  ['sends an ID token for another client', async (claims) => tokens(await sign({ ...claims, aud: 'other' }))],
  [
    'sends an ID token of another issuer',
    async (claims) => tokens(await sign({ ...claims, iss: `${ISSUER}/` })),
  ],
  ['sends an old ID token', async (claims) => tokens(await sign({ ...claims, exp: 1, iat: 0 }))],
  ['sends an ID token of another key', async (claims) => tokens(await sign(claims, other))],
  ['sends an ID token without a signature', (claims) => tokens(new UnsecuredJWT(claims).encode())],
  ['sends an ID token without a subject', async ({ sub: _, ...claims }) => tokens(await sign(claims))],
  [
    'sends an ID token with a subject without an end',
    async (claims) => tokens(await sign({ ...claims, sub: 'x'.repeat(600) })),
  ],
  [
    'sends claims without an end',
    async (claims) => tokens(await sign({ ...claims, more: 'x'.repeat(17_000) })),
  ],
  ['sends no ID token', () => tokens(undefined)],
  ['sends an ID token that is not a string', () => tokens({} as string)],
  ['sends an error with status 200', () => Response.json({ error: 'bad_verification_code' })],
  [
    'sends an error and its secrets',
    () =>
      Response.json(
        {
          error: 'invalid_client',
          error_description: `bad\nerror All is lost. ${CLIENT_SECRET} ${encodeURIComponent(CLIENT_SECRET)}`,
        },
        { status: 401, headers: { 'www-authenticate': 'Basic' } },
      ),
  ],
  ['sends a page', () => new Response('<h1>Sign in</h1>', { headers: { 'content-type': 'text/html' } })],
  ['sends a redirect', () => new Response(null, { status: 302, headers: { location: 'http://127.0.0.1/' } })],
  [
    'sends an access token without an end',
    async (claims) => tokens(await sign(claims), { access_token: 'x'.repeat(70_000) }),
  ],
  ['sends a token of another type', async (claims) => tokens(await sign(claims), { token_type: 'mac' })],
];

describe('oauthProxy with a provider that lies', () => {
  it('logs the user in if the provider does not', async () => {
    const { code, error } = await logIn(async (claims) => tokens(await sign(claims)));
    expect([code, error]).toEqual([expect.stringMatching(/^[\w-]{43}\.[\w-]{43}$/), null]);
  });

  it.each(lies)('issues no code if the provider %s, and says why in the log only', async (_, lie) => {
    const { code, error, logs } = await logIn(lie);
    expect([code, error]).toEqual([null, 'temporarily_unavailable']);
    expect(logs).toContain('The proxy could not use its provider.');
    expect(logs).not.toMatch(/upstream-access|upstream-refresh|the code of the provider|eyJ/);
    expect(logs).not.toContain(CLIENT_SECRET);
    expect(logs).not.toContain(encodeURIComponent(CLIENT_SECRET));
    expect(logs.length).toBeLessThan(3000);
    expect(logs).not.toMatch(/^error All is lost/m);
  });

  it('issues no code for the facts about another user', async () => {
    const lie: Lie = async (claims) => tokens(await sign(claims));
    const userinfo = { sub: 'bob', email: 'bob@example.com', email_verified: true };
    expect(await logIn(lie, { userinfo })).toMatchObject({ code: null, error: 'temporarily_unavailable' });
  });

  it('does not send users to an address that is not of the web, or not public', async () => {
    for (const address of [
      'javascript:alert(1)',
      'file:///etc/passwd',
      'http://login.example.com/',
      'https://10.0.0.1/',
    ])
      await expect(
        logIn(() => tokens(undefined), { metadata: { authorization_endpoint: address } }),
        address,
      ).rejects.toThrow(/leads nowhere|Invalid URL|error=temporarily_unavailable/);
  });
});
