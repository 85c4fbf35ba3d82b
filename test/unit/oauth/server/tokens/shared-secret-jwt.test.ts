import { mintToken, type SharedSecretJwtOptions, sharedSecretJwt } from 'fullmcp/auth';
import { SignJWT } from 'jose';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { McpError } from '../../../../../src/protocol/errors.js';
import { authContext, requestWith } from '../../../../support/oauth/token-issuer.js';

const secret = 'a secret of thirty-two bytes or more';
const audience = 'https://mcp.example/mcp';
const issuer = 'my-company';

async function setUp(options: Partial<SharedSecretJwtOptions> = {}) {
  const provider = sharedSecretJwt({ secret, issuer, audience, ...options });
  await provider.start?.(authContext());
  return {
    provider,
    check: async (token: string) => await provider.check(requestWith(token)),
    refusal: async (token: string) =>
      (await Promise.resolve()
        .then(() => provider.check(requestWith(token)))
        .then(
          () => expect.fail('The token was accepted.'),
          (reason: unknown) => reason,
        )) as McpError,
  };
}

describe('sharedSecretJwt', () => {
  it('accepts what mintToken makes', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1, 12) });
    onTestFinished(() => void vi.useRealTimers());
    const { provider, check } = await setUp();
    const token = await mintToken(
      { sub: 'ann', scope: 'a b' },
      { secret, issuer, audience, expiresIn: '15m' },
    );
    const auth = await check(token);
    expect(auth).toMatchObject({ subject: 'ann', scopes: ['a', 'b'], issuer });
    const seconds = ((auth?.expiresAt ?? 0) - Date.now()) / 1000;
    expect(seconds).toBe(905);
    // Clients cannot log in anywhere.
    expect(provider.resource).toBeUndefined();
  });

  it('accepts each of several secrets, and mintToken uses the first one', async () => {
    const second = 'another secret of thirty-two bytes or more';
    const { check } = await setUp({ secret: [secret, second] });
    for (const one of [secret, second, [second, secret]])
      expect(await check(await mintToken({ sub: 'ann' }, { secret: one, issuer, audience }))).toBeDefined();
  });

  it.each([
    ['another secret', { secret: 'yet another secret of thirty-two bytes' }, /signature/],
    ['another issuer', { issuer: 'other' }, /issuer/],
    ['another audience', { audience: 'https://other.example' }, /audience/],
  ])('refuses a token with %s', async (_, change, description) => {
    const { refusal } = await setUp();
    const error = await refusal(await mintToken({ sub: 'ann' }, { secret, issuer, audience, ...change }));
    expect(error.status).toBe(401);
    expect(error.challenge?.description).toMatch(description);
    expect(JSON.stringify([error.message, error.challenge])).not.toContain(secret);
  });

  it('refuses other algorithms, even with the right secret', async () => {
    const { refusal } = await setUp();
    const token = await new SignJWT({ sub: 'ann', iss: issuer, aud: audience, exp: 9_999_999_999 })
      .setProtectedHeader({ alg: 'HS512' })
      .sign(new TextEncoder().encode(secret.repeat(2)));
    expect((await refusal(token)).challenge?.description).toMatch(/alg/);
  });

  it('rejects a secret that is too short, and says how to make one', async () => {
    expect(() => sharedSecretJwt({ secret: 'short', issuer, audience })).toThrow(
      /at least 32 bytes.*openssl rand/,
    );
    expect(() => sharedSecretJwt({ secret: [], issuer, audience })).toThrow(/1 to 10/);
    expect(() => sharedSecretJwt({ secret, issuer } as never)).toThrow(/`audience` is required/);
    await expect(mintToken({ sub: 'a' }, { secret: 'short', issuer, audience })).rejects.toThrow(/32 bytes/);
    await expect(mintToken({}, { secret, issuer, audience })).rejects.toThrow(/`sub`/);
    await expect(mintToken({ sub: 'a' }, { secret, issuer } as never)).rejects.toThrow(/`audience`/);
    for (const expiresIn of ['soon', '', 0, Number.NaN])
      await expect(mintToken({ sub: 'a' }, { secret, issuer, audience, expiresIn })).rejects.toThrow(
        /^mintToken: `expiresIn`/,
      );
    await expect(mintToken({ sub: 'a' }, { secret, issuer, audience, expiresIn: -1 })).rejects.toThrow(
      /expiresIn/,
    );
  });
});
