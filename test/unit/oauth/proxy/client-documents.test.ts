import type { IncomingMessage, ServerResponse } from 'node:http';
import { memoryStore } from 'fullmcp';
import { type OAuthProxy, type OAuthProxyOptions, oauthProxy, type SafeFetch } from 'fullmcp/oauth-proxy';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterEach, describe, expect, it } from 'vitest';
import { PUBLIC_ADDRESS, type PublicHosts, publicHosts } from '../../../support/http/public-hosts.js';

const ISSUER = 'https://mcp.example.com';
const CLIENT = 'https://app.public.example/client.json';
const REDIRECT = 'https://app.public.example/callback';
const document = { client_id: CLIENT, client_name: 'Public App', redirect_uris: [REDIRECT] };

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function setUp(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  {
    addresses,
    ...options
  }: Partial<OAuthProxyOptions> & { readonly addresses?: (name: string, lookup: number) => string[] } = {},
) {
  const hosts = await publicHosts(handle, addresses && { addresses });
  closing.push(hosts.close);
  const proxy = oauthProxy({
    upstream: {
      name: 'Fake',
      issuer: 'https://provider.public.example',
      clientId: 'proxy',
      endpoints: {
        authorization: 'https://provider.public.example/authorize',
        token: 'https://provider.public.example/token',
      },
      scopes: [],
      identify: () => ({ issuer: 'https://provider.public.example', subject: 'alice' }),
    },
    publicUrl: `${ISSUER}/mcp`,
    fetch: hosts.fetch,
    ...options,
  });
  const shared = {
    server: 'documents',
    store: memoryStore(),
    bus: () => undefined,
    eventLog: () => undefined,
  };
  await proxy.start?.({ shared, secrets: ['x'.repeat(32)], log: () => undefined });
  return { hosts, proxy };
}

function json(body: unknown, headers: Record<string, string> = {}) {
  return (_: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

async function authorize(proxy: OAuthProxy, clientId = CLIENT, redirectUri = REDIRECT): Promise<Response> {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
  });
  return (await proxy.handle?.(new Request(`${ISSUER}/authorize?${query}`))) as Response;
}

/** Expects an error page, and no connection to anything but public addresses. */
async function expectRefused(proxy: OAuthProxy, hosts: PublicHosts, clientId = CLIENT): Promise<string> {
  const reply = await authorize(proxy, clientId);
  expect([clientId, reply.status, reply.headers.get('location')]).toEqual([clientId, 400, null]);
  for (const address of hosts.dialled) expect(address).toBe(`${PUBLIC_ADDRESS}:443`);
  return reply.text();
}

