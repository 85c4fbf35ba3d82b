import { once } from 'node:events';
import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AuthProvider, introspection, jwt } from 'fullmcp/auth';
import { connect } from 'fullmcp/client';
import { createNodeHandler } from 'fullmcp/node';
import { clientCredentials, oauth } from 'fullmcp/oauth';
import Provider, { type Configuration } from 'oidc-provider';
import { afterEach, describe, expect, it } from 'vitest';
import { modern } from '../../support/http/modern.js';
import { protectedServer } from '../../support/oauth/protected-server.js';
import { TestUser } from '../../support/oauth/user.js';

// A real authorization server, our server that verifies its tokens, and our client that logs in.

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Addresses {
  readonly issuer: string;
  readonly url: string;
}

async function setUp(accessTokenFormat: 'jwt' | 'opaque', auth: (addresses: Addresses) => AuthProvider) {
  const authorization = createHttpServer();
  const resource = createHttpServer();
  const issuer = await listen(authorization);
  const url = `${await listen(resource)}/mcp`;
  const seen: string[] = [];
  const provider = new Provider(issuer, configurationOf(url, accessTokenFormat)).callback();
  authorization.on('request', (request, response) => {
    seen.push(`${request.method} ${request.url?.split('?', 1)[0]}`);
    provider(request, response);
  });
  const made = auth({ issuer, url });
  const handler = createNodeHandler(protectedServer(), { auth: made });
  const sent: { readonly authorization: string; readonly dpop: string }[] = [];
  resource.on('request', (request, response) => {
    const { authorization: credentials = '', dpop = '' } = request.headers;
    sent.push({ authorization: credentials, dpop: String(dpop) });
    handler(request, response);
  });
  closing.push(() => handler.close({ deadlineMs: 0 }));
  const count = (path: string) => seen.filter((one) => one.endsWith(` ${path}`)).length;
  return { issuer, url, sent, count };
}

function configurationOf(resource: string, accessTokenFormat: string): Configuration {
  const credentials = { redirect_uris: [], response_types: [], grant_types: ['client_credentials'] };
  return {
    clients: [
      { client_id: 'robot', client_secret: 'robot-secret', ...credentials },
      { client_id: 'mcp-server', client_secret: 'server-secret', ...credentials },
    ],
    features: {
      registration: { enabled: true },
      clientCredentials: { enabled: true },
      dPoP: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({ scope: 'files:read', audience: resource, accessTokenFormat }),
      },
    },
    scopes: ['openid', 'offline_access', 'files:read'],
    clientDefaults: { grant_types: ['authorization_code', 'refresh_token'] },
    ttl: {
      AccessToken: 3600,
      ClientCredentials: 3600,
      RefreshToken: 3600,
      Grant: 3600,
      Session: 3600,
      Interaction: 600,
    },
    cookies: { keys: ['a test needs no secret'] },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: async () => ({ sub: id }) }),
  };
}

async function open(url: string, auth: Parameters<typeof connect>[1]) {
  const client = await connect(url, auth);
  closing.push(() => client.close());
  return client;
}

describe('a server that verifies the tokens of a real authorization server', () => {
  it.each(['2026-07-28', '2025-11-25'] as const)(
    'serves a user of our client who logs in, in revision %s',
    async (revision) => {
      const { url, count } = await setUp('jwt', ({ issuer, url: audience }) =>
        jwt({ issuer, audience, scopes: ['files:read'], requiredScopes: ['files:read'], typ: 'at+jwt' }),
      );
      const user = new TestUser();
      const client = await open(url, { auth: oauth({ open: user.open }), revision });
      const names = await Promise.all(
        Array.from({ length: 20 }, async () => (await client.callTool('me')).text),
      );
      expect(new Set(names).size).toBe(1);
      expect(names[0]).not.toBe('nobody');
      expect(user.opened).toHaveLength(1);
      expect(count('/jwks')).toBe(1);
    },
  );

  it.each(['2026-07-28', '2025-11-25'] as const)(
    'accepts only proofs of the key with a nonce, which our client makes by itself, in revision %s',
    async (revision) => {
      const { url, sent } = await setUp('jwt', ({ issuer, url: audience }) =>
        jwt({ issuer, audience, scopes: ['files:read'], dpop: 'required', dpopNonce: true }),
      );
      const user = new TestUser();
      const client = await open(url, { auth: oauth({ dpop: true, open: user.open }), revision });
      expect((await client.callTool('me')).text).not.toBe('nobody');
      expect(user.opened).toHaveLength(1);
      // A thief who has seen a whole request can repeat neither the request nor the token.
      const last = sent.findLast(({ dpop }) => dpop !== '');
      const { authorization = '', dpop = '' } = last ?? {};
      expect(authorization).toMatch(/^DPoP /);
      const replayed = await modern(url, 'tools/list', {}, { headers: { authorization, dpop } });
      expect(replayed.status).toBe(401);
      expect(replayed.headers['www-authenticate']).toMatch(/^DPoP .*error="invalid_dpop_proof".*algs="ES256/);
      const asBearer = authorization.replace('DPoP', 'Bearer');
      const stolen = await modern(url, 'tools/list', {}, { headers: { authorization: asBearer } });
      expect(stolen.status).toBe(401);
    },
  );

  it('sends the nonce with the challenge that asks for it', async () => {
    const { url, sent } = await setUp('jwt', ({ issuer, url: audience }) =>
      jwt({ issuer, audience, dpop: 'supported', dpopNonce: true }),
    );
    const auth = clientCredentials({ clientId: 'robot', clientSecret: 'robot-secret', dpop: true });
    const client = await open(url, { auth, revision: '2026-07-28' });
    expect((await client.callTool('me')).text).toBe('robot');
    const proofs = sent.filter(({ dpop }) => dpop !== '').map(({ dpop }) => payloadOf(dpop));
    expect(proofs[0]).not.toHaveProperty('nonce');
    expect(proofs.slice(1).every(({ nonce }) => typeof nonce === 'string')).toBe(true);
  });

  it('asks the authorization server about tokens that are not JWTs, also about bound ones', async () => {
    const { url, count } = await setUp('opaque', ({ issuer, url: audience }) =>
      introspection({
        issuer,
        audience,
        clientId: 'mcp-server',
        clientSecret: 'server-secret',
        dpop: 'supported',
        // This authorization server names no subject for a program that acts for itself.
        claims: { subject: ['sub', 'client_id'] },
      }),
    );
    for (const dpop of [false, true]) {
      const auth = clientCredentials({ clientId: 'robot', clientSecret: 'robot-secret', dpop });
      const client = await open(url, { auth, revision: '2026-07-28' });
      const names = await Promise.all(
        Array.from({ length: 5 }, async () => (await client.callTool('me')).text),
      );
      expect(new Set(names)).toEqual(new Set(['robot']));
    }
    expect(count('/token/introspection')).toBe(2);
  });
});

function payloadOf(proof: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(proof.split('.')[1] ?? '', 'base64url').toString());
}
