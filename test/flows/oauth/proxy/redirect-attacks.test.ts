import { describe, expect, it } from 'vitest';
import { Browser, REDIRECT_URI } from '../../../support/oauth/proxy-flow.js';
import { proxySetup } from '../../../support/oauth/proxy-setup.js';

const setUp = proxySetup();

describe('oauthProxy against tricks with redirect URIs', () => {
  it('shows a page instead of redirecting to a URI that is not registered, character by character', async () => {
    const { flow } = await setUp();
    for (const uri of [
      'https://evil.example/callback',
      `${REDIRECT_URI}/`,
      `${REDIRECT_URI}/../evil`,
      `${REDIRECT_URI}?x=1`,
      `${REDIRECT_URI}#x`,
      'https://app.example.com:444/callback',
      'https://app.example.com.evil.example/callback',
      'https://app.example.com@evil.example/callback',
      'https://evil.example\\@app.example.com/callback',
      'HTTPS://app.example.com/callback',
      'https://APP.example.com/callback',
      'https://app.example.com/Callback',
      'https://app.example.com/%63allback',
      'https://app.example.com./callback',
      'https://app.example.com:443/callback',
      'https://app.example.com/callback%00',
      'https://app.example.com/callback%0d%0aLocation:%20https://evil.example',
      'https://app.example.com/callback\tx',
      'https://app\uff0eexample.com/callback',
      'https://app.ex\u0430mple.com/callback',
      'https://app.example.com/callback\u200b',
      'https://app.example.com\u2044@evil.example/callback',
      'https:app.example.com/callback',
      'https:///app.example.com/callback',
      'https://evil.example/?x=https://app.example.com/callback',
      'com.example.app:/callback',
      'http://app.example.com/callback',
      ' https://app.example.com/callback',
      '//app.example.com/callback',
      'javascript:alert(1)',
    ]) {
      const reply = await new Browser().fetch(flow.authorizeUrl(flow.attempt({ redirect_uri: uri })));
      expect([uri, reply.status, reply.headers.get('location')]).toEqual([uri, 400, null]);
      expect(await reply.text()).toContain('is not registered for the client');
    }
    const missing = await fetch(flow.authorizeUrl(flow.attempt({ redirect_uri: undefined })));
    expect(missing.status).toBe(400);
  });

  it('shows a page for a client that is not known, and for parameters that are there twice', async () => {
    const { flow } = await setUp();
    const open = (url: string) => new Browser().fetch(url);
    const unknown = await open(flow.authorizeUrl(flow.attempt({ client_id: 'nobody' })));
    expect([unknown.status, unknown.headers.get('location')]).toEqual([400, null]);
    const url = flow.authorizeUrl(flow.attempt());
    for (const twice of ['redirect_uri=https://evil.example/', 'client_id=x', 'scope=a&scope=b']) {
      const reply = await open(`${url}&${twice}`);
      expect([twice, reply.status, reply.headers.get('location')]).toEqual([twice, 400, null]);
    }
  });

  it('allows another port for an application on this computer, and nothing else that differs', async () => {
    const { flow } = await setUp();
    await flow.register({
      redirect_uris: ['http://127.0.0.1:5000/callback', 'http://localhost/cb?x=1', 'http://[::1]/six'],
    });
    const statusOf = async (uri: string) =>
      (await fetch(flow.authorizeUrl(flow.attempt({ redirect_uri: uri })), { redirect: 'manual' })).status;
    for (const uri of [
      'http://127.0.0.1:5000/callback',
      'http://127.0.0.1:49152/callback',
      'http://127.0.0.1/callback',
      'http://localhost:1234/cb?x=1',
      'http://[::1]:4000/six',
    ])
      expect([uri, await statusOf(uri)]).toEqual([uri, 200]);
    for (const uri of [
      'http://localhost:5000/callback',
      'http://127.0.0.1:5000/callback/',
      'http://127.0.0.1:5000/other',
      'https://127.0.0.1:5000/callback',
      'http://127.0.0.2:5000/callback',
      'http://127.0.0.1:5000@evil.example/callback',
      'http://127.0.0.1:99999/callback',
      'http://127.0.0.1.evil.example/callback',
      'http://127.0.0.1./callback',
      'http://127.1:5000/callback',
      'http://2130706433/callback',
      'http://0x7f.0.0.1/callback',
      'http://0.0.0.0:5000/callback',
      'http://[::ffff:127.0.0.1]:5000/callback',
      'http://[::1]:4000/callback',
      'http://[0:0:0:0:0:0:0:1]/six',
      'http://[::1%25eth0]/six',
      'http://LOCALHOST:1234/cb?x=1',
      'http://localhost.:1234/cb?x=1',
      'http://x.localhost:1234/cb?x=1',
      'http://localhost:1234\\@evil.example/cb?x=1',
      'http://127.0.0.1:5000/callback?',
      'http://127.0.0.1:/callback',
      'http://127.0.0.1:+80/callback',
      'http://localhost:1234/cb?x=2',
      'http://localhost:1234/cb?x=1#y',
    ])
      expect([uri, await statusOf(uri)]).toEqual([uri, 400]);
  });

  it('does not register redirect URIs that browsers interpret, or that lead elsewhere than they seem to', async () => {
    const { flow } = await setUp({ proxy: { redirectSchemes: ['cursor'] } });
    for (const uri of [
      'javascript:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      'file:///etc/passwd',
      'blob:https://app.example.com/x',
      'http://app.example.com/callback',
      'https://user:secret@app.example.com/',
      'https://@app.example.com/',
      'https://app.example.com/#fragment',
      'https://app.example.com\\evil/',
      'notdotted://callback',
      'cursor://user@host/x',
      'cursor://host/#x',
      '/callback',
      '',
      'https://app.example.com/\u0000',
      `https://app.example.com/${'x'.repeat(3000)}`,
    ])
      await expect(flow.register({ redirect_uris: [uri] }), uri).rejects.toThrow('invalid_redirect_uri');
    for (const uri of ['cursor://anysphere/callback', 'com.example.app:/callback'])
      await expect(flow.register({ redirect_uris: [uri] })).resolves.toBeDefined();
    await expect(flow.register({ redirect_uris: [] })).rejects.toThrow('invalid_redirect_uri');
    await expect(flow.register({ redirect_uris: Array(11).fill(REDIRECT_URI) })).rejects.toThrow('1 to 10');
  });

  const errors: [more: Record<string, string | undefined>, error: string][] = [
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ code_challenge: undefined }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ code_challenge_method: undefined }, 'invalid_request'],
    [{ code_challenge: 'short' }, 'invalid_request'],
    [{ resource: 'https://other.example/mcp' }, 'invalid_target'],
    [{ request_uri: 'https://evil.example/x' }, 'invalid_request'],
    [{ response_mode: 'fragment' }, 'invalid_request'],
  ];

  it('sends errors of a request to a client of the operator, or on this computer, with state and issuer', async () => {
    const known = { id: 'known-client', name: 'Known', redirectUris: [REDIRECT_URI] };
    const { flow } = await setUp({ proxy: { clients: [known] } });
    const local = 'http://127.0.0.1:4000/callback';
    const clientId = await flow.register({ redirect_uris: [local] });
    for (const [client_id, redirect_uri] of [
      [known.id, REDIRECT_URI],
      [clientId, local],
    ] as const)
      for (const [more, error] of errors) {
        const attempt = flow.attempt({ client_id, redirect_uri, ...more });
        const reply = await new Browser().fetch(flow.authorizeUrl(attempt));
        const location = new URL(reply.headers.get('location') as string);
        expect(`${location.origin}${location.pathname}`).toBe(redirect_uri);
        expect(location.searchParams.get('state')).toBe('the state of the client');
        expect(location.searchParams.get('iss')).toBe(flow.base);
        expect(location.searchParams.get('error')).toBe(error);
      }
  });

  it('does not send anyone to a website that registered itself, unless the user has agreed or clicks', async () => {
    const { flow } = await setUp();
    for (const [more, error] of errors) {
      const reply = await new Browser().fetch(flow.authorizeUrl(flow.attempt(more)));
      expect([reply.status, reply.headers.get('location')]).toEqual([400, null]);
      const page = await reply.text();
      expect(page).not.toContain('http-equiv="refresh"');
      expect(page).toContain('Go back to <bdi>app.example.com</bdi>');
      const [, link = ''] = /href="([^"]*)"/.exec(page) ?? [];
      const { searchParams } = new URL(link.replaceAll('&amp;', '&'));
      expect(Object.fromEntries(searchParams)).toMatchObject({ error, iss: flow.base });
    }
    const browser = new Browser();
    const request = await flow.openConsent(browser, flow.attempt());
    const denied = await browser.post(`${flow.base}/consent`, { request, decision: 'deny' });
    const page = await denied.text();
    expect(page).toContain('You did not allow the access');
    expect(page).not.toContain('http-equiv="refresh"');
    expect(page).toContain('error=access_denied');
  });
});
