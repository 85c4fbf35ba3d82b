import {
  memoryTokenStore,
  type OAuthEvent,
  type OAuthOptions,
  oauth,
  privateKeyJwt,
  type TokenStore,
} from 'fullmcp/oauth';
import { describe, expect, it } from 'vitest';
import { FakeWorld, ISSUER, SERVER } from '../../support/oauth/fake-world.js';

function setUp(world = new FakeWorld()) {
  const events: OAuthEvent[] = [];
  const login = (more: OAuthOptions = {}) =>
    oauth({
      fetch: world.fetch,
      redirectUri: 'http://127.0.0.1:9/callback',
      authorize: world.authorize,
      onEvent: (event) => events.push(event),
      ...more,
    });
  return { world, events, login };
}

/** A store whose disk is full while `isFull`. */
function fullDisk(isFull: () => boolean): TokenStore & { readonly inner: TokenStore } {
  const inner = memoryTokenStore();
  const full = () => Promise.reject(Object.assign(new Error('no space left'), { code: 'ENOSPC' }));
  return {
    ...inner,
    inner,
    set: (...args) => (isFull() ? full() : inner.set(...args)),
    delete: (key) => (isFull() ? full() : inner.delete(key)),
  };
}

const tokensKey = `tokens user ${SERVER}`;

describe('oauth with a token store that fails', () => {
  it.each([
    ['text that is not JSON', 'garbage {'],
    ['a value of another program', '{"a":1}'],
    [
      'tokens without an issuer',
      '{"accessToken":"x","clientId":"y","tokenType":"bearer","scopes":[],"asked":[]}',
    ],
    [
      'tokens with an end that is not a number',
      `{"issuer":"${ISSUER}","accessToken":"x","clientId":"y","tokenType":"bearer","scopes":[],"asked":[],"expiresAt":"soon"}`,
    ],
  ])('replaces %s, so that the next run need not log in', async (_, text) => {
    const { world, login } = setUp();
    const store = memoryTokenStore();
    await store.set(tokensKey, text);
    expect(await world.call(login({ store }))).toMatchObject({ status: 200 });
    expect(await world.call(login({ store }))).toMatchObject({ status: 200, attempts: 1 });
    expect(world.count('authorization_code')).toBe(1);
  });

  it('goes on with the tokens of a login that cannot be saved, and says so', async () => {
    const { world, events, login } = setUp();
    const store = fullDisk(() => true);
    const auth = login({ store });
    expect(await world.call(auth)).toMatchObject({ status: 200 });
    expect(await world.call(auth)).toMatchObject({ status: 200, attempts: 1 });
    const failed = events.filter((event) => event.type === 'not saved');
    // The registration, and the tokens.
    expect(failed).toHaveLength(2);
    expect(failed[0]?.message).toContain('The token store failed (ENOSPC)');
    expect(await store.inner.get(tokensKey)).toBeUndefined();
  });

  it('never uses a refresh token again whose successor could not be saved', async () => {
    const { world, login } = setUp();
    let isFull = false;
    const store = fullDisk(() => isFull);
    const auth = login({ store });
    await world.call(auth);
    isFull = true;
    for (let i = 0; i < 3; i++) {
      world.valid.clear();
      expect(await world.call(auth)).toMatchObject({ status: 200 });
    }
    isFull = false;
    world.valid.clear();
    expect(await world.call(auth)).toMatchObject({ status: 200 });
    const sent = world.seen.flatMap(({ form }) => form.get('refresh_token') ?? []);
    expect(sent).toHaveLength(4);
    expect(new Set(sent).size).toBe(4);
    expect(world.count('authorization_code')).toBe(1);
    // The last ones were saved again.
    expect(await world.call(login({ store }))).toMatchObject({ status: 200, attempts: 1 });
  });

  it('keeps the tokens, and revokes them, though the lock cannot be released', async () => {
    const { world, login } = setUp();
    const inner = memoryTokenStore();
    const store: TokenStore = {
      ...inner,
      async lock(key, options) {
        const release = await inner.lock(key, options);
        return async () => {
          await release();
          throw new Error('no space left');
        };
      },
    };
    const auth = login({ store });
    expect(await world.call(auth)).toMatchObject({ status: 200 });
    world.valid.clear();
    expect(await world.call(auth)).toMatchObject({ status: 200 });
    expect(world.count('refresh_token')).toBe(1);
    await auth.logout(SERVER);
    expect(world.count('/revoke')).toBe(2);
  });

  it('prefers the tokens that another process has saved since', async () => {
    const { world, login } = setUp();
    let isFull = true;
    const store = fullDisk(() => isFull);
    const auth = login({ store });
    await world.call(auth);
    isFull = false;
    await world.call(login({ store }));
    const refreshes = world.count('refresh_token');
    expect(await world.call(auth)).toMatchObject({ status: 200 });
    expect(world.count('refresh_token')).toBe(refreshes);
    expect(world.count('authorization_code')).toBe(2);
  });

  it('revokes tokens that could not be saved when the user logs out', async () => {
    const { world, login } = setUp();
    const store = fullDisk(() => true);
    const auth = login({ store: { ...store, delete: (key) => store.inner.delete(key) } });
    await world.call(auth);
    const [token] = world.valid;
    await auth.logout(SERVER);
    expect(world.seen.map(({ form }) => form.get('token'))).toContain(token);
    world.valid.clear();
    await world.call(auth);
    expect(world.count('authorization_code')).toBe(2);
  });
});

describe('oauth with a client that the user names', () => {
  const metadata = { registration_endpoint: undefined };

  it('asks for it once, refreshes with it, and knows it in the next run', async () => {
    const { world, login } = setUp();
    world.metadata = metadata;
    const store = memoryTokenStore();
    const asked: string[] = [];
    const askForClient = async (issuer: string) => {
      asked.push(issuer);
      return { clientId: 'by-hand', clientSecret: 'the secret of the client' };
    };
    const auth = login({ store, askForClient });
    await world.call(auth);
    world.valid.clear();
    expect(await world.call(auth)).toMatchObject({ status: 200 });
    expect(world.count('refresh_token')).toBe(1);
    world.valid.clear();
    const next = login({ store, askForClient });
    expect(await world.call(next)).toMatchObject({ status: 200 });
    expect(world.count('refresh_token')).toBe(2);
    await next.logout(SERVER);
    await world.call(login({ store, askForClient, redirectUri: 'http://127.0.0.1:10/callback' }));
    expect(asked).toEqual([ISSUER]);
    expect(world.count('authorization_code')).toBe(2);
  });

  it('asks again in the next run for one whose key cannot be saved', async () => {
    const { world, login } = setUp();
    world.metadata = metadata;
    const store = memoryTokenStore();
    const { privateKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, [
      'sign',
    ]);
    let asked = 0;
    const askForClient = async () => {
      asked++;
      return { clientId: 'by-hand', authentication: privateKeyJwt({ privateKey }) };
    };
    const auth = login({ store, askForClient });
    await world.call(auth);
    world.valid.clear();
    await world.call(auth);
    expect([asked, world.count('refresh_token')]).toEqual([1, 1]);
    world.valid.clear();
    await world.call(login({ store, askForClient }));
    expect([asked, world.count('authorization_code')]).toEqual([2, 2]);
    for (const { form } of world.seen.filter(({ path }) => path === '/token'))
      expect(form.get('client_assertion')).toMatch(/^ey/);
  });
});