describe('oauthProxy with client metadata documents', () => {
  it('shows the name and the host of a client that its document describes, and fetches the document once', async () => {
    const { hosts, proxy } = await setUp(json(document));
    const pages = await Promise.all([authorize(proxy), authorize(proxy)]);
    for (const page of [...pages, await authorize(proxy)]) {
      expect(page.status).toBe(200);
      const text = await page.text();
      expect(text).toContain('Public App');
      expect(text).toContain('Described by the website <bdi>app.public.example</bdi>');
    }
    expect(hosts.requests).toEqual(['GET app.public.example/client.json']);
  });

  it('sends a code only to a redirect URI of the document', async () => {
    const { proxy } = await setUp(json(document));
    const reply = await authorize(proxy, CLIENT, 'https://evil.public.example/callback');
    expect([reply.status, reply.headers.get('location')]).toEqual([400, null]);
  });

  it('never fetches a document from a private address, by its number or by its name', async () => {
    const addresses = (name: string) => (name.startsWith('inside') ? ['127.0.0.1'] : [PUBLIC_ADDRESS]);
    const { hosts, proxy } = await setUp(json(document), { addresses });
    for (const clientId of [
      'https://169.254.169.254/latest/meta-data',
      'https://127.0.0.1/client.json',
      'https://[::1]/client.json',
      'https://2130706433/client.json',
      'https://localhost/client.json',
      'https://inside.public.example/client.json',
      'https://app.public.example:443@169.254.169.254/client.json',
    ])
      await expectRefused(proxy, hosts, clientId);
    expect(hosts.requests).toEqual([]);
    expect(hosts.dialled).toEqual([]);
  });

  it('dials only an address that it has checked, when the second lookup of a name differs', async () => {
    const addresses = (_: string, lookup: number) => [lookup === 1 ? PUBLIC_ADDRESS : '169.254.169.254'];
    // The document cannot be used, so that it is fetched again the next time.
    const { hosts, proxy } = await setUp(json({ ...document, client_id: 'https://other.example/' }), {
      addresses,
    });
    await expectRefused(proxy, hosts);
    await expectRefused(proxy, hosts);
    expect(hosts.lookups).toHaveLength(2);
    expect(hosts.dialled).toEqual([`${PUBLIC_ADDRESS}:443`]);
  });

  it('does not follow a redirect of a document, and does not read one without an end', async () => {
    const redirecting = await setUp((_, response) => {
      response.writeHead(302, { location: 'https://169.254.169.254/latest' }).end();
    });
    await expectRefused(redirecting.proxy, redirecting.hosts);
    const endless = await setUp((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const timer = setInterval(() => response.write(' '.repeat(64 * 1024)), 1);
      response.on('close', () => clearInterval(timer));
    });
    await expectRefused(endless.proxy, endless.hosts);
    await endless.hosts.idle();
  });

  it('refuses documents that are not about their own URL, or that redirect to places which only look right', async () => {
    for (const wrong of [
      { ...document, client_id: 'https://app.public.example/other.json' },
      { ...document, client_name: undefined },
      { ...document, redirect_uris: ['javascript:alert(1)'] },
      { ...document, redirect_uris: ['http://app.public.example/callback'] },
      { ...document, client_secret: 'public' },
      { ...document, token_endpoint_auth_method: 'client_secret_basic' },
    ]) {
      const { hosts, proxy } = await setUp(json(wrong));
      await expectRefused(proxy, hosts);
    }
  });

  it('takes documents by the rules of the later draft, if the operator says so, or none at all', async () => {
    const root = 'https://app.public.example/';
    const byDraft = { client_id: root, redirect_uris: ['com.example.app:/callback'] };
    const strict = await setUp(json(byDraft));
    expect((await authorize(strict.proxy, root, 'com.example.app:/callback')).status).toBe(400);
    const draft = await setUp(json(byDraft), { clientDocuments: 'draft-02' });
    expect((await authorize(draft.proxy, root, 'com.example.app:/callback')).status).toBe(200);
    const none = await setUp(json(document), { clientDocuments: false });
    await expectRefused(none.proxy, none.hosts);
    expect(none.hosts.requests).toEqual([]);
  });

  /** A fetch whose replies come when the test says so. */
  function heldFetch(isHeld: (url: URL) => boolean) {
    const held: ((response: Response) => void)[] = [];
    const fetch: SafeFetch = (url) =>
      isHeld(new URL(url))
        ? new Promise((resolve) => held.push(resolve))
        : Promise.resolve(Response.json({ ...document, client_id: String(url) }));
    const release = () => {
      for (const reply of held) reply(new Response(null, { status: 404 }));
    };
    return { held, fetch, release };
  }

  it('limits the documents that are fetched at once', async () => {
    const { held, fetch, release } = heldFetch(() => true);
    const { proxy } = await setUp(json({}), { fetch });
    const replies = Array.from({ length: 21 }, (_, at) =>
      authorize(proxy, `https://app${at}.public.example/client.json`),
    );
    expect((await Promise.race(replies)).status).toBe(503);
    expect(held).toHaveLength(20);
    release();
    const statuses = (await Promise.all(replies)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([...Array(20).fill(400), 503]);
  });

  it('cannot be made to flood one host with requests for documents, or to wait for it alone', async () => {
    const { held, fetch, release } = heldFetch(({ host }) => host === 'slow.public.example');
    const { proxy } = await setUp(json({}), { fetch });
    const replies = Array.from({ length: 30 }, (_, at) =>
      authorize(proxy, `https://slow.public.example/${at}.json`),
    );
    expect((await Promise.race(replies)).status).toBe(503);
    expect(held).toHaveLength(4);
    expect((await authorize(proxy)).status).toBe(200);
    release();
    const statuses = (await Promise.all(replies)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 503)).toHaveLength(26);
    expect(held).toHaveLength(4);
  });

  it('demands the key of a client that has one, and accepts each assertion once', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] };
    const { proxy } = await setUp(json({ ...document, token_endpoint_auth_method: 'private_key_jwt', jwks }));
    const sign = (more: Record<string, unknown> = {}, key = privateKey) =>
      new SignJWT({ iss: CLIENT, sub: CLIENT, aud: ISSUER, jti: String(Math.random()), ...more })
        .setProtectedHeader({ alg: 'ES256' })
        .setExpirationTime((more['exp'] as number | undefined) ?? '1m')
        .sign(key);
    const statusOf = async (assertion: string | undefined) => {
      const form = new URLSearchParams({
        grant_type: 'refresh_token',
        client_id: CLIENT,
        refresh_token: 'x',
      });
      if (assertion !== undefined) {
        form.set('client_assertion', assertion);
        form.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
      }
      const request = new Request(`${ISSUER}/token`, { method: 'POST', body: form });
      const reply = (await proxy.handle?.(request)) as Response;
      return ((await reply.json()) as { error: string }).error;
    };
    expect(await statusOf(undefined)).toBe('invalid_client');
    const good = await sign();
    // The client is authenticated; only the refresh token is not one.
    expect(await statusOf(good)).toBe('invalid_grant');
    expect(await statusOf(good)).toBe('invalid_client');
    expect(await statusOf(await sign({ aud: `${ISSUER}/token` }))).toBe('invalid_grant');
    expect(await statusOf(await sign({ aud: 'https://other.example' }))).toBe('invalid_client');
    expect(await statusOf(await sign({ sub: 'https://other.example/x' }))).toBe('invalid_client');
    expect(await statusOf(await sign({ exp: Math.floor(Date.now() / 1000) + 86_400 }))).toBe(
      'invalid_client',
    );
    expect(await statusOf(await sign({ exp: Math.floor(Date.now() / 1000) - 86_400 }))).toBe(
      'invalid_client',
    );
    const other = await generateKeyPair('ES256');
    expect(await statusOf(await sign({}, other.privateKey))).toBe('invalid_client');
  });
});
