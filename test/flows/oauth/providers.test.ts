import { connect } from 'fullmcp/client';
import { memoryTokenStore, type OAuthEvent, type OAuthOptions, oauth } from 'fullmcp/oauth';
import { afterEach, describe, expect, it } from 'vitest';
import { entra } from '../../support/oauth/stand-ins/entra.js';
import { github } from '../../support/oauth/stand-ins/github.js';
import { google } from '../../support/oauth/stand-ins/google.js';
import { keycloak } from '../../support/oauth/stand-ins/keycloak.js';
import { type StandIn, startStandIn } from '../../support/oauth/stand-ins/stand-in.js';
import { TestUser } from '../../support/oauth/user.js';
import { until } from '../../support/until.js';

// Our client and the quirks of providers that people have.

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start(...provider: Parameters<typeof startStandIn>): Promise<StandIn> {
  const server = await startStandIn(...provider);
  closing.push(server.close);
  return server;
}

function login(options: OAuthOptions = {}) {
  const user = new TestUser();
  const events: OAuthEvent[] = [];
  const store = memoryTokenStore();
  const auth = oauth({ open: user.open, store, onEvent: (event) => events.push(event), ...options });
  const open = async ({ url }: StandIn) => {
    const client = await connect(url, { auth, revision: '2026-07-28' });
    closing.push(() => client.close());
    return client;
  };
  const fail = async (server: StandIn) => {
    const error = await open(server).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    return error as Error;
  };
  const tokens = async ({ url }: StandIn) =>
    JSON.parse((await store.get(`tokens user ${url}`)) ?? '{}') as Record<string, unknown>;
  return { user, events, auth, open, fail, tokens };
}

describe('oauth with Keycloak', () => {
  it('registers itself, logs in, refreshes with tokens for one use, and logs out', async () => {
    const server = await start(keycloak());
    const { user, auth, open, tokens } = login();
    const client = await open(server);
    const at = '/realms/mcp/protocol/openid-connect';
    for (let refreshes = 1; refreshes <= 3; refreshes++) {
      server.end(String((await tokens(server))['accessToken']));
      expect((await client.callTool('hello')).text).toBe('hello');
    }
    expect(user.opened).toHaveLength(1);
    const sent = server.sent(`${at}/token`);
    expect(sent.map((form) => form['grant_type'])).toEqual([
      'authorization_code',
      'refresh_token',
      'refresh_token',
      'refresh_token',
    ]);
    expect(new Set(sent.map((form) => form['resource']))).toEqual(new Set([server.url]));
    await auth.logout(server.url);
    expect(server.sent(`${at}/revoke`)).toHaveLength(2);
  });

  it('says what the server answered if it does not trust the host of the client', async () => {
    const server = await start(keycloak({ trustsHosts: false }));
    const { fail, user } = login();
    const error = await fail(server);
    expect(error).toMatchObject({ code: 'unauthorized', data: { hop: 'registration', status: 403 } });
    expect(error.message).toContain("Policy 'Trusted Hosts' rejected request");
    expect(user.opened).toEqual([]);
  });
});

