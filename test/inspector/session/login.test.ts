import { memoryTokenStore } from 'fullmcp/oauth';
import { afterEach, expect, test } from 'vitest';
import { type ProtectedSetup, startProtected } from '../../support/oauth/provider.js';
import { TestUser } from '../../support/oauth/user.js';
import { type Rig, rig } from './rig.js';

// A login at a real authorization server, seen hop by hop.

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const store = memoryTokenStore;

async function setUp(kept = store()): Promise<{ server: ProtectedSetup; own: Rig; user: TestUser }> {
  const server = await startProtected();
  const own = rig({ loginStore: kept });
  closing.push(server.close, () => own[Symbol.asyncDispose]());
  return { server, own, user: new TestUser() };
}

/** Begins to connect, and returns the address at which the user logs in. */
async function begin(own: Rig, url: string): Promise<{ id: string; loginUrl: string }> {
  const id = await own.begin({ target: url });
  const loginUrl = await own.until('the page to log in', () => own.connection(id)?.auth.loginUrl);
  return { id, loginUrl };
}

const ready = (own: Rig, id: string): Promise<unknown> =>
  own.until(
    'the connection',
    () => own.connection(id)?.status === 'ready' && (own.connection(id)?.catalogVersion ?? 0) > 0,
  );

test('the page offers the login, each hop has its request and reply, and no secret is in them', async () => {
  const { server, own, user } = await setUp();
  const { id, loginUrl } = await begin(own, server.url);
  expect(own.connection(id)).toMatchObject({ status: 'connecting', auth: { state: 'logging-in' } });
  expect(user.opened).toEqual([]);
  await user.open(loginUrl);
  await ready(own, id);
  const { auth } = own.connection(id) ?? {};
  expect(auth?.state).toBe('logged-in');
  expect(auth?.loginUrl).toBeUndefined();
  expect(auth?.hops.map(({ name }) => name)).toEqual([
    'challenge',
    'resource metadata',
    'authorization server metadata',
    'registration',
    'authorization',
    'token',
  ]);
  for (const hop of auth?.hops ?? [])
    expect(hop).toMatchObject({ outcome: 'ok', request: { method: expect.any(String) } });
  const [challenge, , , , , token] = auth?.hops ?? [];
  expect(challenge?.reply?.status).toBe(401);
  expect(token?.request?.body).toContain('grant_type=authorization_code');
  expect(auth?.token).toMatchObject({
    canRefresh: true,
    issuer: server.issuer,
    scopes: ['mcp:read'],
  });

  const { story } = await own.run('call', { connection: id, tool: 'read', args: {} });
  expect((await own.ended(story)).state).toBe('ok');
  // Neither the tokens nor the code are in anything that the page can get.
  const secrets = [...server.issued, ...server.refreshTokens];
  expect(secrets.length).toBeGreaterThan(0);
  const everything =
    JSON.stringify(own.inspector.snapshot()) + JSON.stringify(own.events) + own.inspector.tape(id);
  for (const secret of secrets) expect(everything).not.toContain(secret);
  for (const { form } of server.seen)
    for (const name of ['code', 'code_verifier'])
      if (form.get(name)) expect(everything).not.toContain(form.get(name));
});

test('the token of a login is masked in messages that repeat it', async () => {
  const { server, own, user } = await setUp();
  const { id, loginUrl } = await begin(own, server.url);
  await user.open(loginUrl);
  await ready(own, id);
  const token = [...server.issued].at(-1) ?? '';
  expect(token.length).toBeGreaterThan(10);
  const { story } = await own.run('call', { connection: id, tool: 'read', args: { note: token } });
  await own.ended(story);
  const { messages } = own.inspector.snapshot();
  const texts = messages.map(({ seq }) => own.inspector.message(seq)?.text).join('\n');
  expect(texts).toContain('"note"');
  expect(texts).not.toContain(token);
});

