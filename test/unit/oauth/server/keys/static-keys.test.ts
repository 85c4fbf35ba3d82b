import { generateKeyPairSync } from 'node:crypto';
import { SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { createJwt, type JwtOptions } from '../../../../../src/oauth/server/tokens/jwt.js';
import { authContext, requestWith, TokenIssuer } from '../../../../support/oauth/token-issuer.js';

const audience = 'https://mcp.example/mcp';
const pair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const [own, other] = [pair(), pair()];
const publicJwk = own.publicKey.export({ format: 'jwk' });

const sign = (key = own.privateKey, header: object = {}) =>
  new SignJWT({ sub: 'ann', iss: 'my-tests', aud: audience })
    .setProtectedHeader({ alg: 'ES256', ...header })
    .setExpirationTime('1h')
    .sign(key);

async function setUp(options: Partial<JwtOptions> = {}) {
  const issuer = await TokenIssuer.create();
  const provider = createJwt(issuer.runtime, {
    issuer: 'my-tests',
    audience,
    jwks: { keys: [publicJwk] },
    ...options,
  });
  await provider.start?.(authContext());
  return { issuer, provider, check: async (token: string) => await provider.check(requestWith(token)) };
}

describe('jwt with the keys themselves', () => {
  it('accepts the tokens that they signed, and fetches nothing', async () => {
    const { issuer, provider, check } = await setUp();
    expect(await check(await sign())).toMatchObject({ subject: 'ann', issuer: 'my-tests' });
    // A token may name its key, although the only key has no name here.
    expect(await check(await sign(own.privateKey, { kid: 'any' }))).toMatchObject({ subject: 'ann' });
    expect(issuer.fetched).toEqual([]);
    // Nobody can log in at an issuer that is only a name.
    expect(provider.resource).toBeUndefined();
  });

  it('refuses tokens of other keys, of other issuers and without a signature, and never asks for new keys', async () => {
    const { issuer, check } = await setUp();
    const foreign = await new SignJWT({ sub: 'ann', iss: 'other', aud: audience })
      .setProtectedHeader({ alg: 'ES256' })
      .setExpirationTime('1h')
      .sign(own.privateKey);
    const unsigned = new UnsecuredJWT({ sub: 'ann', iss: 'my-tests', aud: audience }).encode();
    for (const token of [await sign(other.privateKey), foreign, unsigned])
      await expect(check(token)).rejects.toMatchObject({ code: 'unauthorized' });
    expect(issuer.fetched).toEqual([]);
  });

  it('finds the key that a token names among several, and refuses a name that none has', async () => {
    const keys = [
      { ...publicJwk, kid: 'a' },
      { ...other.publicKey.export({ format: 'jwk' }), kid: 'b' },
    ];
    const { check } = await setUp({ jwks: { keys } });
    expect(await check(await sign(other.privateKey, { kid: 'b' }))).toMatchObject({ subject: 'ann' });
    for (const kid of ['a', 'c'])
      await expect(check(await sign(other.privateKey, { kid }))).rejects.toMatchObject({
        code: 'unauthorized',
      });
  });

  it('can be one of several issuers, beside one whose keys are fetched, and can be named in the metadata', async () => {
    const published = await TokenIssuer.create();
    const provider = createJwt(published.runtime, {
      audience,
      issuer: [published.issuer, { issuer: 'my-tests', jwks: { keys: [publicJwk] } }],
    });
    expect(provider.resource?.authorizationServers).toEqual([published.issuer]);
    const check = async (token: string) => await provider.check(requestWith(token));
    expect(await check(await sign())).toMatchObject({ issuer: 'my-tests' });
    expect(await check(await published.sign({ aud: audience }))).toMatchObject({ issuer: published.issuer });
    const named = { issuer: 'https://login.example.com', jwks: { keys: [publicJwk] }, isAdvertised: true };
    expect(createJwt(published.runtime, { audience, issuer: named }).resource).toMatchObject({
      authorizationServers: ['https://login.example.com'],
    });
  });

  it.each<[string, unknown, RegExp]>([
    ['is empty', { keys: [] }, /1 to 100 public keys/],
    ['is not a set', [publicJwk], /1 to 100 public keys/],
    ['has PEM', { keys: ['-----BEGIN PUBLIC KEY-----'] }, /createPublicKey/],
    ['has a private key', { keys: [own.privateKey.export({ format: 'jwk' })] }, /is a private key/],
    ['has a shared secret', { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] }, /sharedSecretJwt/],
    ['has two keys without a name', { keys: [publicJwk, publicJwk] }, /needs a `kid`/],
  ])('refuses a key set that %s', async (_, jwks, message) => {
    await expect(setUp({ jwks: jwks as never })).rejects.toThrow(message);
  });

  it('refuses both jwks and jwksUri', async () => {
    await expect(setUp({ jwksUri: 'https://login.example.com/keys' })).rejects.toThrow(/one of the two/);
  });
});
