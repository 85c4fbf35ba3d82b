import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jwt } from 'fullmcp/auth';
import { describe, expect, it } from 'vitest';
import type { SafeFetch } from '../../../../../src/oauth/fetch/safe-fetch.js';
import { keyTimes } from '../../../../../src/oauth/server/keys/issuer-keys.js';
import { createJwt } from '../../../../../src/oauth/server/tokens/jwt.js';
import type { TokenProvider } from '../../../../../src/oauth/server/tokens/token-provider.js';
import { McpError } from '../../../../../src/protocol/errors.js';
import { authContext, requestWith, TokenIssuer } from '../../../../support/oauth/token-issuer.js';
import { until } from '../../../../support/until.js';

// The keys of an issuer, seen through `jwt`, with a clock that the test moves.

const audience = 'https://mcp.example/mcp';
const MINUTE = 60_000;

async function setUp({ isDown = false } = {}) {
  const issuer = await TokenIssuer.create();
  issuer.isDown = isDown;
  const clock = { now: Date.now() };
  const context = authContext();
  const provider = createJwt(issuer.runtime, { issuer: issuer.issuer, audience }, { now: () => clock.now });
  const check = async (token: string) => await provider.check(requestWith(token));
  const status = async (token: string) => check(token).then(() => 200, statusOf);
  const sign = (claims = {}, ...rest: [Record<string, unknown>?, (typeof issuer.keys)[0]?]) =>
    issuer.sign({ exp: Math.floor(clock.now / 1000) + 3600, ...claims }, ...rest);
  return { issuer, clock, context, provider, check, status, sign };
}

function statusOf(error: unknown): number {
  if (!McpError.is(error)) throw error;
  return error.status;
}

const start = async (provider: TokenProvider, context = authContext()) => await provider.start?.(context);

