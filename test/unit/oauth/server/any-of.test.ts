import { anyOf, apiKey, bearer, hashApiKey, trustedProxy } from 'fullmcp/auth';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createJwt } from '../../../../src/oauth/server/tokens/jwt.js';
import { McpError } from '../../../../src/protocol/errors.js';
import type { AuthProvider, AuthRequest } from '../../../../src/state/auth-provider.js';
import { requestWith } from '../../../support/oauth/auth-request.js';
import { TokenIssuer } from '../../../support/oauth/token-issuer.js';

const [ann, bob] = ['key-of-ann-0123456789', 'key-of-bob-0123456789'];
const keys = [
  { hash: await hashApiKey(ann), subject: 'ann', scopes: ['read', 'write'] },
  { hash: await hashApiKey(bob), subject: 'bob' },
];
const withBearer = (token: string) => requestWith({ authorization: `Bearer ${token}` });

describe('anyOf', () => {
  const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln';
  const tokens = bearer((token) => (token === jwt ? { subject: 'token' } : undefined), {
    resource: { authorizationServers: ['https://a.example'], scopes: ['a', 'b'], dpop: 'required' },
  });

  test('gives a token that looks like a JWT to the next provider, and rejects keys that nobody knows', async () => {
    const provider = anyOf(apiKey({ keys }), tokens);
    expect(await provider.check(withBearer(jwt))).toMatchObject({ subject: 'token' });
    expect(await provider.check(withBearer(ann))).toMatchObject({ subject: 'ann' });
    await expect(Promise.resolve(provider.check(withBearer('unknown-key')))).rejects.toThrow('API key');
  });

  test('uses the prefix of keys to tell them from other tokens', async () => {
    const seen: string[] = [];
    const spy = bearer((token) => {
      seen.push(token);
      return { subject: 'token' };
    });
    const provider = anyOf(apiKey({ keys, prefix: 'key-of-' }), spy);
    expect(await provider.check(withBearer('opaque'))).toMatchObject({ subject: 'token' });
    await expect(Promise.resolve(provider.check(withBearer('key-of-nobody')))).rejects.toThrow('API key');
    expect(seen).toEqual(['opaque']);
  });

  test('does not try credentials that one kind rejects as another kind', async () => {
    const provider = anyOf(apiKey({ keys, header: 'x-api-key' }), tokens);
    const both = requestWith({ 'x-api-key': 'wrong', authorization: `Bearer ${jwt}` });
    await expect(Promise.resolve(provider.check(both))).rejects.toThrow('API key');
  });

  test('merges schemes, facts, pages, starts and closes', async () => {
    const log: string[] = [];
    const page = new Response('page');
    const provider = anyOf(tokens, {
      check: () => undefined,
      schemes: ['DPoP', 'Bearer'],
      optional: true,
      resource: { authorizationServers: ['https://a.example', 'https://b.example'], scopes: ['b', 'c'] },
      handle: (request) => (request.url.endsWith('/page') ? Promise.resolve(page) : undefined),
      start: () => void log.push('start'),
      close: () => void log.push('close'),
    });
    expect(provider).toMatchObject({
      optional: true,
      schemes: ['Bearer', 'DPoP'],
      resource: {
        authorizationServers: ['https://a.example', 'https://b.example'],
        scopes: ['a', 'b', 'c'],
        dpop: 'supported',
      },
    });
    expect(await provider.handle?.(new Request('https://x.example/page'))).toBe(page);
    expect(provider.handle?.(new Request('https://x.example/other'))).toBeUndefined();
    await provider.start?.(undefined as never);
    await provider.close?.();
    expect(log).toEqual(['start', 'close']);
    expect(anyOf(tokens).handle).toBeUndefined();
    expect(() => anyOf()).toThrow('anyOf needs');
  });
});

/** The subject of the caller, or the error. */
async function ask(provider: AuthProvider, request: AuthRequest): Promise<unknown> {
  try {
    return (await provider.check(request))?.subject;
  } catch (error) {
    return McpError.is(error) ? `${error.status} ${error.message}` : error;
  }
}