describe('oauth with Entra ID', () => {
  const registered = { clientId: 'entra-client' };

  it('says that the client must be registered, and that PKCE is not announced, before a browser opens', async () => {
    const server = await start(entra());
    const { fail, user } = login({ registered });
    expect((await fail(server)).message).toContain('set `assumeS256` for this issuer');
    const issuers = { [server.issuer]: { assumeS256: true } };
    const unregistered = login({ issuers });
    expect((await unregistered.fail(server)).message).toContain('pass its id in the option `registered`');
    expect([...user.opened, ...unregistered.user.opened]).toEqual([]);
  });

  it('shows the answer to `resource`, and logs in without it', async () => {
    const server = await start(entra());
    const strict = login({ registered, issuers: { [server.issuer]: { assumeS256: true } } });
    const error = await strict.fail(server);
    expect(error.message).toContain('AADSTS9010010');
    await until(
      'the browser shows it',
      () => strict.user.lastPages.at(-1)?.includes('AADSTS9010010') === true,
    );

    const exceptions = { assumeS256: true, sendResource: false, parameters: { prompt: 'select_account' } };
    const { open } = login({ registered, issuers: { [server.issuer]: exceptions } });
    expect((await (await open(server)).callTool('hello')).text).toBe('hello');
    const [, asked] = server.asked.filter(({ path }) => path.endsWith('/authorize'));
    expect(asked?.query.get('scope')).toBe('api://mcp/tools.call offline_access');
    // Where users may not consent themselves, asking for the consent again would end the login.
    expect(asked?.query.get('prompt')).toBe('select_account');
    expect(asked?.query.has('resource')).toBe(false);
  });

  it('refuses the issuer of the tenant `common`, prints both values, and takes a named exception', async () => {
    const server = await start(entra({ tenant: 'common' }));
    const publishedIssuer = server.issuer.replace('common', '{tenantid}');
    const exceptions = { assumeS256: true, sendResource: false };
    const strict = login({ registered, issuers: { [server.issuer]: exceptions } });
    const { message } = await strict.fail(server);
    for (const text of [server.issuer, publishedIssuer, '`publishedIssuer`']) expect(message).toContain(text);
    const { open } = login({ registered, issuers: { [server.issuer]: { ...exceptions, publishedIssuer } } });
    expect((await (await open(server)).callTool('hello')).text).toBe('hello');
  });
});

describe('oauth with Google', () => {
  const registered = { clientId: 'google-client', clientSecret: 'google-secret' };

  it('keeps the refresh token that comes only once, and logs out though one token is revoked with the other', async () => {
    const server = await start(google);
    const parameters = { access_type: 'offline', prompt: 'consent' };
    const issuers = { [server.issuer]: { sendResource: false, parameters } };
    const { user, open, tokens, auth } = login({ registered, issuers });
    const client = await open(server);
    const first = await tokens(server);
    server.end(String(first['accessToken']));
    expect((await client.callTool('hello')).text).toBe('hello');
    const second = await tokens(server);
    expect(second['accessToken']).not.toBe(first['accessToken']);
    expect(second['refreshToken']).toBe(first['refreshToken']);
    expect(first['refreshToken']).toMatch(/^1\/\//);
    expect(user.opened).toHaveLength(1);
    expect(new URL(user.opened[0] as string).searchParams.has('offline_access')).toBe(false);
    await auth.logout(server.url);
    expect(server.sent('/revoke')).toHaveLength(2);
  });

  it('does not log in again because scopes come back under another name', async () => {
    const server = await start(google);
    const { user, open, events } = login({ registered });
    const client = await open(server);
    await client.callTool('hello');
    await client.callTool('hello');
    expect(user.opened).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'tokens')).toHaveLength(1);
  });
});

describe('oauth with GitHub', () => {
  const registered = { clientId: 'github-client', clientSecret: 'github-secret' };
  const issuersOf = ({ issuer }: StandIn) => ({
    [issuer]: {
      assumeS256: true,
      endpoints: {
        authorization: `${issuer}/authorize`,
        token: `${issuer}/access_token`,
        authentication: 'client_secret_post' as const,
      },
    },
  });

  it('says that there is no metadata, and logs in with endpoints that the program names', async () => {
    const server = await start(github());
    const { message } = await login({ registered }).fail(server);
    expect(message).toContain('does not have authorization server metadata');
    expect(message).toContain('`endpoints`');
    const { open, events } = login({ registered, issuers: issuersOf(server) });
    expect((await (await open(server)).callTool('hello')).text).toBe('hello');
    const [granted] = events.filter((event) => event.type === 'tokens');
    expect(granted).toMatchObject({ scopes: ['read:user', 'repo'], expiresAt: undefined });
  });

  it('reads errors that come with status 200, without the secret', async () => {
    const server = await start(github());
    const wrong = { clientId: 'github-client', clientSecret: 'a wrong secret' };
    const { fail, user } = login({ registered: wrong, issuers: issuersOf(server) });
    const error = await fail(server);
    expect(error).toMatchObject({ data: { hop: 'token', error: 'incorrect_client_credentials' } });
    expect(error.message).toContain('The client_id and/or client_secret passed are incorrect.');
    expect(error.message).not.toContain('wrong secret');
    await until('the browser shows it', () => user.lastPages.at(-1)?.includes('The login failed') === true);
  });
});
