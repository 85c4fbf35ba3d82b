import { createHash } from 'node:crypto';
import { memoryStore, type Store } from 'fullmcp';
import { describe, expect, it, vi } from 'vitest';
import { codeOf, FakeProvider, ISSUER, Replica, tokensOf } from '../../../support/oauth/proxy-replica.js';

async function setUp(options: Parameters<typeof Replica.start>[2] = {}) {
  const upstream = new FakeProvider();
  const store = memoryStore();
  return { upstream, store, replica: await Replica.start(store, upstream, options) };
}

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
    const replica = await Replica.start(store, new FakeProvider(), { maxRegistrationsPerHour: 100 });
    const uri = (length: number) => `https://app.example.com/${'x'.repeat(length)}`;
    const body = JSON.stringify({ redirect_uris: [uri(900), uri(901)], client_name: 'n'.repeat(60_000) });
    const statuses = new Map<number, number>();
    for (let i = 0; i < 200; i++) {
      const { status } = await replica.send('/register', { method: 'POST', body });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect(Object.fromEntries(statuses)).toEqual({ 201: 100, 503: 100 });
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
