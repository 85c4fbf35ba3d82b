import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { connect, type McpError } from 'fullmcp/client';
import { createNodeHandler } from 'fullmcp/node';
import { oauth } from 'fullmcp/oauth';
import { type OAuthProxy, openId } from 'fullmcp/oauth-proxy';
import { afterEach, describe, expect, test, vi } from 'vitest';
import * as examples from '../../../examples/protect/proxy.js';
import { server } from '../../../examples/protect/server.js';
import * as upstreams from '../../../examples/protect/upstreams.js';
import { freePort } from '../../support/free-port.js';
import { startUpstream, UPSTREAM_SECRET } from '../../support/oauth/proxied-server.js';
import { TestUser } from '../../support/oauth/user.js';

// Runs the code that docs/oauth-proxy.md shows.

const NAMES = [
  ...['Amazon Cognito', 'Auth0', 'Clerk', 'Discord', 'GitHub', 'GitLab', 'Google', 'Keycloak', 'Microsoft'],
  ...['Okta', 'WorkOS'],
];
const closing: (() => unknown)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closing.splice(0).reverse()) await close();
});

async function settingsAt(port: number, callback = '/callback'): Promise<examples.Settings> {
  const origin = `http://127.0.0.1:${port}`;
  const upstream = await startUpstream({ callbacks: [`${origin}${callback}`] });
  closing.push(upstream.close);
  return {
    issuer: upstream.issuer,
    clientId: 'proxy',
    clientSecret: UPSTREAM_SECRET,
    publicUrl: `${origin}/mcp`,
    secret: 'the secret of the notes, at least 32 characters',
  };
}

const optionsOf = ({ publicUrl, ...upstream }: examples.Settings) => ({
  publicUrl,
  upstream: openId({
    issuer: upstream.issuer,
    clientId: upstream.clientId,
    clientSecret: upstream.clientSecret,
  }),
  scopes: ['notes:read', 'notes:write'],
});

async function listenWith(auth: OAuthProxy, port: number): Promise<void> {
  const publicUrl = `http://127.0.0.1:${port}/mcp`;
  const http = createHttpServer(createNodeHandler(server, { auth, publicUrl, path: '/mcp' }));
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
  closing.push(() => {
    http.closeAllConnections();
    http.close();
  });
}

async function logIn(url: string) {
  const client = await connect(url, { auth: oauth({ open: new TestUser().open }) });
  closing.push(() => client.close());
  return client;
}

describe('the examples of docs/oauth-proxy.md', () => {
  test('log a user in at a server that is mounted in Express', async () => {
    const port = await freePort();
    const settings = await settingsAt(port, '/mcp/callback');
    const http = createHttpServer(examples.inExpress(optionsOf(settings)));
    await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
    closing.push(() => {
      http.closeAllConnections();
      http.close();
    });
    const client = await logIn(settings.publicUrl);
    expect((await client.tools().all()).map(({ name }) => name)).toContain('read_notes');
  });

  test('grant a user what the operator decides', async () => {
    const port = await freePort();
    const settings = await settingsAt(port);
    await listenWith(examples.forStaff(optionsOf(settings)), port);
    const client = await logIn(settings.publicUrl);
    expect((await client.tools().all()).map(({ name }) => name)).toEqual(['about', 'read_notes']);
  });

  test('know only the clients that the operator names', async () => {
    const port = await freePort();
    const settings = await settingsAt(port);
    await listenWith(examples.forOneClient(optionsOf(settings)), port);
    await expect(logIn(settings.publicUrl)).rejects.toThrow('does not let clients register themselves');
    const page = new URL(`http://127.0.0.1:${port}/authorize`);
    page.search = String(
      new URLSearchParams({
        client_id: 'assistant',
        redirect_uri: 'https://app.example.com/callback',
        response_type: 'code',
        code_challenge: 'c'.repeat(43),
        code_challenge_method: 'S256',
      }),
    );
    const consent = await (await fetch(page)).text();
    expect(consent).toContain('Our assistant');
    expect(consent).toContain('Registered by the operator of this server');
  });

  test('name the providers', async () => {
    const registration = { clientId: 'the client', clientSecret: 'the secret' };
    const { withGithub, ...providers } = upstreams;
    expect(withGithub(registration).callbackUrl).toBe('https://mcp.example.com/callback');
    const made = Object.values(providers).flatMap((make) => make(registration));
    expect(made.map(({ name }) => name).sort()).toEqual(NAMES);
    for (const { clientId } of made) expect(clientId).toBe('the client');
  });

  test('use the token of the provider only for a caller that has logged in there', async () => {
    const port = await freePort();
    const auth = examples.forStaff(optionsOf(await settingsAt(port)));
    await auth.start?.({
      shared: (await import('../../../src/state/memory/state-of-one.js')).stateOfOne(),
      secrets: undefined,
      log: () => undefined,
    });
    const client = await connect(examples.withUpstreamToken(auth), { caller: { subject: 'eve' } });
    closing.push(() => client.close());
    const error = (await client.callTool('today').catch((reason: unknown) => reason)) as McpError;
    expect(error).toMatchObject({ code: 'unauthorized' });
    expect(error.message).toContain('The login of the caller at the provider has ended');
  });

  // The last one, because `serve` closes the server at its end.
  test('log a user in through the proxy', async () => {
    const port = await freePort();
    vi.stubEnv('PORT', String(port));
    const settings = await settingsAt(port);
    const serving = await examples.start(settings);
    closing.push(serving.close);
    const client = await logIn(settings.publicUrl);
    expect((await client.callTool('add_note', { text: 'x' })).text).toBe('Noted for test');
  });
});

test('every test that the threat model names exists', async () => {
  const page = await readFile('docs/oauth-proxy.md', 'utf8');
  const named = [...page.matchAll(/`((?:flows|unit|browser)\/[\w/-]+\.test\.ts)`/g)].map(([, path]) => path);
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((path) => !existsSync(`test/${path}`))).toEqual([]);
});
