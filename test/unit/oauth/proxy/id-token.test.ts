import { createHmac } from 'node:crypto';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { remoteKeySet, verifyIdToken } from '../../../../src/oauth/proxy/upstream/id-token.js';

const ISSUER = 'https://provider.example.com';
const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
const jwk = { ...(await exportJWK(publicKey)), alg: 'RS256', kid: 'one' };
const keys = remoteKeySet(`${ISSUER}/jwks`, async () => Response.json({ keys: [jwk] }));
const check = { keys, issuer: ISSUER, clientId: 'proxy', nonce: 'the nonce' };

const claims = { iss: ISSUER, aud: 'proxy', sub: 'alice', nonce: 'the nonce' };

function sign(more: Record<string, unknown> = {}, key = privateKey): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ ...claims, iat: now, exp: now + 300, ...more })
    .setProtectedHeader({ alg: 'RS256', kid: 'one' })
    .sign(key);
}

function unsigned(header: object, signature: (input: string) => string = () => ''): string {
  const now = Math.floor(Date.now() / 1000);
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const input = `${encode(header)}.${encode({ ...claims, iat: now, exp: now + 300 })}`;
  return `${input}.${signature(input)}`;
}

describe('verifyIdToken', () => {
  it('returns the claims of a token that was issued for this login', async () => {
    expect(await verifyIdToken(await sign(), check)).toMatchObject({ sub: 'alice' });
    expect(await verifyIdToken(await sign({ aud: ['proxy', 'other'], azp: 'proxy' }), check)).toBeDefined();
  });

  it('refuses a token of another login, client, issuer or time', async () => {
    const now = Math.floor(Date.now() / 1000);
    for (const wrong of [
      { nonce: 'another nonce' },
      { nonce: undefined },
      { aud: 'other' },
      { aud: ['proxy', 'other'] },
      { aud: ['proxy', 'other'], azp: 'other' },
      { azp: 'other' },
      { iss: 'https://evil.example' },
      { iss: `${ISSUER}/` },
      { exp: now - 3600 },
      { exp: undefined },
      { iat: now - 100_000, exp: now + 300 },
      { iat: undefined },
      { sub: undefined },
      { sub: '' },
      { sub: 7 },
    ])
      await expect(verifyIdToken(await sign(wrong), check), JSON.stringify(wrong)).rejects.toThrow();
  });

  it('refuses a token without a signature, of another key, or signed with the public key as a secret', async () => {
    const other = await generateKeyPair('RS256');
    await expect(verifyIdToken(await sign({}, other.privateKey), check)).rejects.toThrow();
    await expect(verifyIdToken(unsigned({ alg: 'none' }), check)).rejects.toThrow();
    const pem = await exportSPKI(publicKey);
    const forged = unsigned({ alg: 'HS256', kid: 'one' }, (input) =>
      createHmac('sha256', pem).update(input).digest('base64url'),
    );
    await expect(verifyIdToken(forged, check)).rejects.toThrow();
    await expect(verifyIdToken('x'.repeat(100_000), check)).rejects.toThrow('characters');
  });

  it('lets a provider with many tenants decide about the issuer by the claims', async () => {
    const issuer = (found: Readonly<Record<string, unknown>>) =>
      found['iss'] === `${ISSUER}/${found['tid']}/v2.0`;
    const token = (tid: string) => sign({ tid, iss: `${ISSUER}/one/v2.0` });
    expect(await verifyIdToken(await token('one'), { ...check, issuer })).toBeDefined();
    await expect(verifyIdToken(await token('two'), { ...check, issuer })).rejects.toThrow('another issuer');
  });
});
