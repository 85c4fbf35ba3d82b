import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { keyTimes } from '../../../../../src/oauth/server/keys/issuer-keys.js';
import { createJwt } from '../../../../../src/oauth/server/tokens/jwt.js';
import { McpError } from '../../../../../src/protocol/errors.js';
import { authContext, requestWith, TokenIssuer } from '../../../../support/oauth/token-issuer.js';

// Key sets that are not what they should be.

const audience = 'https://mcp.example/mcp';

async function setUp() {
  const issuer = await TokenIssuer.create();
  const clock = { now: Date.now() };
  const context = authContext();
  const provider = createJwt(issuer.runtime, { issuer: issuer.issuer, audience }, { now: () => clock.now });
  const status = async (token: string) => {
    try {
      await provider.check(requestWith(token));
      return 200;
    } catch (error) {
      if (!McpError.is(error)) throw error;
      return error.status;
    }
  };
  const publish = (...keys: readonly unknown[]) => {
    issuer.keysReply = () => Response.json({ keys });
  };
  const { publicJwk } = issuer.keys[0] as { publicJwk: JWK };
  return { issuer, clock, context, provider, status, publish, publicJwk };
}

describe('a key set', () => {
  it('may have any content type, since only its contents count', async () => {
    const { issuer, status, publicJwk } = await setUp();
    const keys = JSON.stringify({ keys: [{ ...publicJwk, kid: 'key-1' }] });
    issuer.keysReply = () => new Response(keys, { headers: { 'content-type': 'text/html' } });
    expect(await status(await issuer.sign())).toBe(200);
  });

  it('may have several keys with one name: each of them is tried', async () => {
    const { issuer, status, publish, publicJwk } = await setUp();
    const others = await Promise.all(
      [1, 2, 3].map(async () => exportJWK((await generateKeyPair('ES256')).publicKey)),
    );
    publish(...others.map((key) => ({ ...key, kid: 'key-1' })), { ...publicJwk, kid: 'key-1' });
    expect(await status(await issuer.sign())).toBe(200);
    const thief = await TokenIssuer.create();
    expect(await status(await thief.sign())).toBe(401);
  });

  it('with private keys is not trusted', async () => {
    const { issuer, status, publish } = await setUp();
    const { privateKey } = issuer.keys[0] as { privateKey: CryptoKey };
    publish({ ...(await exportJWK(privateKey)), kid: 'key-1' });
    expect(await status(await issuer.sign())).toBe(401);
  });

  it('with the secret of HS256 does not let anybody sign with it', async () => {
    const { issuer, status, publish, publicJwk } = await setUp();
    const k = Buffer.from('a secret that everybody can read').toString('base64url');
    publish({ kty: 'oct', k, kid: 'key-1', alg: 'HS256' }, { ...publicJwk, kid: 'key-2' });
    const { createHmac } = await import('node:crypto');
    const now = Math.floor(Date.now() / 1000);
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = { iss: issuer.issuer, aud: audience, sub: 'ann', exp: now + 60 };
    const input = `${encode({ alg: 'HS256', kid: 'key-1' })}.${encode(claims)}`;
    const mac = createHmac('sha256', Buffer.from(k, 'base64url')).update(input).digest('base64url');
    expect(await status(`${input}.${mac}`)).toBe(401);
  });

  it.each(['__proto__', 'constructor', 'toString', '', '\u0000', 'x'.repeat(10_000)])(
    'is not confused by the name %j of a key',
    async (kid) => {
      const { issuer, status, publish, publicJwk } = await setUp();
      expect(await status(await issuer.sign({}, { kid }))).toBe(401);
      const named = await setUp();
      named.publish({ ...named.publicJwk, kid });
      expect(await named.status(await named.issuer.sign({}, { kid }))).toBe(200);
      publish({ ...publicJwk, kid: 'key-1' }, JSON.parse('{"__proto__":{"kty":"EC"}}'));
      expect(await status(await issuer.sign())).toBe(200);
    },
  );

  it('with names that are not strings does not fail', async () => {
    const { issuer, status, publish, publicJwk } = await setUp();
    for (const kid of [7, null, ['key-1'], { a: 1 }, true]) {
      publish({ ...publicJwk, kid });
      expect([401, 503]).toContain(await status(await issuer.sign()));
    }
  });

  it('that becomes empty ends the trust in its keys with 503, not with 401, until there are keys again', async () => {
    const { issuer, clock, status, publish, publicJwk, provider, context } = await setUp();
    await provider.start?.(context);
    const token = await issuer.sign({ exp: Math.floor(clock.now / 1000) + 86_400 });
    expect(await status(token)).toBe(200);
    publish();
    clock.now += keyTimes.maxAgeMs;
    const other = await issuer.sign({ exp: Math.floor(clock.now / 1000) + 86_400 });
    expect([await status(other), await status(token)]).toEqual([503, 503]);
    expect(context.logged).toEqual([expect.stringContaining('Its key set has no public key.')]);
    publish({ ...publicJwk, kid: 'key-1' });
    clock.now += keyTimes.retryMs;
    expect([await status(other), await status(token)]).toEqual([200, 200]);
  });
});

describe('one token at two providers', () => {
  it('is valid only where its audience is, in either order, and again from the caches', async () => {
    const issuer = await TokenIssuer.create();
    const make = (one: string) => createJwt(issuer.runtime, { issuer: issuer.issuer, audience: one });
    const token = await issuer.sign();
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const providers = [make(audience), make('https://other.example/mcp')];
      for (const at of [...order, ...order]) {
        const outcome = await Promise.resolve(providers[at]?.check(requestWith(token))).then(
          () => 'accepted',
          (error: McpError) => error.status,
        );
        expect(outcome).toBe(at === 0 ? 'accepted' : 401);
      }
    }
  });
});