describe('the keys of an issuer', () => {
  it('are fetched once for many new tokens at the same time, and each token is verified once', async () => {
    const { issuer, sign, check } = await setUp();
    const tokens = await Promise.all(Array.from({ length: 20 }, () => sign()));
    const callers = await Promise.all([...tokens, ...tokens].map(check));
    expect(issuer.keyFetches).toBe(1);
    // The two requests of a token share one check, so they have the same object.
    for (let index = 0; index < 20; index++) expect(callers[index]).toBe(callers[index + 20]);
  });

  it('are fetched before the first token when the server starts, and the operator is told if that fails', async () => {
    const { issuer, provider, context } = await setUp({ isDown: true });
    await start(provider, context);
    await until('the operator is told', () => context.logged.length > 0);
    expect(context.logged).toEqual([
      expect.stringMatching(
        /warning: The keys of the issuer https:\/\/issuer\.example\/ cannot be fetched\. Its tokens cannot be checked\./,
      ),
    ]);
    expect(issuer.fetched).toHaveLength(1);
  });

  it('are not fetched for each token with an unknown kid: 1000 of them cause one fetch in 30 seconds', async () => {
    const { issuer, clock, sign, status } = await setUp();
    expect(await status(await sign())).toBe(200);
    const bad = await Promise.all(
      Array.from({ length: 1000 }, (_, index) => sign({}, { kid: `bad-${index}` })),
    );
    const inFloor = await Promise.all(bad.map(status));
    expect(new Set(inFloor)).toEqual(new Set([401]));
    expect(issuer.keyFetches).toBe(1);
    clock.now += keyTimes.floorMs;
    await Promise.all(bad.map(status));
    for (const token of bad.slice(0, 100)) await status(token);
    expect(issuer.keyFetches).toBe(2);
    // Other tokens are not affected.
    expect(await status(await sign())).toBe(200);
  });

  it('are fetched again for a new kid, so that rotation needs no restart', async () => {
    const { issuer, clock, sign, status } = await setUp();
    expect(await status(await sign())).toBe(200);
    const second = await issuer.addKey('key-2');
    clock.now += keyTimes.floorMs;
    expect(await status(await sign({}, {}, second))).toBe(200);
    expect(issuer.keyFetches).toBe(2);
  });

  it('are fetched again for a new key without a kid', async () => {
    const { issuer, clock, sign, status } = await setUp();
    expect(await status(await sign({}, { kid: undefined }))).toBe(200);
    issuer.keys = [];
    await issuer.addKey('key-2');
    expect(await status(await sign({}, { kid: undefined }))).toBe(401);
    clock.now += keyTimes.floorMs;
    expect(await status(await sign({}, { kid: undefined }))).toBe(200);
    expect(issuer.keyFetches).toBe(2);
  });

  it('take verified tokens with them when they are removed', async () => {
    const { issuer, clock, sign, status } = await setUp();
    const token = await sign();
    expect(await status(token)).toBe(200);
    const [first] = issuer.keys.splice(0);
    const second = await issuer.addKey('key-2');
    clock.now += keyTimes.floorMs;
    // The cached token is still valid: nobody has looked.
    expect(await status(token)).toBe(200);
    expect(await status(await sign({}, {}, second))).toBe(200);
    expect(await status(token)).toBe(401);
    expect(await status(await sign({}, {}, first))).toBe(401);
  });

  it('leave verified tokens alone when a key is added', async () => {
    const { issuer, clock, sign, check } = await setUp();
    const token = await sign();
    const caller = await check(token);
    const second = await issuer.addKey('key-2');
    clock.now += keyTimes.floorMs;
    await check(await sign({}, {}, second));
    expect(await check(token)).toBe(caller);
  });

  it('answer 503, not 401, while they cannot be fetched, and ask at most every 5 seconds', async () => {
    const { issuer, clock, sign, status } = await setUp({ isDown: true });
    const token = await sign();
    for (let index = 0; index < 20; index++) expect(await status(token)).toBe(503);
    expect(issuer.fetched).toHaveLength(1);
    clock.now += keyTimes.retryMs;
    expect(new Set(await Promise.all(Array.from({ length: 20 }, () => status(token))))).toEqual(
      new Set([503]),
    );
    expect(issuer.fetched).toHaveLength(2);
    issuer.isDown = false;
    clock.now += keyTimes.retryMs;
    expect(await status(token)).toBe(200);
  });

  it('are used for a day while they cannot be fetched again, and not longer', async () => {
    const { issuer, clock, sign, status, context, provider } = await setUp();
    await start(provider, context);
    expect(await status(await sign())).toBe(200);
    issuer.isDown = true;
    clock.now += keyTimes.maxAgeMs;
    const before = issuer.fetched.length;
    for (let index = 0; index < 20; index++) expect(await status(await sign())).toBe(200);
    expect(issuer.fetched.length - before).toBe(1);
    // Nobody knows whether the issuer has this key by now.
    expect(await status(await sign({}, { kid: 'new' }))).toBe(503);
    clock.now += keyTimes.staleMs;
    expect(await status(await sign())).toBe(503);
    expect(context.logged).toEqual([expect.stringContaining('The last known keys are used for now.')]);
  });

  it('are fetched again after ten minutes, and after the clock was set back', async () => {
    const { issuer, clock, sign, status } = await setUp();
    await status(await sign());
    clock.now += 9 * MINUTE;
    await status(await sign());
    expect(issuer.keyFetches).toBe(1);
    clock.now += MINUTE;
    await status(await sign());
    expect(issuer.keyFetches).toBe(2);
    clock.now -= 30 * MINUTE;
    await status(await sign());
    expect(issuer.keyFetches).toBe(3);
  });

  it.each([
    ['text that is not JSON', () => new Response('<html>')],
    ['JSON without keys', () => Response.json({ error: 'no' })],
    ['more than 100 keys', () => Response.json({ keys: Array.from({ length: 101 }, () => ({ kty: 'EC' })) })],
    ['an error', () => new Response('no', { status: 500 })],
    ['a number that JSON cannot print', () => new Response('{"keys":[{"kty":"EC","x":1e999}]}')],
  ])('cannot be used if the endpoint replies with %s: the caller gets 503', async (_, reply) => {
    const { issuer, sign, status } = await setUp();
    issuer.keysReply = reply;
    expect(await status(await sign())).toBe(503);
  });

  it('skip keys that are not public keys', async () => {
    const { issuer, sign, status } = await setUp();
    const { publicJwk } = issuer.keys[0] as (typeof issuer.keys)[0];
    issuer.keysReply = () =>
      Response.json({
        keys: [null, 7, 'x', { kty: 'oct', k: 'AAAA', kid: 'key-1' }, { ...publicJwk, kid: 'key-1' }],
      });
    expect(await status(await sign())).toBe(200);
  });

  it('of Workers are not waited for by other requests', async () => {
    const issuer = await TokenIssuer.create();
    const runtime = { ...issuer.runtime, sharesWork: false };
    const provider = createJwt(runtime, { issuer: issuer.issuer, audience });
    const token = await issuer.sign();
    const { publicJwk } = issuer.keys[0] as (typeof issuer.keys)[0];
    issuer.keysReply = async () => {
      await until('both requests fetch', () => issuer.keyFetches === 2);
      return Response.json({ keys: [{ ...publicJwk, kid: 'key-1' }] });
    };
    await Promise.all([provider.check(requestWith(token)), provider.check(requestWith(token))]);
    expect(issuer.keyFetches).toBe(2);
    await provider.check(requestWith(await issuer.sign()));
    expect(issuer.keyFetches).toBe(2);
  });

  it.each([
    'http://169.254.169.254/latest/keys',
    'https://169.254.169.254/keys',
    'https://127.0.0.1/keys',
    'http://issuer.example/keys',
    'file:///etc/passwd',
    'javascript:alert(1)',
  ])('are not fetched from %s, even if the metadata says so', async (jwksUri) => {
    const issuer = await TokenIssuer.create({ jwksUri });
    const provider = createJwt(issuer.runtime, { issuer: issuer.issuer, audience });
    const token = await issuer.sign();
    await expect(provider.check(requestWith(token))).rejects.toMatchObject({ status: 503 });
    expect(issuer.fetched).toEqual([issuer.metadataUrl]);
  });

  it('are not read beyond 256 KiB: an endless reply is cut off, and the caller gets 503', async () => {
    const server = createServer((request, response) => {
      if (request.url !== '/keys')
        return response.end(JSON.stringify({ issuer: origin, jwks_uri: `${origin}/keys` }));
      const chunk = ' '.repeat(65_536);
      const write = (): void => {
        while (!response.destroyed && response.write(chunk));
        response.once('drain', write);
      };
      return write();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const context = authContext();
    const provider = jwt({ issuer: origin, audience });
    await start(provider, context);
    const issuer = await TokenIssuer.create({ issuer: origin });
    await expect(provider.check(requestWith(await issuer.sign()))).rejects.toMatchObject({ status: 503 });
    expect(context.logged).toEqual([expect.stringContaining('262144 bytes')]);
    await provider.close?.();
    server.closeAllConnections();
    server.close();
  });

  it('are fetched as long as one of the servers that use the provider is open, and again after the next start', async () => {
    const { issuer, provider, clock, sign, status } = await setUp();
    await start(provider);
    await start(provider);
    await provider.close?.();
    expect(await status(await sign())).toBe(200);
    await provider.close?.();
    const second = await issuer.addKey('key-2');
    await start(provider);
    clock.now += keyTimes.floorMs;
    expect(await status(await sign({}, {}, second))).toBe(200);
  });

  it('are not waited for any more when the server closes', async () => {
    const { issuer, sign } = await setUp();
    const signals: AbortSignal[] = [];
    const fetch: SafeFetch = (_, init) => {
      const { signal } = init as { signal: AbortSignal };
      signals.push(signal);
      return new Promise((__, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    const runtime = { ...issuer.runtime, safeFetch: () => fetch };
    const provider = createJwt(runtime, { issuer: issuer.issuer, audience });
    const checking = Promise.resolve(provider.check(requestWith(await sign()))).catch(statusOf);
    await until('the keys are being fetched', () => signals.length === 1);
    await provider.close?.();
    expect(await checking).toBe(503);
    expect(signals[0]?.aborted).toBe(true);
  });
});
