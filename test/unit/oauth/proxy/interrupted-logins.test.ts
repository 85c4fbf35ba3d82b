import { createHash } from 'node:crypto';
import { memoryStore } from 'fullmcp';
import type { SafeFetch } from 'fullmcp/oauth-proxy';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Tokens } from '../../../support/oauth/proxy-flow.js';
import {
  FakeProvider,
  NEW_SECRET,
  OLD_SECRET,
  Replica,
  tokensOf,
} from '../../../support/oauth/proxy-replica.js';

const MINUTE = 60_000;

afterEach(() => {
  vi.useRealTimers();
});

/** Moves the clock of the process. The store has its own. */
function passes(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(Date.now() + ms);
}

async function setUp(options: Parameters<typeof Replica.start>[2] = {}) {
  const upstream = new FakeProvider();
  const store = memoryStore();
  return { upstream, store, replica: await Replica.start(store, upstream, options) };
}

describe('oauthProxy while a login is under way', () => {
  it('does not take a decision with a form that is older than 15 minutes', async () => {
    const { replica } = await setUp();
    const clientId = await replica.register();
    const { request, cookie } = await replica.openConsent(clientId);
    passes(14 * MINUTE);
    const state = (await replica.allow(request, cookie)).searchParams.get('state');
    passes(2 * MINUTE);
    const late = await replica.post('/consent', { request, decision: 'allow' }, cookie);
    expect(late.status).toBe(403);
    expect((await replica.back(state, cookie)).status).toBe(302);
  });

  it('serves two logins in two tabs of one browser in any order, and never mixes their verifiers', async () => {
    const { replica, upstream } = await setUp();
    const [one, two] = [await replica.register(), await replica.register()];
    const first = await replica.openConsent(one);
    const second = await replica.openConsent(two, { cookie: first.cookie });
    const toFirst = await replica.allow(first.request, first.cookie);
    const toSecond = await replica.allow(second.request, first.cookie);
    const challenges: (string | null)[] = [];
    for (const url of [toSecond, toFirst]) {
      // The code of the other tab goes with the verifier of this one, which the provider refuses.
      const reply = await replica.back(
        url.searchParams.get('state'),
        first.cookie,
        'the code of the other tab',
      );
      expect(reply.status).toBe(302);
      challenges.push(url.searchParams.get('code_challenge'));
    }
    const digest = (verifier: string | null) =>
      createHash('sha256')
        .update(verifier ?? '')
        .digest('base64url');
    expect(upstream.verifiers.map(digest)).toEqual(challenges);
  });

  it('remembers the consent for one client only', async () => {
    const { replica } = await setUp();
    const [one, two] = [await replica.register(), await replica.register()];
    const { request, cookie } = await replica.openConsent(one);
    const reply = await replica.post('/consent', { request, decision: 'allow', remember: 'yes' }, cookie);
    const remembered = reply.headers.getSetCookie().map((one) => one.split(';', 1)[0]);
    const both = [cookie, ...remembered].join('; ');
    expect((await replica.openConsent(one, { cookie: both })).reply.status).toBe(302);
    expect((await replica.openConsent(two, { cookie: both })).reply.status).toBe(200);
    const forged = both.replace(/(consents-\w+=)(..)/, '$1xx');
    expect((await replica.openConsent(one, { cookie: forged })).reply.status).toBe(200);
  });

  it('says that a login has expired after a restart that lost it, and continues one that was not lost', async () => {
    const { replica, store, upstream } = await setUp();
    const begin = async () => {
      const { request, cookie } = await replica.openConsent(await replica.register());
      return { cookie, state: (await replica.allow(request, cookie)).searchParams.get('state') };
    };
    const kept = await begin();
    const next = await Replica.start(store, upstream);
    expect((await next.back(kept.state, kept.cookie)).status).toBe(302);
    const lost = await begin();
    const empty = await Replica.start(memoryStore(), upstream);
    const reply = await empty.back(lost.state, lost.cookie);
    expect(reply.status).toBe(400);
    expect(await reply.text()).toContain('This login has expired');
    expect(upstream.count('authorization_code')).toBe(1);
  });

  it('continues a login when the secret changes between any two of its steps', async () => {
    const { store, upstream } = await setUp();
    const before = await Replica.start(store, upstream, { secrets: [OLD_SECRET] });
    const during = await Replica.start(store, upstream, { secrets: [NEW_SECRET, OLD_SECRET] });
    const stages = [before, before, before, before, before, during, during, during, during, during];
    for (let changed = 0; changed <= 5; changed++) {
      const [a, b, c, d, e] = stages.slice(changed) as [Replica, Replica, Replica, Replica, Replica];
      const tokens = await tokensOf(e, [a, b, c, d]);
      expect(await during.check(tokens.access_token)).toMatchObject({ subject: 'alice' });
      expect((await during.refresh(tokens.clientId, tokens.refresh_token)).status).toBe(200);
    }
  });

  it('sends no code to a redirect URI that the document of the client has lost since', async () => {
    const upstream = new FakeProvider();
    const clientId = 'https://app.example.com/client.json';
    let redirects = ['https://app.example.com/callback'];
    const fetch: SafeFetch = async (url, init) =>
      String(url) === clientId
        ? Response.json(
            { client_id: clientId, client_name: 'App', redirect_uris: redirects },
            { headers: { 'cache-control': 'no-store' } },
          )
        : upstream.fetch(url, init);
    const replica = await Replica.start(memoryStore(), upstream, { fetch });
    const begin = async () => {
      const { request, cookie } = await replica.openConsent(clientId);
      return { cookie, state: (await replica.allow(request, cookie)).searchParams.get('state') };
    };
    const [first, second] = [await begin(), await begin()];
    expect((await replica.back(first.state, first.cookie)).status).toBe(302);
    redirects = ['https://app.example.com/other'];
    const later = performance.now() + 31_000;
    vi.useFakeTimers({ toFake: ['performance'] });
    vi.advanceTimersByTime(later);
    const reply = await replica.back(second.state, second.cookie);
    expect([reply.status, reply.headers.get('location')]).toEqual([400, null]);
    expect(await reply.text()).toContain('has removed the redirect_uri');
    expect(upstream.count('authorization_code')).toBe(1);
  });
});

