import { memoryStore, type Store } from 'fullmcp';
import { describe, expect, it } from 'vitest';
import { startProxied } from '../../../support/oauth/proxied-server.js';
import { Browser, callWith, ProxyFlow, type Tokens } from '../../../support/oauth/proxy-flow.js';
import { proxySetup } from '../../../support/oauth/proxy-setup.js';

const setUp = proxySetup();

async function codeOf(flow: ProxyFlow, browser = new Browser()) {
  const attempt = flow.attempt();
  const code = (await flow.complete(browser, attempt)).get('code') as string;
  return { code, verifier: attempt.verifier };
}

describe('oauthProxy against stolen codes and tokens', () => {
  it('does not accept a stolen code without its verifier, and burns the code', async () => {
    const { flow } = await setUp();
    for (const wrong of [undefined, 'x'.repeat(43), '']) {
      const { code, verifier } = await codeOf(flow);
      const stolen = await flow.redeem(code, verifier, { code_verifier: wrong });
      expect([stolen.status, await stolen.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
      expect((await flow.redeem(code, verifier)).status).toBe(400);
    }
  });

  it('does not accept the code of another client, or with another redirect URI', async () => {
    const { flow } = await setUp();
    const other = new ProxyFlow(flow.base);
    await other.register();
    const first = await codeOf(flow);
    expect((await other.redeem(first.code, first.verifier)).status).toBe(400);
    const second = await codeOf(flow);
    const wrong = { redirect_uri: 'https://app.example.com/other' };
    expect((await flow.redeem(second.code, second.verifier, wrong)).status).toBe(400);
    const third = await codeOf(flow);
    expect((await flow.redeem(third.code, third.verifier, { redirect_uri: undefined })).status).toBe(400);
  });

  it('revokes the tokens of a code that is used twice', async () => {
    const { flow, server } = await setUp();
    const { code, verifier } = await codeOf(flow);
    const tokens = (await (await flow.redeem(code, verifier)).json()) as Tokens;
    expect((await callWith(server.url, tokens.access_token)).status).toBe(200);
    expect((await flow.redeem(code, verifier)).status).toBe(400);
    expect((await callWith(server.url, tokens.access_token)).status).toBe(401);
    expect((await flow.refresh(tokens.refresh_token)).status).toBe(400);
    expect(server.logs.join('\n')).toContain('A code was used twice.');
  });

  it('gives tokens for a code to at most one of many that redeem it at once', async () => {
    const { flow } = await setUp();
    const { code, verifier } = await codeOf(flow);
    const replies = await Promise.all(Array.from({ length: 10 }, () => flow.redeem(code, verifier)));
    expect(replies.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
  });

  it('ends the login when a refresh token is used again after the grace', async () => {
    const { flow, server } = await setUp({ proxy: { refreshGraceMs: 1 } });
    const first = await flow.tokens();
    const second = (await (await flow.refresh(first.refresh_token)).json()) as Tokens;
    await expect
      .poll(async () => (await flow.refresh(first.refresh_token)).status, { timeout: 5000 })
      .toBe(400);
    expect((await flow.refresh(second.refresh_token)).status).toBe(400);
    expect((await callWith(server.url, second.access_token)).status).toBe(401);
    expect(server.logs.join('\n')).toContain('A refresh token was used again.');
  });

  it('repeats the reply to a refresh that was lost, and still notices a thief later', async () => {
    const { flow } = await setUp();
    const first = await flow.tokens();
    const lost = (await (await flow.refresh(first.refresh_token)).json()) as Tokens;
    const repeated = (await (await flow.refresh(first.refresh_token)).json()) as Tokens;
    // Both have the same rights: the one that is used first makes the other one old.
    const next = (await (await flow.refresh(repeated.refresh_token)).json()) as Tokens;
    await flow.refresh(next.refresh_token);
    expect((await flow.refresh(lost.refresh_token)).status).toBe(400);
    expect((await flow.refresh(next.refresh_token)).status).toBe(400);
  });

  it('serves parallel refreshes with one token, as several processes of one client send them', async () => {
    const { flow } = await setUp();
    const first = await flow.tokens();
    const replies = await Promise.all(Array.from({ length: 8 }, () => flow.refresh(first.refresh_token)));
    expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(200));
  });

  it('does not accept the refresh token of another client, and ends the login', async () => {
    const { flow } = await setUp();
    const other = new ProxyFlow(flow.base);
    await other.register();
    const { refresh_token: stolen } = await flow.tokens();
    expect((await other.refresh(stolen)).status).toBe(400);
    expect((await flow.refresh(stolen)).status).toBe(400);
  });

  it('does not let one client revoke the tokens of another', async () => {
    const { flow, server } = await setUp();
    const other = new ProxyFlow(flow.base);
    await other.register();
    const tokens = await flow.tokens();
    for (const token of [tokens.access_token, tokens.refresh_token, 'unknown', 'x.y.z'])
      expect((await other.post('revoke', { client_id: other.clientId, token })).status).toBe(200);
    expect((await callWith(server.url, tokens.access_token)).status).toBe(200);
  });

  it('issues tokens for this server only', async () => {
    const store: Store = { ...memoryStore(), close: async () => undefined };
    const { flow, server, upstream } = await setUp({ store });
    const { code, verifier } = await codeOf(flow);
    const wrong = await flow.redeem(code, verifier, { resource: 'https://other.example/mcp' });
    expect([wrong.status, await wrong.json()]).toMatchObject([400, { error: 'invalid_target' }]);
    const right = await flow.redeem(code, verifier, { resource: server.url });
    const { access_token: token, refresh_token: refresh } = (await right.json()) as Tokens;
    expect((await flow.refresh(refresh, { resource: 'https://other.example/' })).status).toBe(400);
    // A server with the same secret and the same store, at another address.
    const other = await startProxied(upstream.issuer, { store });
    try {
      expect((await callWith(other.url, token)).status).toBe(401);
      const there = new ProxyFlow(other.proxy.issuer);
      await there.register();
      expect((await there.refresh(refresh)).status).toBe(400);
    } finally {
      await other.close();
    }
  });

  it('does not accept a refresh token, a code or a changed token as an access token', async () => {
    const { flow, server } = await setUp();
    const { access_token: token, refresh_token: refresh } = await flow.tokens();
    const last = token.at(-1) === 'A' ? 'B' : 'A';
    for (const wrong of [
      refresh,
      `mcp_at_${refresh}`,
      `${token.slice(0, -1)}${last}`,
      'mcp_at_',
      'mcp_at_x.y.z',
    ])
      expect((await callWith(server.url, wrong)).status).toBe(401);
    expect((await flow.refresh(token)).status).toBe(400);
    expect((await flow.refresh(token.slice('mcp_at_'.length))).status).toBe(400);
  });

  it('does not grant more scopes with a refresh token than the user allowed', async () => {
    const { flow } = await setUp();
    const tokens = await flow.tokens(new Browser(), { scope: 'files:read' });
    const more = await flow.refresh(tokens.refresh_token, { scope: 'files:read files:write' });
    expect([more.status, await more.json()]).toMatchObject([400, { error: 'invalid_scope' }]);
    expect((await flow.refresh(tokens.refresh_token)).status).toBe(200);
  });

  it('keeps nothing readable in the store, and no secret in the log', async () => {
    const inner = memoryStore();
    const written: string[] = [];
    const store: Store = {
      ...inner,
      write: (changes, options) => {
        written.push(JSON.stringify(changes));
        return inner.write(changes, options);
      },
    };
    const { flow, server } = await setUp({ store });
    const browser = new Browser();
    const tokens = await flow.tokens(browser);
    const upstreamToken = (await callWith(server.url, tokens.access_token, 'upstream')).text;
    await flow.refresh(tokens.refresh_token);
    const everything = [...written, ...server.logs].join('\n');
    const secrets = [upstreamToken, tokens.access_token, tokens.refresh_token, ...browser.cookies.values()];
    for (const secret of [...secrets, 'alice', flow.clientId]) expect(everything).not.toContain(secret);
    expect(written.length).toBeGreaterThan(3);
  });

  it('answers 503, not 401, when the store fails, and works again after it', async () => {
    const inner = memoryStore();
    let isDown = false;
    const store: Store = {
      ...inner,
      get: (key) => (isDown ? Promise.reject(new Error('The store is down.')) : inner.get(key)),
      write: (...args) => (isDown ? Promise.reject(new Error('The store is down.')) : inner.write(...args)),
    };
    const { flow, server } = await setUp({ store, proxy: { recheckMs: 1 } });
    const tokens = await flow.tokens();
    isDown = true;
    expect((await callWith(server.url, tokens.access_token)).status).toBe(503);
    const refreshed = await flow.refresh(tokens.refresh_token);
    expect([refreshed.status, await refreshed.json()]).toMatchObject([
      503,
      { error: 'temporarily_unavailable' },
    ]);
    expect((await fetch(flow.authorizeUrl(flow.attempt()))).status).toBe(503);
    isDown = false;
    expect((await flow.refresh(tokens.refresh_token)).status).toBe(200);
    expect((await callWith(server.url, tokens.access_token)).status).toBe(200);
  });

  it('refuses bodies that are too large, and forms that are not forms', async () => {
    const { flow } = await setUp();
    const send = (endpoint: string, body: string, type: string) =>
      fetch(`${flow.base}/${endpoint}`, { method: 'POST', body, headers: { 'content-type': type } });
    const form = 'application/x-www-form-urlencoded';
    expect((await send('token', `grant_type=${'x'.repeat(100_000)}`, form)).status).toBeGreaterThanOrEqual(
      400,
    );
    expect((await send('token', '{}', 'application/json')).status).toBe(400);
    expect((await send('token', `client_id=${flow.clientId}&client_id=x`, form)).status).toBe(400);
    expect((await send('register', '[', 'application/json')).status).toBe(400);
    expect((await send('register', '"x"', 'application/json')).status).toBe(400);
    expect((await fetch(`${flow.base}/token`)).status).toBe(405);
  });

  it('limits the number of clients that register themselves', async () => {
    const { flow } = await setUp({ proxy: { maxRegistrationsPerHour: 3 } });
    await flow.register();
    await flow.register();
    await expect(flow.register()).rejects.toThrow('503');
  });
});
