import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClientAuth, connect } from 'fullmcp/client';
import { oauth } from 'fullmcp/oauth';
import { afterEach, describe, expect, it } from 'vitest';
import * as machines from '../../../examples/login/machines.js';
import * as users from '../../../examples/login/users.js';
import { type ProtectedOptions, startProtected } from '../../support/oauth/provider.js';
import { entra } from '../../support/oauth/stand-ins/entra.js';
import { type Issued, type Provider, startStandIn } from '../../support/oauth/stand-ins/stand-in.js';
import { TestUser } from '../../support/oauth/user.js';
import { until } from '../../support/until.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start(options?: ProtectedOptions) {
  const server = await startProtected(options);
  closing.push(server.close);
  return server;
}

/** The function `oauth`, with a browser of the test. */
function loginOf(open: (url: string) => unknown): typeof oauth {
  return (options) => oauth({ ...options, open });
}

describe('the examples of docs/log-in.md', () => {
  it('log in with a browser', async () => {
    const { url } = await start();
    expect(await users.browser(url, loginOf(new TestUser().open))).toBe('read');
  });

  it('stay logged in with a folder', async () => {
    const { url } = await start();
    const folder = await mkdtemp(join(tmpdir(), 'fullmcp-login-'));
    closing.push(() => rm(folder, { recursive: true, force: true }));
    const user = new TestUser();
    for (const _ of ['first run', 'second run'])
      expect(await users.stored(url, loginOf(user.open), { folder, key: 'k'.repeat(32) })).toBe('read');
    expect(user.opened).toHaveLength(1);
  });

  it('log in with a code on another device', async () => {
    const { url } = await start();
    const user = new TestUser();
    const read = users.device(url, (line) => {
      const [, page, code] = /^Open (\S+) and enter (\S+)$/.exec(line) ?? [];
      void user.open(`${page}?user_code=${code}`);
    });
    expect(await read).toBe('read');
  });

  it('log in by pasting an address', async () => {
    const { url } = await start();
    const user = new TestUser();
    const read = users.headless(url, async (question) => {
      const [, page = ''] = /^Open (\S+)/.exec(question) ?? [];
      await user.open(page).catch(() => undefined);
      return user.visited.at(-1) as string;
    });
    expect(await read).toBe('read');
  });

  it('show which step has failed', async () => {
    const { url } = await start();
    const refuse = async (page: string) => {
      const { searchParams } = new URL(page);
      const back = new URL(searchParams.get('redirect_uri') as string);
      back.searchParams.set('error', 'access_denied');
      back.searchParams.set('state', searchParams.get('state') as string);
      back.searchParams.set('iss', new URL(page).origin);
      await fetch(back);
    };
    expect(await users.failing(url, loginOf(refuse))).toBe('authorization: access_denied');
  });

  it('show each step', async () => {
    const { url, issuer } = await start();
    expect(await users.watched(url, loginOf(new TestUser().open))).toEqual([
      `Waiting for you to log in at ${issuer}`,
      'You are logged in',
    ]);
  });

  it('log out', async () => {
    const server = await start();
    await users.leaving(server.url, loginOf(new TestUser().open));
    expect(server.count('/token/revocation')).toBe(2);
  });

  it('name the exceptions for a provider', async () => {
    const server = await startStandIn(entra());
    closing.push(server.close);
    expect(await users.exceptions(server.url, server.issuer, loginOf(new TestUser().open))).toBe('hello');
  });
});

describe('the examples of docs/machine-to-machine.md', () => {
  const registered = {
    client_id: 'nightly-report',
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
  };
  const withClient = (client: object): ProtectedOptions => ({
    configure: (configuration) => ({ ...configuration, clients: [{ ...registered, ...client }] }),
  });
  const call = async (url: string, auth: ClientAuth, tool = 'read') => {
    await using client = await connect(url, { auth });
    return (await client.callTool(tool)).text;
  };

  it('use a secret', async () => {
    const { url, issuer } = await start(withClient({ client_secret: 'the secret' }));
    expect(await machines.withSecret(url, issuer, 'the secret')).toBe('read');
  });

  it('use a private key', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig' }] };
    const server = await start(withClient({ token_endpoint_auth_method: 'private_key_jwt', jwks }));
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
    expect(await call(server.url, machines.withKey(server.issuer, pem))).toBe('read');
  });

  it('use proofs of possession', async () => {
    const server = await start({ ...withClient({ client_secret: 'the secret' }), scheme: 'DPoP' });
    expect(await call(server.url, machines.withProofs(server.issuer, 'the secret'))).toBe('read');
    const token = await server.provider.ClientCredentials.find(server.issued.at(-1) as string);
    expect(token?.jkt).toMatch(/^[\w-]{43}$/);
  });

  /** An authorization server that takes assertions, and an identity provider that issues them for ID tokens. */
  function assertions(origin: string, issued: Issued): Provider {
    return {
      issuer: origin,
      scopes: [],
      routes: {
        'GET /.well-known/oauth-authorization-server': () => ({
          json: { issuer: origin, token_endpoint: `${origin}/token` },
        }),
        'POST /token': ({ form }) =>
          form.get('assertion') === 'signed by somebody else'
            ? { json: { access_token: issued.token(), token_type: 'Bearer', expires_in: 300 } }
            : { status: 400, json: { error: 'invalid_grant' } },
        'POST /idp/token': ({ form }) =>
          form.get('subject_token') === 'the ID token'
            ? {
                json: {
                  access_token: 'signed by somebody else',
                  issued_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
                  token_type: 'N_A',
                },
              }
            : { status: 400, json: { error: 'invalid_request' } },
      },
    };
  }

  it('use the identity of a workload, read again for each token', async () => {
    const server = await startStandIn(assertions);
    closing.push(server.close);
    let reads = 0;
    const auth = machines.inCluster(async () => {
      reads++;
      return 'signed by somebody else';
    });
    expect(await call(server.url, auth, 'hello')).toBe('hello');
    await until('the assertion was read', () => reads === 1);
    expect(server.sent('/token')[0]).toMatchObject({ client_id: 'nightly-report' });
  });

  it('use the login at the identity provider of an enterprise', async () => {
    const server = await startStandIn(assertions);
    closing.push(server.close);
    const session = { idToken: async () => 'the ID token' };
    const auth = machines.inEnterprise(`${server.issuer}/idp/token`, session);
    expect(await call(server.url, auth, 'hello')).toBe('hello');
    expect(server.sent('/idp/token')[0]).toMatchObject({ audience: server.issuer, resource: server.url });
  });
});