describe('anyOf with several issuers', async () => {
  const audience = 'https://mcp.example/mcp';
  const [a, b] = await Promise.all(
    ['https://a.example', 'https://b.example'].map((issuer) => TokenIssuer.create({ issuer })),
  );
  if (a === undefined || b === undefined) throw new Error('no issuers');
  const jwtOf = (issuer: TokenIssuer, more = {}) =>
    createJwt(issuer.runtime, { issuer: issuer.issuer, audience, ...more });
  afterEach(() => {
    a.isDown = false;
  });

  test('accepts the tokens of each, whichever provider is first', async () => {
    for (const provider of [anyOf(jwtOf(a), jwtOf(b)), anyOf(jwtOf(b), jwtOf(a))]) {
      expect(await ask(provider, withBearer(await a.sign({ sub: 'ann' })))).toBe('ann');
      expect(await ask(provider, withBearer(await b.sign({ sub: 'bob' })))).toBe('bob');
    }
  });

  test('accepts the tokens of one whose keys can be fetched, and replies 503 to those of the other', async () => {
    a.isDown = true;
    const provider = anyOf(jwtOf(a), jwtOf(b));
    expect(await ask(provider, withBearer(await b.sign()))).toBe('ann');
    expect(await ask(provider, withBearer(await a.sign()))).toMatch(/^503 .*keys of its issuer/);
  });

  test('never asks another provider about a token that is of its own issuer but not valid', async () => {
    const seen: string[] = [];
    const spy = bearer((token) => {
      seen.push(token);
      return { subject: 'spy' };
    });
    const provider = anyOf(jwtOf(a), spy);
    const past = Math.floor(Date.now() / 1000) - 60;
    for (const claims of [{ exp: past }, { aud: 'https://other.example' }, { cnf: { jkt: 'x' } }])
      expect(await ask(provider, withBearer(await a.sign(claims)))).toMatch(/^401 The token /);
    const forged = `${(await a.sign()).slice(0, -20)}${'A'.repeat(20)}`;
    expect(await ask(provider, withBearer(forged))).toMatch(/^401 The signature/);
    a.isDown = true;
    expect(await ask(anyOf(jwtOf(a), spy), withBearer(await a.sign()))).toMatch(/^503 /);
    expect(seen).toEqual([]);
    expect(await ask(provider, withBearer('opaque'))).toBe('spy');
  });

  test('gives bound tokens to the provider that accepts them, and their proof is checked there', async () => {
    const provider = anyOf(jwtOf(a), jwtOf(b, { dpop: 'supported' }));
    const bound = await b.sign({ cnf: { jkt: 'thumbprint' } });
    expect(await ask(provider, requestWith({ authorization: `DPoP ${bound}` }))).toMatch(
      /^401 The header DPoP with a proof/,
    );
    expect(await ask(provider, withBearer(bound))).toMatch(/^401 .*use the scheme DPoP/);
  });

  test('says why nobody accepts a token', async () => {
    const provider = anyOf(jwtOf(a), jwtOf(b), apiKey({ keys }));
    expect(await ask(provider, withBearer('unknown'))).toBe(
      '401 No provider of this server accepts the credentials. The token is not a signed JWT. The API key is not valid.',
    );
    const other = await TokenIssuer.create({ issuer: 'https://c.example' });
    expect(await ask(provider, withBearer(await other.sign()))).toMatch(
      /^401 The token is from another issuer/,
    );
  });
});

describe('anyOf with a provider that fails', () => {
  afterEach(() => vi.useRealTimers());
  const second = bearer((token) => (token === 'known' ? { subject: 'known' } : undefined));
  const failing = {
    'throws at once': () => {
      throw new TypeError('bug');
    },
    'rejects with an error of its own': () => Promise.reject(new TypeError('bug')),
    'cannot check credentials now': () => Promise.reject(new McpError('overloaded', 'Not now.')),
  };

  test.each(Object.entries(failing))(
    'asks the next one if the first %s, and passes the failure on if nobody knows the token',
    async (_, check) => {
      const provider = anyOf({ check }, second);
      expect(await ask(provider, withBearer('known'))).toBe('known');
      expect(String(await ask(provider, withBearer('other')))).toMatch(/^(TypeError: bug|503 Not now\.)$/);
    },
  );

  test('asks the next one if the first does not answer in time', async () => {
    vi.useFakeTimers();
    const provider = anyOf({ check: () => new Promise(() => undefined) }, second);
    const replies = Promise.all([ask(provider, withBearer('known')), ask(provider, withBearer('other'))]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await replies).toEqual([
      'known',
      '503 The caller could not be authenticated in time. Try again later.',
    ]);
  });

  test('does not let a token in that a trusted gateway, a prefix or a rule of scopes has refused', async () => {
    const everybody = bearer(() => ({ subject: 'everybody' }));
    const gateway = trustedProxy({ header: 'x-user', addresses: ['10.0.0.0/8'] });
    const forged = requestWith(
      { 'x-user': 'ann', authorization: 'Bearer x' },
      { remoteAddress: '192.0.2.1' },
    );
    expect(await ask(anyOf(gateway, everybody), forged)).toMatch(/^401 Only the gateway/);
    const prefixed = anyOf(apiKey({ keys, prefix: 'key-of-' }), everybody);
    expect(await ask(prefixed, withBearer('key-of-nobody'))).toMatch(/^401 The API key/);
    const refusing: AuthProvider = {
      check: () => {
        throw new McpError('forbidden', 'No.');
      },
    };
    expect(await ask(anyOf(refusing, everybody), withBearer('x'))).toBe('403 No.');
  });
});