test('a token that is kept just works', async () => {
  const kept = store();
  const { server, own, user } = await setUp(kept);
  const first = await begin(own, server.url);
  await user.open(first.loginUrl);
  await ready(own, first.id);
  const before = server.seen.length;

  const other = rig({ loginStore: kept });
  closing.push(() => other[Symbol.asyncDispose]());
  const id = await other.connect({ target: server.url });
  expect(other.connection(id)).toMatchObject({ status: 'ready', auth: { state: 'logged-in', hops: [] } });
  expect(other.connection(id)?.auth.token?.masked).toMatch(/…/);
  expect(server.seen.length).toBe(before);
});

test('forgetting a login forgets everything: the next connection begins at the first hop', async () => {
  const kept = store();
  const { server, own, user } = await setUp(kept);
  const { id, loginUrl } = await begin(own, server.url);
  await user.open(loginUrl);
  await ready(own, id);
  expect(server.count('/reg')).toBe(1);

  await own.run('forgetLogin', { connection: id });
  expect(own.connection(id)).toMatchObject({ status: 'closed', auth: { state: 'none', hops: [] } });
  expect(own.connection(id)?.auth.token).toBeUndefined();

  await own.run('reconnect', { connection: id });
  const again = await own.until('another login', () => own.connection(id)?.auth.loginUrl);
  expect(own.connection(id)?.auth.hops.map(({ name }) => name)).toEqual([
    'challenge',
    'resource metadata',
    'authorization server metadata',
    'registration',
    'authorization',
  ]);
  // The client has registered anew.
  expect(server.count('/reg')).toBe(2);
  await user.open(again);
  await ready(own, id);
});

test('tokens and registrations are gone from the store as well', async () => {
  const kept = store();
  const deleted: string[] = [];
  const written = new Set<string>();
  const watched = {
    ...kept,
    set: (key: string, value: string, options?: object) => {
      written.add(key);
      return kept.set(key, value, options);
    },
    delete: (key: string) => {
      deleted.push(key);
      return kept.delete(key);
    },
  };
  const { server, own, user } = await setUp(watched);
  const { id, loginUrl } = await begin(own, server.url);
  await user.open(loginUrl);
  await ready(own, id);
  await own.run('forgetLogin', { connection: id });
  expect(written.size).toBe(2);
  for (const key of written) expect(await kept.get(key)).toBeUndefined();
  expect(deleted.length).toBeGreaterThanOrEqual(2);
});

test('logging in again asks the user again', async () => {
  const { server, own, user } = await setUp();
  const { id, loginUrl } = await begin(own, server.url);
  await user.open(loginUrl);
  await ready(own, id);
  await own.run('login', { connection: id });
  const again = await own.until('another login', () => own.connection(id)?.auth.loginUrl);
  expect(again).not.toBe(loginUrl);
  await user.open(again);
  await ready(own, id);
  // The registration was kept.
  expect(server.count('/reg')).toBe(1);
});

test('a token that was given is used alone, decoded and masked', async () => {
  const { server, own } = await setUp();
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = `${part({ alg: 'none' })}.${part({ iss: 'https://login.example.com', exp: 2_000_000_000 })}.c2ln`;
  const id = await own.connect({ target: server.url, options: { auth: token } });
  const view = own.connection(id);
  expect(view).toMatchObject({
    status: 'failed',
    failure: { code: 'unauthorized' },
    auth: {
      state: 'token',
      token: {
        header: { alg: 'none' },
        claims: { iss: 'https://login.example.com' },
        expiresAt: 2_000_000_000_000,
      },
    },
  });
  expect(JSON.stringify(own.inspector.snapshot())).not.toContain(token);
  await expect(own.run('login', { connection: id })).rejects.toThrow('token that was given');
});

test('closing the connection ends a login that waits', async () => {
  const { server, own } = await setUp();
  const { id } = await begin(own, server.url);
  await own.run('disconnect', { connection: id });
  expect(own.connection(id)).toBeUndefined();
});
