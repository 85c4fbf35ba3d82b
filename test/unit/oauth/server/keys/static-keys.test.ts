import { generateKeyPairSync } from 'node:crypto';
import { SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { createJwt, type JwtOptions } from '../../../../../src/oauth/server/tokens/jwt.js';
import { authContext, requestWith, TokenIssuer } from '../../../../support/oauth/token-issuer.js';

const audience = 'https://mcp.example/mcp';
const pair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const [own, other] = [pair(), pair()];
const publicJwk = own.publicKey.export({ format: 'jwk' });

function pairOf(kind: 'rsa' | 'ec' | 'ed25519' | 'x25519', namedCurve = 'P-256') {
  switch (kind) {
    case 'rsa':
      return generateKeyPairSync('rsa', { modulusLength: 2048 });
    case 'ec':
      return generateKeyPairSync('ec', { namedCurve });
    case 'ed25519':
      return generateKeyPairSync('ed25519');
    default:
      return generateKeyPairSync('x25519');
  }
}
const jwkOf = (...kind: Parameters<typeof pairOf>) => pairOf(...kind).publicKey.export({ format: 'jwk' });

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
    ['is not a set', [publicJwk], /"jwks" must be an object, not an array/],
    ['has PEM', { keys: ['-----BEGIN PUBLIC KEY-----'] }, /createPublicKey/],
    ['has a private key', { keys: [own.privateKey.export({ format: 'jwk' })] }, /is a private key/],
    ['has a shared secret', { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] }, /sharedSecretJwt/],
    ['has two keys without a name', { keys: [publicJwk, publicJwk] }, /needs a `kid`/],
    ['has only a key for encryption', { keys: [{ ...publicJwk, use: 'enc' }] }, /`use` is "enc".*"sig"/],
    ['has only a key that signs', { keys: [{ ...publicJwk, key_ops: ['sign'] }] }, /lack "verify"/],
    ['has only a key of another kind', { keys: [jwkOf('x25519')] }, /kind that cannot verify tokens/],
    ['has only a key with another curve', { keys: [jwkOf('ec', 'secp256k1')] }, /P-256, P-384 or P-521/],
    ['has a kind that does not exist', { keys: [{ kty: 'ec' }] }, /kind that cannot verify tokens/],
    ['has the algorithm of another kind', { keys: [{ ...publicJwk, alg: 'RS256' }] }, /"RS256".*ES256/],
    ['has only a key of a refused algorithm', { keys: [jwkOf('ec', 'P-521')] }, /ES512.*Add its algorithm/],
    ['has half an EC key', { keys: [{ ...publicJwk, y: undefined }] }, /`x` and `y`, each of 32 bytes/],
    ['has an RSA key without numbers', { keys: [{ kty: 'RSA' }] }, /`n` and `e`/],
    ['has a short RSA key', { keys: [{ ...jwkOf('rsa'), n: 'a'.repeat(171) }] }, /2048 bits or more/],
    ['has a damaged Ed25519 key', { keys: [{ ...jwkOf('ed25519'), x: 'A+B=' }] }, /32 bytes as base64url/],
  ])('refuses a key set that %s', async (_, jwks, message) => {
    await expect(setUp({ jwks: jwks as never })).rejects.toThrow(message);
  });

  it('accepts the whole set that an issuer publishes, and leaves out its keys for other purposes', async () => {
    const published = [
      { ...jwkOf('rsa'), kid: 'e', use: 'enc', alg: 'RSA-OAEP' },
      { ...other.publicKey.export({ format: 'jwk' }), use: 'enc' },
      { ...publicJwk, use: 'sig', alg: 'ES256' },
      jwkOf('ed25519'),
    ];
    const { check } = await setUp({ jwks: { keys: published } });
    expect(await check(await sign())).toMatchObject({ subject: 'ann' });
    await expect(check(await sign(other.privateKey))).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it.each([
    ['RSA', 'RS256', 'rsa', undefined],
    ['RSA-PSS', 'PS256', 'rsa', undefined],
    ['EC', 'ES384', 'ec', 'P-384'],
    ['Ed25519', 'EdDSA', 'ed25519', undefined],
    ['P-521', 'ES512', 'ec', 'P-521'],
  ] as const)('verifies tokens with a key of %s (%s)', async (_, alg, kind, curve) => {
    const { publicKey, privateKey } = pairOf(kind, curve);
    const jwks = { keys: [publicKey.export({ format: 'jwk' })] };
    const { check } = await setUp({ jwks, ...(alg === 'ES512' && { algorithms: [alg] }) });
    expect(await check(await sign(privateKey, { alg }))).toMatchObject({ subject: 'ann' });
  });

  it('refuses both jwks and jwksUri', async () => {
    await expect(setUp({ jwksUri: 'https://login.example.com/keys' })).rejects.toThrow(/one of the two/);
  });
});
