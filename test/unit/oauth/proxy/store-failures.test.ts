import { memoryStore, type Store } from 'fullmcp';
import { describe, expect, it } from 'vitest';
import type { Tokens } from '../../../support/oauth/proxy-flow.js';
import { codeOf, FakeProvider, Replica, tokensOf } from '../../../support/oauth/proxy-replica.js';

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
      // The next login works in any case.
      const tokens = await tokensOf(replica, steps);
      expect(await replica.check(tokens.access_token)).toMatchObject({ subject: 'alice' });
      expect(replica.logs.join('\n')).not.toMatch(/upstream-|the code of the provider/);
      if (at < 5) expect(replica.logs.join('\n')).toMatch(/failed|used twice/);
    },
  );

  it.each([
    ['not made', false],
    ['made, but not confirmed', true],
  ])('lets a client repeat a refresh whose write was %s', async (_, isMade) => {
    const inner = memoryStore();
    let isFailing = false;
    const store: Store = {
      ...inner,
      async write(...args) {
        if (isFailing && !isMade) throw new Error('The store is down.');
        const written = await inner.write(...args);
        if (isFailing) throw new Error('The store does not respond.');
        return written;
      },
    };
    const replica = await Replica.start(store, new FakeProvider());
    const { clientId, refresh_token: first } = await tokensOf(replica);
    isFailing = true;
    expect((await replica.refresh(clientId, first)).status).toBe(503);
    isFailing = false;
    const second = (await (await replica.refresh(clientId, first)).json()) as Tokens;
    expect(await replica.check(second.access_token)).toMatchObject({ subject: 'alice' });
    expect((await replica.refresh(clientId, second.refresh_token)).status).toBe(200);
  });

  it('issues tokens though the registration of their client cannot be extended', async () => {
    const inner = memoryStore();
    let isFailing = false;
    const store: Store = {
      ...inner,
      write: (changes, options) =>
        isFailing && changes.some((change) => 'key' in change && change.key.startsWith('oauth-client'))
          ? Promise.reject(new Error('The store is down.'))
          : inner.write(changes, options),
    };
    const replica = await Replica.start(store, new FakeProvider());
    const { clientId, form } = await codeOf([replica, replica, replica, replica]);
    isFailing = true;
    const reply = await replica.post('/token', form);
    expect(reply.status).toBe(200);
    const { access_token: access, refresh_token: refresh } = (await reply.json()) as Tokens;
    expect(await replica.check(access)).toMatchObject({ subject: 'alice' });
    expect((await replica.refresh(clientId, refresh)).status).toBe(200);
    expect(replica.logs.join('\n')).toContain('could not be extended');
  });

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
