import { describe, expect, it, vi } from 'vitest';
import { nodeDigest } from '../../../../../src/adapters/node/oauth/digest.js';
import { ExpiringMap } from '../../../../../src/async/expiring-map.js';
import { createJwt, type JwtOptions } from '../../../../../src/oauth/server/tokens/jwt.js';
import { TokenCache, type VerifiedToken } from '../../../../../src/oauth/server/tokens/token-cache.js';
import { McpError } from '../../../../../src/protocol/errors.js';
import { memoryStore } from '../../../../../src/state/memory/store.js';
import { authContext, requestWith, TokenIssuer } from '../../../../support/oauth/token-issuer.js';

const audience = 'https://mcp.example/mcp';

async function setUp(options: Partial<JwtOptions> = {}, context = authContext()) {
  const issuer = await TokenIssuer.create();
  const clock = { now: Date.now() };
  const make = async () => {
    const provider = createJwt(
      issuer.runtime,
      { issuer: issuer.issuer, audience, ...options },
      { now: () => clock.now },
    );
    await provider.start?.(context);
    return provider;
  };
  return { issuer, clock, make, provider: await make() };
}

const statusOf = (error: unknown) => {
  if (!McpError.is(error)) throw error;
  return error.status;
};

describe('the cache of verified tokens', () => {
  it('answers a known token at once, without a promise', async () => {
    const { issuer, provider } = await setUp();
    const token = await issuer.sign();
    expect(provider.check(requestWith(token))).toBeInstanceOf(Promise);
    const first = await provider.check(requestWith(token));
    expect(provider.check(requestWith(token))).toBe(first);
  });

  it('answers a known bad token at once, and does not count it among the good ones', async () => {
    const { issuer, provider } = await setUp();
    const token = await issuer.sign({ aud: 'https://other.example' });
    await expect(provider.check(requestWith(token))).rejects.toThrow(/audience/);
    expect(() => provider.check(requestWith(token))).toThrow(/audience/);
  });

  it('does not keep a token beyond its expiry, nor for more than five minutes', async () => {
    const { issuer, provider, clock } = await setUp();
    const now = Math.floor(clock.now / 1000);
    const short = await issuer.sign({ exp: now + 60 });
    await provider.check(requestWith(short));
    clock.now += 66_000;
    await expect(provider.check(requestWith(short))).rejects.toThrow(/expired/);
    const long = await issuer.sign({ exp: now + 36_000 });
    const first = await provider.check(requestWith(long));
    clock.now += 299_000;
    expect(provider.check(requestWith(long))).toBe(first);
    clock.now += 1_000;
    expect(provider.check(requestWith(long))).toBeInstanceOf(Promise);
  });

  it('does not keep what may change: a token that is not valid yet', async () => {
    const { issuer, provider, clock } = await setUp();
    const token = await issuer.sign({ nbf: Math.floor(clock.now / 1000) + 20 });
    await expect(provider.check(requestWith(token))).rejects.toThrow(/not valid yet/);
    clock.now += 20_000;
    expect(await provider.check(requestWith(token))).toBeDefined();
  });

  it('never holds a token, only its digest', async () => {
    const set = vi.spyOn(ExpiringMap.prototype, 'set');
    const { issuer, provider } = await setUp();
    const token = await issuer.sign();
    await provider.check(requestWith(token));
    const stored = set.mock.calls.map(([key, value]) => `${key} ${JSON.stringify(value)}`).join(' ');
    set.mockRestore();
    expect(stored).toContain(nodeDigest(token));
    for (const part of token.split('.')) expect(stored).not.toContain(part);
  });

  it('has room for 10,000 tokens, and drops the one that was not used for the longest time', () => {
    const cache = new TokenCache({ keepMs: 1000, now: () => 0 });
    const verdict = (name: string): VerifiedToken => ({
      auth: { subject: name, scopes: [], claims: {} },
      jkt: undefined,
    });
    for (let index = 0; index < 10_000; index++) cache.add(`${index}`, verdict(`${index}`), cache.generation);
    expect(cache.get('0')).toBeDefined();
    for (let index = 0; index < 5000; index++) cache.add(`new-${index}`, verdict('x'), cache.generation);
    expect(cache.size).toBe(10_000);
    expect(cache.get('0')).toBeDefined();
    expect(cache.get('1')).toBeUndefined();
    // Bad tokens have a room of their own.
    for (let index = 0; index < 20_000; index++)
      cache.add(`bad-${index}`, { reason: 'x', isFinal: true }, cache.generation);
    expect(cache.size).toBe(11_000);
    expect(cache.get('0')).toBeDefined();
  });

  it('does not keep the verdict of a check that began before the keys were removed', () => {
    const cache = new TokenCache({ keepMs: 1000 });
    const { generation } = cache;
    cache.clear();
    cache.add('one', { auth: { subject: 'ann', scopes: [], claims: {} }, jkt: undefined }, generation);
    expect(cache.get('one')).toBeUndefined();
  });

  it('forgets everything when the clock is set back', () => {
    const clock = { now: 1_000_000 };
    const map = new ExpiringMap<number>({ maxEntries: 10, now: () => clock.now });
    map.set('one', 1, 1000);
    clock.now -= 1;
    expect(map.get('one')).toBeUndefined();
  });
});

describe('revoke', () => {
  it('rejects a token at once, and in other processes when they verify it', async () => {
    const store = memoryStore();
    const { issuer, provider, make } = await setUp({ revocable: true }, authContext({ store }));
    const token = await issuer.sign();
    expect(await provider.check(requestWith(token))).toBeDefined();
    await provider.revoke(token);
    await expect(provider.check(requestWith(token))).rejects.toThrow(/revoked/);
    const other = await make();
    await expect(other.check(requestWith(token))).rejects.toThrow(/revoked/);
    expect(await other.check(requestWith(await issuer.sign()))).toBeDefined();
  });

  it('needs its option, and a store that answers', async () => {
    const { issuer, provider } = await setUp();
    await expect(provider.revoke(await issuer.sign())).rejects.toThrow(/revocable: true/);
    const store = { ...memoryStore(), get: () => Promise.reject(new Error('down')) };
    const broken = await setUp({ revocable: true }, authContext({ store }));
    const token = await broken.issuer.sign();
    expect(await Promise.resolve(broken.provider.check(requestWith(token))).catch(statusOf)).toBe(503);
  });
});
