import type { Store } from 'fullmcp';
import type { OAuthProxyOptions } from 'fullmcp/oauth-proxy';
import { expect, it } from 'vitest';
import type { Tokens } from './proxy-flow.js';
import {
  codeOf,
  FakeProvider,
  NEW_SECRET,
  OLD_SECRET,
  REDIRECT,
  Replica,
  tokensOf,
} from './proxy-replica.js';

// The behaviour of several replicas of the proxy that share one store, whatever the store is.

/** The tests of a kind of store. `open` makes an empty one, which the caller closes. */
export function proxyContract(open: () => Store | Promise<Store>): void {
  async function replicas(options?: Partial<OAuthProxyOptions>) {
    const store = await open();
    const upstream = new FakeProvider();
    const start = () => Replica.start(store, upstream, options);
    const [a, b, c] = await Promise.all([start(), start(), start()]);
    return { store, upstream, a, b, c };
  }

  it('serves each step of a login on another replica', async () => {
    const { a, b, c } = await replicas();
    const tokens = await tokensOf(c, [a, b, c, a]);
    expect(await b.check(tokens.access_token)).toMatchObject({ subject: 'alice', clientId: tokens.clientId });
    expect((await a.refresh(tokens.clientId, tokens.refresh_token)).status).toBe(200);
  });

  it('redeems a code at most once, whatever replica is asked, and then ends the login', async () => {
    const { a, b, c } = await replicas();
    const { form } = await codeOf([a, b, c, a]);
    const replies = await Promise.all([a, b, c, a, b, c].map((replica) => replica.post('/token', form)));
    expect(replies.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    for (const reply of replies) {
      if (reply.status !== 200) continue;
      const { access_token: token } = (await reply.json()) as Tokens;
      await expect(a.check(token)).rejects.toMatchObject({ code: 'unauthorized' });
    }
  });

  it('accepts a callback once, whatever replica is asked', async () => {
    const { a, b, c } = await replicas();
    const { path, cookie } = await codeOf([a, b, c, a]);
    for (const replica of [a, b, c])
      expect((await replica.send(path, { headers: { cookie } })).status).toBe(400);
  });

  it('serves parallel refreshes at all replicas, and ends the login when an old token is used', async () => {
    const { a, b, c } = await replicas();
    const { clientId, refresh_token: first } = await tokensOf(a);
    const replies = await Promise.all([a, b, c].map((replica) => replica.refresh(clientId, first)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    const second = (await replies[0]?.json()) as Tokens;
    const third = (await (await b.refresh(clientId, second.refresh_token)).json()) as Tokens;
    expect((await c.refresh(clientId, first)).status).toBe(400);
    expect((await a.refresh(clientId, third.refresh_token)).status).toBe(400);
    await expect(b.check(third.access_token)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('refreshes the tokens of the provider once for all replicas', async () => {
    const { a, b, c, upstream } = await replicas();
    upstream.expiresIn = 1;
    const { access_token: token } = await tokensOf(a);
    upstream.expiresIn = 3600;
    const auth = await a.check(token);
    const askers = [a, b, c, a, b, c, a, b, c];
    const tokens = await Promise.all(askers.map(({ proxy }) => proxy.upstreamToken(auth)));
    expect(new Set(tokens)).toEqual(new Set(['upstream-access-2']));
    expect(upstream.count('refresh_token')).toBe(1);
  });

  it('keeps a login while the provider fails, and its refresh token', async () => {
    const { a, b, upstream } = await replicas();
    upstream.expiresIn = 1;
    const { clientId, refresh_token: token } = await tokensOf(a);
    upstream.isDown = true;
    for (const replica of [a, b]) expect((await replica.refresh(clientId, token)).status).toBe(503);
    upstream.isDown = false;
    expect((await b.refresh(clientId, token)).status).toBe(200);
  });

  it('asks a provider without refresh tokens whether a login is still valid, and otherwise limits its age', async () => {
    const store = await open();
    const upstream = new FakeProvider();
    upstream.hasRefreshTokens = false;
    let isValid = true;
    const asking = await Replica.start(store, upstream, {
      upstream: { ...upstream.provider, isValid: () => isValid },
    });
    const asked = await tokensOf(asking);
    const next = (await (await asking.refresh(asked.clientId, asked.refresh_token)).json()) as Tokens;
    isValid = false;
    expect((await asking.refresh(asked.clientId, next.refresh_token)).status).toBe(400);
    await expect(asking.check(next.access_token)).rejects.toMatchObject({ code: 'unauthorized' });
    const limiting = await Replica.start(store, upstream, { unverifiedMaxAgeMs: 1 });
    const old = await tokensOf(limiting);
    await expect.poll(async () => (await limiting.refresh(old.clientId, old.refresh_token)).status).toBe(400);
  });

  it('ends a login at every replica when it is revoked at one', async () => {
    const { a, b, c } = await replicas();
    const tokens = await tokensOf(a);
    for (const replica of [a, b, c]) await replica.check(tokens.access_token);
    const form = { client_id: tokens.clientId, token: tokens.access_token };
    expect((await b.post('/revoke', form)).status).toBe(200);
    for (const replica of [a, b, c])
      await expect
        .poll(() => replica.check(tokens.access_token).then(String, (error: { code: string }) => error.code))
        .toBe('unauthorized');
    expect((await c.refresh(tokens.clientId, tokens.refresh_token)).status).toBe(400);
  });

  it('counts the registrations of all replicas together', async () => {
    const { a, b, c } = await replicas({ maxRegistrationsPerHour: 4 });
    const body = JSON.stringify({ redirect_uris: [REDIRECT] });
    const replies = await Promise.all(
      [a, b, c, a, b, c].map((replica) => replica.send('/register', { method: 'POST', body })),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(4);
  });

  it('accepts what was sealed with an old secret while the secret is in the list, and not after', async () => {
    const store = await open();
    const upstream = new FakeProvider();
    const before = await Replica.start(store, upstream, { secrets: [OLD_SECRET] });
    const during = await Replica.start(store, upstream, { secrets: [NEW_SECRET, OLD_SECRET] });
    const after = await Replica.start(store, upstream, { secrets: [NEW_SECRET] });
    const old = await tokensOf(before);
    expect(await during.check(old.access_token)).toMatchObject({ subject: 'alice' });
    const next = (await (await during.refresh(old.clientId, old.refresh_token)).json()) as Tokens;
    expect(await after.check(next.access_token)).toMatchObject({ subject: 'alice' });
    await expect(after.check(old.access_token)).rejects.toMatchObject({ code: 'unauthorized' });
    // The refresh has sealed the registration and the login again.
    expect((await after.refresh(old.clientId, next.refresh_token)).status).toBe(200);
  });
}
