import { createPublicKey } from 'node:crypto';
import { CompactSign, exportSPKI, importJWK, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { createJwt, type JwtOptions } from '../../../../../src/oauth/server/tokens/jwt.js';
import { unsafeAnyAudience } from '../../../../../src/oauth/server/tokens/token-options.js';
import type { TokenProvider } from '../../../../../src/oauth/server/tokens/token-provider.js';
import type { Auth } from '../../../../../src/protocol/call.js';
import { McpError } from '../../../../../src/protocol/errors.js';
import { authContext, requestWith, TokenIssuer } from '../../../../support/oauth/token-issuer.js';

const audience = 'https://mcp.example/mcp';

async function setUp(options: Partial<JwtOptions> = {}) {
  const issuer = await TokenIssuer.create();
  const provider = createJwt(issuer.runtime, { issuer: issuer.issuer, audience, ...options });
  await provider.start?.(authContext());
  return { issuer, provider, check: (token: string) => checkToken(provider, token) };
}

const checkToken = async (provider: TokenProvider, token: string) => await provider.check(requestWith(token));

/** The error of a token that is refused. It must not contain any part of the token. */
async function refusal(provider: TokenProvider, token: string): Promise<McpError> {
  const error = await checkToken(provider, token).then(
    () => expect.fail('The token was accepted.'),
    (reason: unknown) => reason,
  );
  if (!McpError.is(error)) throw error;
  const shown = `${error.message} ${JSON.stringify(error.challenge)} ${JSON.stringify(error.data)}`;
  for (const part of token.split('.').filter((one) => one.length > 8)) expect(shown).not.toContain(part);
  return error;
}

async function expectInvalid(provider: TokenProvider, token: string, description: RegExp | string) {
  const error = await refusal(provider, token);
  expect([error.status, error.challenge?.error]).toEqual([401, 'invalid_token']);
  expect(error.challenge?.description).toMatch(description);
}

describe('jwt', () => {
  it('identifies the caller by the claims of a valid token', async () => {
    const { issuer, check } = await setUp();
    const exp = Math.floor(Date.now() / 1000) + 100;
    const token = await issuer.sign({
      exp,
      scope: 'files:read files:write',
      client_id: 'app',
      email: 'ann@example.com',
      email_verified: true,
    });
    expect(await check(token)).toMatchObject({
      subject: 'ann',
      issuer: issuer.issuer,
      scopes: ['files:read', 'files:write'],
      clientId: 'app',
      email: 'ann@example.com',
      expiresAt: (exp + 5) * 1000,
      claims: { sub: 'ann', aud: audience },
    });
  });

  it('reads scopes from an array, the client from azp, and leaves out an email address that is not verified', async () => {
    const { issuer, check } = await setUp();
    const auth = await check(await issuer.sign({ scp: ['a', 'b'], azp: 'app', email: 'ann@example.com' }));
    expect(auth).toMatchObject({ scopes: ['a', 'b'], clientId: 'app' });
    expect(auth).not.toHaveProperty('email');
  });

  it('does not mistake a request without a token for a request with a wrong one', async () => {
    const { provider } = await setUp();
    expect(await provider.check(requestWith(undefined))).toBeUndefined();
    expect(await provider.check(requestWith('YTpi', { scheme: 'Basic' }))).toBeUndefined();
    expect(provider.schemes).toEqual(['Bearer']);
  });

  it('advertises its issuer and scopes, but not offline_access', async () => {
    const { provider, issuer } = await setUp({ scopes: ['files:read', 'offline_access'] });
    expect(provider.resource).toEqual({ authorizationServers: [issuer.issuer], scopes: ['files:read'] });
  });

  it.each([
    [
      'another audience',
      { aud: 'https://other.example' },
      /another audience \(aud\): https:\/\/other\.example/,
    ],
    ['an audience with a slash more', { aud: `${audience}/` }, /audience/],
    ['no audience', { aud: undefined }, /does not have an audience/],
    ['an audience that is not a string', { aud: [{}, 7] }, /another audience/],
    ['another issuer', { iss: 'https://evil.example' }, /another issuer/],
    ['an issuer with a slash more', { iss: 'https://issuer.example/' }, /another issuer/],
    ['no issuer', { iss: undefined }, /another issuer/],
    ['an expiry in the past', { exp: Math.floor(Date.now() / 1000) - 10 }, /expired \(exp\)/],
    ['no expiry', { exp: undefined }, /does not have the claim exp/],
    ['an expiry that is not a number', { exp: '9999999999' }, /exp/],
    ['a start in the future', { nbf: Math.floor(Date.now() / 1000) + 60 }, /not valid yet \(nbf\)/],
    ['no subject', { sub: undefined }, /subject \(sub\)/],
    ['a subject that is too long', { sub: 'a'.repeat(2000) }, /subject/],
    ['a nonce, as ID tokens have', { nonce: 'n' }, /ID token/],
    ['a hash of an access token, as ID tokens have', { at_hash: 'h' }, /ID token/],
    ['the use id', { token_use: 'id' }, /ID token/],
    ['events, as logout tokens have', { events: {} }, /security event/],
    ['a binding that is not known', { cnf: { 'x5t#S256': 'x' } }, /cnf/],
    ['two bindings', { cnf: { jkt: 'a', 'x5t#S256': 'x' } }, /cnf/],
  ])('refuses a token with %s', async (_, claims, description) => {
    const { issuer, provider } = await setUp();
    await expectInvalid(provider, await issuer.sign(claims as JWTPayload), description);
  });

  it('refuses a token that is bound to a key, unless DPoP is on', async () => {
    const { issuer, provider } = await setUp();
    await expectInvalid(provider, await issuer.sign({ cnf: { jkt: 'abc' } }), /bound to a key/);
  });

  it('refuses other kinds of JWT by their type, and only the given type if there is one', async () => {
    const { issuer, provider } = await setUp();
    await expectInvalid(provider, await issuer.sign({}, { typ: 'logout+jwt' }), /typ/);
    await expectInvalid(provider, await issuer.sign({}, { typ: 'dpop+jwt' }), /typ/);
    expect(await checkToken(provider, await issuer.sign({}, { typ: 'application/at+jwt' }))).toBeDefined();
    const strict = createJwt(issuer.runtime, { issuer: issuer.issuer, audience, typ: 'at+jwt' });
    await expectInvalid(strict, await issuer.sign({}, { typ: 'JWT' }), /typ/);
    expect(await checkToken(strict, await issuer.sign({}, { typ: 'at+jwt' }))).toBeDefined();
  });

  it('answers 403 with the scopes when a required one is missing', async () => {
    const { issuer, provider } = await setUp({ requiredScopes: ['files:read'] });
    const error = await refusal(provider, await issuer.sign({ scope: 'files:write' }));
    expect([error.status, error.challenge?.error, error.challenge?.scopes]).toEqual([
      403,
      'insufficient_scope',
      ['files:read'],
    ]);
    expect(await checkToken(provider, await issuer.sign({ scope: 'files:read x' }))).toBeDefined();
  });

  it('accepts only the given clients', async () => {
    const { issuer, provider } = await setUp({ clientIds: ['app'] });
    expect(await checkToken(provider, await issuer.sign({ client_id: 'app' }))).toBeDefined();
    await expectInvalid(
      provider,
      await issuer.sign({ client_id: 'other' }),
      /client that this server does not/,
    );
    await expectInvalid(provider, await issuer.sign({}), /does not name its client/);
  });

  it('reads the caller from other claims', async () => {
    const { issuer, check } = await setUp({
      claims: { subject: ['uid', 'sub'], scopes: ['roles', 'scope'], clientId: 'cid' },
    });
    const token = await issuer.sign({ uid: 'u1', roles: ['r'], scope: 's', cid: 'c', client_id: 'x' });
    expect(await check(token)).toMatchObject({ subject: 'u1', scopes: ['r', 's'], clientId: 'c' });
  });

  it('checks each token with the keys of its own issuer', async () => {
    const one = await TokenIssuer.create({ issuer: 'https://one.example' });
    const two = await TokenIssuer.create({ issuer: 'https://two.example' });
    const fetch = (url: string | URL) =>
      String(url).startsWith(one.issuer) ? one.fetch(url) : two.fetch(url);
    const runtime = { ...one.runtime, safeFetch: () => fetch };
    const provider = createJwt(runtime, { issuer: [one.issuer, two.issuer], audience });
    expect(await checkToken(provider, await one.sign())).toMatchObject({ issuer: one.issuer });
    expect(await checkToken(provider, await two.sign())).toMatchObject({ issuer: two.issuer });
    await expectInvalid(provider, await two.sign({ iss: one.issuer }), /signature/);
    expect(provider.resource?.authorizationServers).toEqual([one.issuer, two.issuer]);
  });

  it('gives every request the same frozen caller', async () => {
    const { issuer, check } = await setUp();
    const token = await issuer.sign({ deep: { list: [1] } });
    const auth = await check(token);
    expect(await check(token)).toBe(auth);
    const { list } = (auth as Auth).claims['deep'] as { list: number[] };
    expect(() => list.push(2)).toThrow(TypeError);
    expect(() => Object.assign(auth as object, { subject: 'root' })).toThrow(TypeError);
  });
});

describe('jwt under attack', () => {
  it('refuses a token without a signature (alg none)', async () => {
    const { issuer, provider } = await setUp();
    const now = Math.floor(Date.now() / 1000);
    const token = new UnsecuredJWT({ sub: 'ann', aud: audience, iss: issuer.issuer, exp: now + 60 }).encode();
    // A token ends with a dot then, which is in the alphabet of tokens.
    await expectInvalid(provider, token, /JWT|alg/);
    const [, payload] = token.split('.');
    const header = Buffer.from('{"alg":"none"}').toString('base64url');
    await expectInvalid(provider, `${header}.${payload}.AAAA`, /alg/);
  });

  it('refuses HS256 with the public key as the secret', async () => {
    for (const alg of ['RS256', 'ES256']) {
      const issuer = await TokenIssuer.create({ alg });
      const provider = createJwt(issuer.runtime, { issuer: issuer.issuer, audience });
      const jwk = issuer.keys[0]?.publicJwk as JsonWebKey & Record<string, string>;
      const key = (await importJWK(jwk, alg, { extractable: true })) as CryptoKey;
      const secrets = [
        await exportSPKI(key),
        JSON.stringify(jwk),
        createPublicKey({ key: jwk, format: 'jwk' }).export({ format: 'der', type: 'spki' }),
      ];
      for (const secret of secrets) {
        const bytes = typeof secret === 'string' ? new TextEncoder().encode(secret) : secret;
        const now = Math.floor(Date.now() / 1000);
        const token = await new SignJWT({ iss: issuer.issuer, aud: audience, sub: 'ann', exp: now + 60 })
          .setProtectedHeader({ alg: 'HS256', kid: 'key-1' })
          .sign(bytes);
        await expectInvalid(provider, token, /alg/);
      }
    }
  });

  it('refuses a changed payload, a changed signature, and a token of another key with a known kid', async () => {
    const { issuer, provider } = await setUp();
    const [header, payload, signature] = (await issuer.sign()).split('.') as [string, string, string];
    const changed = Buffer.from(payload, 'base64url').toString().replace('ann', 'eve');
    await expectInvalid(
      provider,
      `${header}.${Buffer.from(changed).toString('base64url')}.${signature}`,
      /signature/,
    );
    await expectInvalid(provider, `${header}.${payload}.${signature.slice(0, -4)}AAAA`, /signature/);
    await expectInvalid(provider, `${header}.${payload}.`, /JWT|signature/);
    const thief = await TokenIssuer.create();
    await expectInvalid(provider, await thief.sign(), /signature/);
  });

  it('ignores keys and addresses in the header of a token', async () => {
    const { issuer, provider } = await setUp();
    const thief = await TokenIssuer.create();
    const { publicJwk } = thief.keys[0] as (typeof thief.keys)[0];
    const before = issuer.fetched.length;
    for (const header of [
      { jwk: publicJwk },
      { jku: 'https://evil.example/keys' },
      { x5u: 'https://evil.example/cert' },
      { x5c: ['AAAA'] },
    ])
      await expectInvalid(provider, await thief.sign({}, header), /signature/);
    expect(issuer.fetched.slice(before).filter((url) => url.includes('evil'))).toEqual([]);
  });

  it('refuses a token with a critical header that it does not know', async () => {
    const { issuer, provider } = await setUp();
    const token = await issuer.sign();
    const [header = '', payload = '', signature = ''] = token.split('.');
    const withCrit = { ...JSON.parse(Buffer.from(header, 'base64url').toString()), crit: ['exp2'], exp2: 1 };
    const forged = Buffer.from(JSON.stringify(withCrit)).toString('base64url');
    await expectInvalid(provider, `${forged}.${payload}.${signature}`, /crit|JWT/);
  });

  it.each([
    'x',
    'a.b.c',
    '...',
    'e30.e30.e30',
    'eyJhbGciOiJFUzI1NiJ9.bnVsbA.AAAA',
    'eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..a.b.c',
    `${'a'.repeat(80)}.${'b'.repeat(80)}.c`,
  ])('refuses text that is not a JWT: %j', async (token) => {
    const { provider } = await setUp();
    await expectInvalid(provider, token, /JWT|issuer/);
  });

  it('refuses claims with the names of members of every object', async () => {
    const { issuer, provider } = await setUp({ claims: { subject: 'constructor' } });
    await expectInvalid(provider, await issuer.sign(), /subject \(constructor\)/);
    const parsed = JSON.parse('{"__proto__":{"scope":"admin"}}') as JWTPayload;
    const plain = await setUp();
    const auth = await plain.check(await plain.issuer.sign(parsed));
    expect(auth?.scopes).toEqual([]);
  });

  it('survives claims that are nested deeply, and an expiry that is not a time', async () => {
    const { issuer, provider } = await setUp();
    const { privateKey, kid, alg } = issuer.keys[0] as (typeof issuer.keys)[0];
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
    const payload = `{"iss":"${issuer.issuer}","aud":"${audience}","sub":"ann","exp":1e308,"deep":${deep}}`;
    const token = await new CompactSign(new TextEncoder().encode(payload))
      .setProtectedHeader({ alg, kid })
      .sign(privateKey);
    const auth = await checkToken(provider, token);
    expect(auth).toMatchObject({ subject: 'ann' });
    expect(auth).not.toHaveProperty('expiresAt');
  });

  it('tries every key that fits a token without a kid', async () => {
    const issuer = await TokenIssuer.create();
    const second = await issuer.addKey('key-2');
    const provider = createJwt(issuer.runtime, { issuer: issuer.issuer, audience });
    expect(await checkToken(provider, await issuer.sign({}, { kid: undefined }, second))).toBeDefined();
    const thief = await TokenIssuer.create();
    await expectInvalid(provider, await thief.sign({}, { kid: undefined }), /signature/);
  });

  it('refuses a token of an RSA key that is too short, and does not fail', async () => {
    const { issuer, provider } = await setUp();
    const jwk = { kty: 'RSA', n: 'AQAB'.repeat(20), e: 'AQAB', kid: 'short' };
    issuer.keysReply = () => Response.json({ keys: [jwk] });
    const header = Buffer.from('{"alg":"RS256","kid":"short"}').toString('base64url');
    const body = { iss: issuer.issuer, aud: audience, sub: 'a', exp: 9_999_999_999 };
    const payload = Buffer.from(JSON.stringify(body)).toString('base64url');
    await expectInvalid(provider, `${header}.${payload}.AAAA`, /key|signature/);
  });
});

it('A token is accepted for `clockToleranceSeconds` after its end, and not for longer', async () => {
  const { issuer, provider, check } = await setUp({ clockToleranceSeconds: 50 });
  const now = Math.floor(Date.now() / 1000);
  expect(await check(await issuer.sign({ exp: now - 20 }))).toBeDefined();
  await expectInvalid(provider, await issuer.sign({ exp: now - 51 }), /expired/);
  const strict = await setUp();
  await expectInvalid(strict.provider, await strict.issuer.sign({ exp: now - 20 }), /expired/);
});

describe('the options of jwt', () => {
  const issuer = 'https://issuer.example';
  it.each([
    ['no audience', { issuer }, /`audience` is required/],
    ['an empty audience', { issuer, audience: [] }, /`audience` is required/],
    ['no issuer', { audience }, /`issuer` is required/],
    ['HS256', { issuer, audience, algorithms: ['HS256'] }, /sharedSecretJwt/],
    ['none', { issuer, audience, algorithms: ['none'] }, /algorithms/],
    ['no algorithm', { issuer, audience, algorithms: [] }, /algorithms/],
    ['http', { issuer: 'http://issuer.example', audience }, /uses http/],
    [
      'one key set for two issuers',
      { issuer: [issuer, 'https://b.example'], jwksUri: 'https://b.example', audience },
      /own `jwksUri`/,
    ],
    ['one issuer twice', { issuer: [issuer, issuer], audience }, /twice/],
    ['an unknown option', { issuer, audience, audiences: 1 }, /no option "audiences"/],
    ['a tolerance of an hour', { issuer, audience, clockToleranceSeconds: 3600 }, /clockToleranceSeconds/],
    ['no clients', { issuer, audience, clientIds: [] }, /clientIds/],
    ['both an audience and none', { issuer, audience, [unsafeAnyAudience]: true }, /exclude/],
  ])('refuse %s', async (_, options, message) => {
    const { runtime } = await TokenIssuer.create();
    expect(() => createJwt(runtime, options as unknown as JwtOptions)).toThrow(message);
  });

  it('accept any audience if that is asked for by its loud name', async () => {
    const made = await TokenIssuer.create();
    const provider = createJwt(made.runtime, { issuer: made.issuer, [unsafeAnyAudience]: true });
    expect(await checkToken(provider, await made.sign({ aud: 'https://other.example' }))).toBeDefined();
  });
});