describe('oauthProxy over time', () => {
  it('ends access tokens and logins by the clock, whichever way it jumps', async () => {
    const { replica } = await setUp({ accessTokenMs: 60 * MINUTE, maxAgeMs: 24 * 60 * MINUTE });
    const { access_token: token, refresh_token: refresh, clientId } = await tokensOf(replica);
    passes(-24 * 60 * MINUTE);
    expect(await replica.check(token)).toMatchObject({ subject: 'alice' });
    passes(24 * 60 * MINUTE + 61 * MINUTE);
    await expect(replica.check(token)).rejects.toMatchObject({ code: 'unauthorized' });
    const next = (await (await replica.refresh(clientId, refresh)).json()) as Tokens;
    expect(await replica.check(next.access_token)).toMatchObject({ subject: 'alice' });
  });

  it.each([
    ['do not expire', undefined],
    ['expire in ten years', 10 * 365 * 86_400],
  ])('asks a provider whose tokens %s about each login once a day', async (_, expiresIn) => {
    const { replica, upstream } = await setUp({ accessTokenMs: 60 * MINUTE });
    upstream.expiresIn = expiresIn;
    const { refresh_token: first, clientId } = await tokensOf(replica);
    const refresh = async (token: string) =>
      (await (await replica.refresh(clientId, token)).json()) as Tokens;
    const second = await refresh(first);
    expect(upstream.count('refresh_token')).toBe(0);
    passes(25 * 60 * MINUTE);
    const third = await refresh(second.refresh_token);
    const fourth = await refresh(third.refresh_token);
    expect(upstream.count('refresh_token')).toBe(1);
    const auth = await replica.check(fourth.access_token);
    passes(25 * 60 * MINUTE);
    // While the provider fails, its tokens can still be used: they have not expired.
    upstream.isDown = true;
    expect((await replica.refresh(clientId, fourth.refresh_token)).status).toBe(503);
    expect(await replica.proxy.upstreamToken(auth)).toBe('upstream-access-2');
    upstream.isDown = false;
    upstream.isRevoked = true;
    const reply = await replica.refresh(clientId, fourth.refresh_token);
    expect([reply.status, await reply.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
    await expect(replica.check(fourth.access_token)).rejects.toMatchObject({ code: 'unauthorized' });
  });
});
