import { generateKeyPairSync } from 'node:crypto';
import { type ClientAuth, connect } from 'fullmcp/client';
import { clientCredentials, memoryTokenStore, oauth, privateKeyJwt } from 'fullmcp/oauth';
import { afterEach, describe, expect, it } from 'vitest';
import { findToken, type ProtectedOptions, startProtected } from '../../support/oauth/provider.js';
import { TestUser } from '../../support/oauth/user.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start(options?: ProtectedOptions) {
  const server = await startProtected(options);
  closing.push(server.close);
  return server;
}

async function open(url: string, auth: ClientAuth) {
  const client = await connect(url, { auth, revision: '2026-07-28' });
  closing.push(() => client.close());
  return client;
}

const machine = {
  client_id: 'nightly-report',
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
};

function withClient(client: object): ProtectedOptions {
  return { configure: (configuration) => ({ ...configuration, clients: [client] }) };
}

describe('clients without a user', () => {
  it('get a token with a secret, and another one when the server refuses it', async () => {
    const secret = 'a secret with-dashes/and+signs:of every kind';
    const server = await start(withClient({ ...machine, client_secret: secret }));
    const client = await open(
      server.url,
      clientCredentials({ clientId: machine.client_id, clientSecret: secret }),
    );
    expect((await client.callTool('read')).text).toBe('read');
    for (const token of server.issued) await (await findToken(server.provider, token))?.destroy();
    expect((await client.callTool('read')).text).toBe('read');
    expect(server.count('/token', 'client_credentials')).toBe(2);
  });

  it('get a token with a private key in PEM', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig' }] };
    const server = await start(
      withClient({ ...machine, token_endpoint_auth_method: 'private_key_jwt', jwks }),
    );
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
    const authentication = privateKeyJwt({ privateKey: pem, algorithm: 'ES256', keyId: 'one' });
    const client = await open(server.url, clientCredentials({ clientId: machine.client_id, authentication }));
    expect((await client.callTool('read')).text).toBe('read');
  });

  it('name the audience of their assertions, which a server refuses if it is another one', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig' }] };
    const server = await start(
      withClient({ ...machine, token_endpoint_auth_method: 'private_key_jwt', jwks }),
    );
    const openFor = (audience: string) => {
      const key = { ...privateKey.export({ format: 'jwk' }), alg: 'ES256', kid: 'one' };
      const authentication = privateKeyJwt({ privateKey: key, audience });
      return open(server.url, clientCredentials({ clientId: machine.client_id, authentication }));
    };
    const client = await openFor(`${server.issuer}/token`);
    expect((await client.callTool('read')).text).toBe('read');
    await expect(openFor('https://login.example')).rejects.toMatchObject({
      data: { error: 'invalid_client' },
    });
  });

  it('do not show their secret to another issuer than the first one', async () => {
    const client_secret = 'the secret of the client';
    const first = await start(withClient({ ...machine, client_secret }));
    const second = await start(withClient({ ...machine, client_secret }));
    const auth = clientCredentials({ clientId: machine.client_id, clientSecret: client_secret });
    const client = await open(first.url, auth);
    await client.callTool('read');
    for (const token of first.issued) await (await findToken(first.provider, token))?.destroy();
    first.mcp.issuer = second.issuer;
    const failure = await client.callTool('read').catch((error: unknown) => error as Error);
    expect((failure as Error).message).toContain(first.issuer);
    expect((failure as Error).message).toContain(second.issuer);
    expect(second.count('/token')).toBe(0);
  });

  it('report a wrong secret with the error of the server, and without the secret', async () => {
    const server = await start(withClient({ ...machine, client_secret: 'the right secret' }));
    const auth = clientCredentials({ clientId: machine.client_id, clientSecret: 'the wrong secret' });
    const failure = await open(server.url, auth).catch((error: unknown) => error as Error);
    expect(failure).toMatchObject({ code: 'unauthorized', data: { hop: 'token', error: 'invalid_client' } });
    expect((failure as Error).message).not.toContain('wrong secret');
  });
});

describe('oauth', () => {
  it('uses the key of stored DPoP tokens in the next run, also for a refresh', async () => {
    const server = await start({ scheme: 'DPoP' });
    const user = new TestUser();
    const store = memoryTokenStore();
    await (await open(server.url, oauth({ store, dpop: true, open: user.open }))).close();
    const [first] = server.issued;
    const { jkt } = (await server.provider.AccessToken.find(first as string)) ?? {};
    await (await server.provider.AccessToken.find(first as string))?.destroy();
    const client = await open(server.url, oauth({ store, dpop: true, open: user.open }));
    expect((await client.callTool('read')).text).toBe('read');
    expect(user.opened).toHaveLength(1);
    const second = await server.provider.AccessToken.find(server.issued.at(-1) as string);
    expect(second?.jkt).toBe(jkt);
    expect(jkt).toBeDefined();
  });

  it('logs in with a code that the user enters on another device', async () => {
    const server = await start();
    const user = new TestUser();
    const auth = oauth({
      flow: 'device',
      onEvent(event) {
        if (event.type === 'device code') void user.open(event.verificationUriComplete as string);
      },
    });
    const client = await open(server.url, auth);
    expect((await client.callTool('read')).text).toBe('read');
    expect(user.opened).toHaveLength(1);
  });

  it('pushes the request of the login where the server requires that, so that the browser shows none of it', async () => {
    const server = await start({
      configure: (configuration) => ({
        ...configuration,
        features: {
          ...configuration.features,
          pushedAuthorizationRequests: { enabled: true, requirePushedAuthorizationRequests: true },
        },
      }),
    });
    const user = new TestUser();
    const client = await open(server.url, oauth({ open: user.open }));
    expect((await client.callTool('read')).text).toBe('read');
    expect([...new URL(user.opened[0] as string).searchParams.keys()]).toEqual(['client_id', 'request_uri']);
    const [pushed] = server.seen.filter(({ path }) => path === '/request');
    expect(pushed?.form.get('resource')).toBe(server.url);
    expect(pushed?.form.get('code_challenge_method')).toBe('S256');
  });

  it('uses the secret of a registered client where the server has no logins of users', async () => {
    const client_secret = 'the secret of the client';
    let issuer = '';
    const server = await start({
      ...withClient({ ...machine, client_secret }),
      intercept(request, response) {
        if (!request.url?.startsWith('/.well-known/')) return false;
        const metadata = {
          issuer,
          token_endpoint: `${issuer}/token`,
          grant_types_supported: ['client_credentials'],
        };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata));
        return true;
      },
    });
    issuer = server.issuer;
    const user = new TestUser();
    const registered = { clientId: machine.client_id, clientSecret: client_secret };
    const client = await open(server.url, oauth({ open: user.open, registered }));
    expect((await client.callTool('read')).text).toBe('read');
    expect(user.opened).toEqual([]);
    expect(server.count('/token', 'client_credentials')).toBe(1);
  });
});
