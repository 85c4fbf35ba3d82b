import { describe, expect, it } from 'vitest';
import { Browser, nextOf } from '../../../support/oauth/proxy-flow.js';
import { proxySetup } from '../../../support/oauth/proxy-setup.js';

const setUp = proxySetup();

describe('oauthProxy against other sites and other browsers', () => {
  it('does not take a decision from another browser, however the form got there', async () => {
    const { flow } = await setUp();
    const attacker = new Browser('mallory');
    const request = await flow.openConsent(attacker, flow.attempt());
    const victim = new Browser();
    await flow.openConsent(victim, flow.attempt());
    for (const browser of [victim, new Browser()]) {
      const forged = await browser.post(`${flow.base}/consent`, { request, decision: 'allow' });
      expect(forged.status).toBe(403);
      expect(await forged.text()).toContain('This form cannot be used');
    }
  });

  it('does not take a decision from a form of another site', async () => {
    const { flow } = await setUp();
    const browser = new Browser();
    const request = await flow.openConsent(browser, flow.attempt());
    const send = (headers: Record<string, string>) =>
      browser.post(`${flow.base}/consent`, { request, decision: 'allow' }, headers);
    expect((await send({ origin: 'https://evil.example' })).status).toBe(403);
    expect((await send({ origin: 'null' })).status).toBe(403);
    expect((await send({ 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await send({ 'sec-fetch-site': 'same-site' })).status).toBe(403);
    expect((await send({ origin: new URL(flow.base).origin, 'sec-fetch-site': 'same-origin' })).status).toBe(
      200,
    );
  });

  it('does not take a decision with a request that was changed, or that is another sealed value', async () => {
    const { flow } = await setUp();
    const browser = new Browser();
    const request = await flow.openConsent(browser, flow.attempt());
    const last = request.at(-1) === 'A' ? 'B' : 'A';
    const { refresh_token: refreshToken } = await flow.tokens();
    for (const forged of [`${request.slice(0, -1)}${last}`, '', 'x.y.z', 'x'.repeat(60_000), refreshToken]) {
      const reply = await browser.post(`${flow.base}/consent`, { request: forged, decision: 'allow' });
      expect(reply.status).toBe(403);
    }
  });

  it('cannot be framed, loads nothing, and is never cached', async () => {
    const { flow } = await setUp();
    const page = await fetch(flow.authorizeUrl(flow.attempt()));
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("form-action 'self'");
    expect(policy).not.toContain('unsafe');
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('access-control-allow-origin')).toBeNull();
    expect(page.headers.getSetCookie().join()).toMatch(/HttpOnly; SameSite=Lax/);
  });

  it('does not finish a login in the browser of a victim that an attacker began in their own', async () => {
    const { flow, upstream } = await setUp();
    const attacker = new Browser('mallory');
    const upstreamUrl = await flow.allow(attacker, flow.attempt());
    // The victim follows the link of the attacker, logs in, and is sent to our callback.
    const victim = new Browser('alice');
    const callback = await flow.logIn(victim, upstreamUrl);
    const reply = await victim.fetch(callback);
    expect(reply.status).toBe(403);
    expect(await reply.text()).toContain('This login began in another browser');
    // Nor if the victim has a login of their own under way.
    await flow.allow(victim, flow.attempt());
    expect((await victim.fetch(callback)).status).toBe(403);
    expect(upstream.count('/token', 'authorization_code')).toBe(0);
  });

  it('does not log a victim in as the attacker, whose callback the victim is made to open', async () => {
    const { flow } = await setUp();
    const attacker = new Browser('mallory');
    const callback = await flow.logIn(attacker, await flow.allow(attacker, flow.attempt()));
    expect((await new Browser().fetch(callback)).status).toBe(403);
  });

  it('accepts a callback once', async () => {
    const { flow } = await setUp();
    const browser = new Browser();
    const callback = await flow.logIn(browser, await flow.allow(browser, flow.attempt()));
    const replies = await Promise.all([browser.fetch(callback), browser.fetch(callback)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([302, 400]);
    expect((await browser.fetch(callback)).status).toBe(400);
  });

  it('refuses a reply of another issuer than the provider, and tells the client nothing about it', async () => {
    const { flow, upstream } = await setUp();
    const browser = new Browser();
    const callback = new URL(await flow.logIn(browser, await flow.allow(browser, flow.attempt())));
    expect(callback.searchParams.get('iss')).toBe(upstream.issuer);
    callback.searchParams.set('iss', 'https://evil.example');
    const location = new URL((await browser.fetch(callback.href)).headers.get('location') as string);
    expect(location.searchParams.has('code')).toBe(false);
    expect(location.searchParams.get('error')).toBe('temporarily_unavailable');
    expect(location.searchParams.get('iss')).toBe(flow.base);
    expect(upstream.count('/token', 'authorization_code')).toBe(0);
  });

  it('sends the refusal of the user to the client, with state and issuer', async () => {
    const { flow } = await setUp();
    const browser = new Browser();
    const local = 'http://127.0.0.1:4000/callback';
    await flow.register({ redirect_uris: [local] });
    const request = await flow.openConsent(browser, flow.attempt({ redirect_uri: local }));
    const reply = await browser.post(`${flow.base}/consent`, { request, decision: 'deny' });
    const to = new URL(nextOf(await reply.text()));
    expect(`${to.origin}${to.pathname}`).toBe(local);
    expect(Object.fromEntries(to.searchParams)).toMatchObject({
      error: 'access_denied',
      state: 'the state of the client',
      iss: flow.base,
    });
  });

  it('shows what a client says about itself as text, never as HTML', async () => {
    const { flow } = await setUp();
    await flow.register({ client_name: `<script>alert("1")</script>'"><img src=x>\u202eevil\u0000` });
    const page = await (await fetch(flow.authorizeUrl(flow.attempt()))).text();
    for (const text of ['<script', '<img', '\u202e', '\u0000']) expect(page).not.toContain(text);
    expect(page).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;');
    expect(page).toContain('Nobody has verified it.');
  });
});
