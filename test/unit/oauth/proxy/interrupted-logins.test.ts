import { createHash } from 'node:crypto';
import { memoryStore, type Store } from 'fullmcp';
import type { SafeFetch } from 'fullmcp/oauth-proxy';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Tokens } from '../../../support/oauth/proxy-flow.js';
import {
  codeOf,
  FakeProvider,
  ISSUER,
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

describe('oauthProxy with a store that fails', () => {
  /** A store whose write number `at` fails: before or after it was made. */
  function failing(at: number, isMade: boolean): Store {
    const inner = memoryStore();
    let count = 0;
    return {
      ...inner,
      async write(...args) {
        const isBroken = count++ === at;
        if (isBroken && !isMade) throw new Error('The store is down.');
        const written = await inner.write(...args);
        if (isBroken) throw new Error('The store does not respond.');
        return written;
      },
    };
  }

  // The writes of a login: the count and the client, the login, its use, the grant, its redemption, the client again.
  const writes = [0, 1, 2, 3, 4, 5, 6].flatMap((at) => [[at, false] as const, [at, true] as const]);

  it.each(writes)(
    'hands out at most one set of tokens, and reports the failure, when write %d fails (made: %s)',
    async (at, isMade) => {
      const upstream = new FakeProvider();
      const replica = await Replica.start(failing(at, isMade), upstream);
      const steps = [replica, replica, replica, replica] as const;
      const begun = await codeOf(steps).catch(() => undefined);
      if (begun !== undefined && begun.form.code !== null) {
        const replies = [await replica.post('/token', begun.form), await replica.post('/token', begun.form)];
        const given = replies.filter(({ status }) => status === 200);
        expect(given.length).toBeLessThanOrEqual(1);
        const { access_token: token } = (await given[0]?.json()) ?? ({} as Partial<Tokens>);
        // A second use ends what the first one got. One after a failure may be the first.
        if (given[0] === replies[0])
          await expect(replica.check(token)).rejects.toMatchObject({ code: 'unauthorized' });
        const other = replies.filter(({ status }) => status !== 200).map(({ status }) => status);
        for (const status of other) expect([400, 503]).toContain(status);
      }
      // Whatever happened, the next login works.
      const tokens = await tokensOf(replica, steps);
      expect(await replica.check(tokens.access_token)).toMatchObject({ subject: 'alice' });
      expect(replica.logs.join('\n')).not.toMatch(/upstream-|the code of the provider/);
      if (at < 5) expect(replica.logs.join('\n')).toMatch(/failed|used twice/);
    },
  );

  it('keeps the new tokens of the provider though the store fails for a moment', async () => {
    const inner = memoryStore();
    let failures = 0;
    const store: Store = {
      ...inner,
      write: (changes, options) => {
        const isGrant = changes.some((change) => 'key' in change && change.key.startsWith('oauth-grant'));
        if (isGrant && failures > 0) {
          failures--;
          return Promise.reject(new Error('The store is down.'));
        }
        return inner.write(changes, options);
      },
    };
    const upstream = new FakeProvider();
    const replica = await Replica.start(store, upstream);
    upstream.expiresIn = 1;
    const { access_token: token, clientId, refresh_token: refresh } = await tokensOf(replica);
    upstream.expiresIn = 3600;
    failures = 3;
    const auth = await replica.check(token);
    expect(await replica.proxy.upstreamToken(auth)).toBe('upstream-access-2');
    expect(failures).toBe(0);
    expect(upstream.count('refresh_token')).toBe(1);
    expect((await replica.refresh(clientId, refresh)).status).toBe(200);
  });

  it('says so when the store is full, and serves the logins that it has', async () => {
    const upstream = new FakeProvider();
    const store = memoryStore({ maxEntries: 20 });
    const replica = await Replica.start(store, upstream, { maxRegistrationsPerHour: 1000 });
    const { clientId, ...tokens } = await tokensOf(replica);
    const statuses = new Set<number>();
    for (let i = 0; i < 30; i++) {
      const body = JSON.stringify({ redirect_uris: ['https://app.example.com/callback'] });
      statuses.add((await replica.send('/register', { method: 'POST', body })).status);
    }
    expect([...statuses]).toEqual([201, 503]);
    expect(await replica.check(tokens.access_token)).toMatchObject({ subject: 'alice' });
    expect((await replica.refresh(clientId, tokens.refresh_token)).status).toBe(200);
    expect(replica.logs.join('\n')).toContain('The store is full');
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

describe('oauthProxy against forged tokens and floods', () => {
  it('accepts no token of its own in which any character differs', async () => {
    const { replica } = await setUp();
    const { access_token: access, refresh_token: refresh, clientId } = await tokensOf(replica);
    const changed = (text: string, at: number) =>
      `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
    for (let at = 'mcp_at_'.length; at < access.length; at++)
      await expect(replica.check(changed(access, at)), String(at)).rejects.toMatchObject({
        code: 'unauthorized',
      });
    for (let at = 0; at < refresh.length; at += 5)
      expect([at, (await replica.refresh(clientId, changed(refresh, at))).status]).toEqual([at, 400]);
    // None of this has ended the login.
    expect(await replica.check(access)).toMatchObject({ subject: 'alice' });
    expect((await replica.refresh(clientId, refresh)).status).toBe(200);
  });

  it('does not remember a check that was under way when the login ended', async () => {
    const inner = memoryStore();
    let release: (() => void) | undefined;
    const store: Store = {
      ...inner,
      async get(key) {
        const entry = await inner.get(key);
        const gate = release === undefined ? undefined : new Promise<void>((go) => (release = go));
        await gate;
        return entry;
      },
    };
    const replica = await Replica.start(store, new FakeProvider(), { recheckMs: 60_000 });
    const { access_token: token, clientId } = await tokensOf(replica);
    release = () => undefined;
    const begun = release;
    const checking = replica.check(token);
    await vi.waitFor(() => expect(release).not.toBe(begun));
    const go = release;
    release = undefined;
    expect((await replica.post('/revoke', { client_id: clientId, token })).status).toBe(200);
    go();
    await checking;
    await expect(replica.check(token)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('does not take the challenge itself for its verifier', async () => {
    const { replica } = await setUp();
    const { form } = await codeOf([replica, replica, replica, replica]);
    const challenge = createHash('sha256').update(form.code_verifier).digest('base64url');
    expect((await replica.post('/token', { ...form, code_verifier: challenge })).status).toBe(400);
  });

  it('keeps the registrations of a flood small and few', async () => {
    const written: number[] = [];
    const inner = memoryStore();
    const store: Store = {
      ...inner,
      write(changes, options) {
        for (const change of changes)
          if (change.do === 'put') written.push(JSON.stringify(change.value).length);
        return inner.write(changes, options);
      },
    };
    const replica = await Replica.start(store, new FakeProvider(), { maxRegistrationsPerHour: 500 });
    const uri = (length: number) => `https://app.example.com/${'x'.repeat(length)}`;
    const body = JSON.stringify({ redirect_uris: [uri(900), uri(901)], client_name: 'n'.repeat(60_000) });
    const statuses = new Map<number, number>();
    for (let i = 0; i < 1000; i++) {
      const { status } = await replica.send('/register', { method: 'POST', body });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect(Object.fromEntries(statuses)).toEqual({ 201: 500, 503: 500 });
    expect(Math.max(...written)).toBeLessThan(4096);
    const long = JSON.stringify({ redirect_uris: [uri(1200), uri(1201)] });
    expect((await replica.send('/register', { method: 'POST', body: long })).status).toBe(400);
  });

  it.each([
    ['nothing but blank letters', '\u3164\u2800\u115f\ufe0f', 'an application without a name'],
    ['a right-to-left override', 'Good\u202edlrow', 'Gooddlrow'],
    ['a wide gap', `Good${'\u00a0'.repeat(50)}\n\u2028by Example`, 'Good by Example'],
    ['hidden tags', 'Good\u{e0041}\u{e0042} app', 'Good app'],
    ['a pile of marks', `Go${'\u0301'.repeat(50)}od`, `Go${'\u0301'.repeat(3)}od`],
    ['lone surrogates', 'Good\ud800 app', 'Good app'],
    ['far too much text', 'word '.repeat(200), `${'word '.repeat(12).slice(0, 59)}…`],
  ])('shows a client name with %s as it looks', async (_, name, shown) => {
    const { replica } = await setUp();
    const { page } = await replica.openConsent(await replica.register({ client_name: name }));
    expect(page).toContain(`<strong><bdi>${shown}</bdi></strong>`);
    expect(page).toContain('Nobody has verified it.');
  });

  it('shows hosts that imitate others in the form that tells them apart', async () => {
    const { replica } = await setUp();
    // The first letter is Cyrillic.
    const redirect = `https://${new URL('https://\u0430pple.example').host}/callback`;
    const clientId = await replica.register({ redirect_uris: [redirect] });
    const { page } = await replica.openConsent(clientId, { redirect_uri: redirect });
    expect(page).toContain('xn--pple-43d.example');
    expect(page).not.toContain('\u0430pple');
    expect(new URL(ISSUER).host).toBe('mcp.example.com');
  });
});
