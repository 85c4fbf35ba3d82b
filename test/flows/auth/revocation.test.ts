import { once } from 'node:events';
import { type AuthProvider, anyOf, bearer, mintToken, sharedSecretJwt } from 'fullmcp/auth';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { type Events, openEvents } from '../../support/http/http.js';
import { modern, modernStream } from '../../support/http/modern.js';
import { openSession, sessionClient } from '../../support/http/sessions.js';
import { transports } from '../../support/oauth/protected-server.js';
import { soon, until } from '../../support/until.js';

// Tokens that end before they expire: their streams and connections end soon after.

const closing: (() => unknown)[] = [];
/** The timers that wait for the next check of a token: only these take 45 to 75 seconds. */
let checks: (() => void)[] = [];
beforeEach(() => {
  checks = [];
  const real = globalThis.setTimeout;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ms = 0, ...rest: unknown[]) => {
    // The clock of a token that expires looks every 60 seconds.
    if (ms < 45_000 || ms > 75_000 || ms === 60_000) return real(run, ms, ...(rest as []));
    checks.push(run);
    return real(() => undefined, 0);
  }) as never);
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of closing.splice(0).reverse()) await close();
});

/** Lets a minute pass for the checks that are waiting now. */
function passMinute(): void {
  for (const check of checks.splice(0)) check();
}

const secret = 'a secret of at least 32 characters';
const options = { secret, issuer: 'test', audience: 'https://mcp.example' };

async function started(auth: AuthProvider, name = 'serve'): Promise<string> {
  const running = await transports[name]?.(auth);
  if (running === undefined) throw new Error(name);
  closing.push(running.close);
  return running.url;
}

const listen = (url: string, headers: { authorization: string }) =>
  modernStream(url, 'subscriptions/listen', { notifications: { toolsListChanged: true } }, { headers });
const ended = (events: Events) => soon('the end of the stream', events.rest());

describe.each(['serve', 'createHandler', 'createPlugin'])('with %s, a token that was revoked', (name) => {
  it('ends every kind of stream that it has opened, and no stream of another token', async () => {
    const provider = sharedSecretJwt({ ...options, revocable: true });
    const url = await started(provider, name);
    const [token, other] = await Promise.all(
      ['ann', 'bob'].map((sub) => mintToken({ sub }, { ...options, expiresIn: '1h' })),
    );
    const [ann, bob] = [token, other].map((one) => ({ authorization: `Bearer ${one}` }));
    if (ann === undefined || bob === undefined || token === undefined) throw new Error('no tokens');
    const { id } = await openSession(url, '2025-11-25', {}, ann);
    const streams = [
      await listen(url, ann),
      await sessionClient(url, id).get(ann),
      await openEvents(url.replace(/\/mcp$/, '/sse'), { method: 'GET', headers: ann }),
    ];
    const kept = await listen(url, bob);
    for (const stream of [...streams, kept]) expect((await stream.next())?.data).toBeDefined();
    expect(checks).toHaveLength(4);
    passMinute();
    await until('each token was checked', () => checks.length === 4);
    await provider.revoke(token);
    passMinute();
    await Promise.all(streams.map(ended));
    await until('the other token is checked again', () => checks.length === 1);
    expect((await modern(url, 'tools/list', {}, { headers: ann })).status).toBe(401);
    expect((await modern(url, 'tools/list', {}, { headers: bob })).status).toBe(200);
    kept.drop();
  });
});

describe('a WebSocket', () => {
  it('is closed with a reason after its token was revoked', async () => {
    const provider = sharedSecretJwt({ ...options, revocable: true });
    const url = await started(provider);
    const token = await mintToken({ sub: 'ann' }, options);
    const headers = { authorization: `Bearer ${token}` };
    const socket = new WebSocket(url.replace('http', 'ws'), { headers });
    await once(socket, 'open');
    await until('the token is watched', () => checks.length === 1);
    passMinute();
    await until('the token was checked', () => checks.length === 1);
    await provider.revoke(token);
    const closed = soon('the end of the socket', once(socket, 'close'));
    passMinute();
    const [code, reason] = await closed;
    expect([code, String(reason)]).toEqual([3000, 'The token is not valid any more']);
  });
});

describe('the check of open streams', () => {
  it('asks the function of bearer again, and the provider of anyOf that has accepted the token', async () => {
    const sessions = new Set(['ann', 'bob']);
    const known = bearer((token) => (sessions.has(token) ? { subject: token } : undefined));
    const first: AuthProvider = { check: () => undefined, isStillValid: () => false };
    const url = await started(anyOf(first, sharedSecretJwt(options), known));
    const [ann, bob] = [
      await listen(url, { authorization: 'Bearer ann' }),
      await listen(url, { authorization: 'Bearer bob' }),
    ];
    passMinute();
    await until('both were checked', () => checks.length === 2);
    sessions.delete('ann');
    passMinute();
    await ended(ann);
    await until('the other one is checked again', () => checks.length === 1);
    bob.drop();
  });

  it('leaves streams open if it fails, and stops when they end', async () => {
    let asked = 0;
    const failing: AuthProvider = {
      check: () => ({ subject: 'ann', scopes: [], claims: {} }),
      isStillValid: () => {
        asked++;
        throw new Error('The store is down.');
      },
    };
    const url = await started(failing);
    const stream = await listen(url, { authorization: 'Bearer ann' });
    passMinute();
    await until('it is checked again', () => checks.length === 1);
    expect(asked).toBe(1);
    stream.drop();
    const [check] = checks;
    await until('the stream is gone, and its token is not checked any more', async () => {
      const before = asked;
      check?.();
      await new Promise((resolve) => setImmediate(resolve));
      return asked === before;
    });
  });
});
