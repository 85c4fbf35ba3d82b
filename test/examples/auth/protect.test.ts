import { generateKeyPairSync } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AuthProvider, hashApiKey } from 'fullmcp/auth';
import { connect } from 'fullmcp/client';
import { createHandler } from 'fullmcp/http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { edgeInTests, rulesInTests } from '../../../examples/protect/in-tests.js';
import { mint } from '../../../examples/protect/mint.js';
import * as providers from '../../../examples/protect/providers.js';
import { server } from '../../../examples/protect/server.js';
import { severalKinds } from '../../../examples/protect/several.js';

// Runs the code that docs/protect-a-server.md shows.

const url = 'https://mcp.example.com/mcp';
const secret = 's'.repeat(40);
const closing: (() => unknown)[] = [];

/** Tokens of an issuer on this computer. */
let issuer: string;
let sign: (claims: object) => Promise<string>;

beforeAll(async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' };
  const http = createHttpServer((request, response) => {
    const document = request.url?.startsWith('/.well-known/')
      ? { issuer, jwks_uri: `${issuer}/keys` }
      : { keys: [jwk] };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  closing.push(() => http.close());
  issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  sign = (claims) =>
    new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .setIssuer(issuer)
      .setExpirationTime('5m')
      .sign(privateKey);
});

afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

/** A client of the server, in this process. */
async function clientOf(auth: AuthProvider, headers: Record<string, string>) {
  const handle = createHandler(server, { auth, publicUrl: url });
  closing.push(() => handle.close({ deadlineMs: 0 }));
  const fetch: typeof globalThis.fetch = (input, init) => handle(new Request(input, init));
  return connect(url, { headers, fetch });
}

const bearing = (token: string) => ({ authorization: `Bearer ${token}` });

describe('the shortest protected server of the guide', () => {
  test('refuses callers without the key and with another one, and serves the one with it', async () => {
    vi.stubEnv('API_KEY', 'k'.repeat(64));
    vi.stubEnv('PORT', '0');
    const { serving } = await import('../../../examples/protect/shortest.js');
    vi.unstubAllEnvs();
    closing.push(serving.close);
    await expect(connect(serving.url)).rejects.toMatchObject({ code: 'unauthorized' });
    await expect(connect(serving.url, { auth: 'x'.repeat(64) })).rejects.toMatchObject({
      code: 'unauthorized',
    });
    await using ada = await connect(serving.url, { auth: 'k'.repeat(64) });
    expect((await ada.callTool('add_note', { text: 'engines' })).text).toBe('Noted for ada');
  });
});

describe('the providers of the guide', () => {
  test.each([
    ['Auth0', providers.withAuth0, 'https://example.eu.auth0.com/'],
    ['Clerk', providers.withClerk, 'https://example.clerk.accounts.dev'],
    [
      'Cognito',
      providers.withCognito,
      'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_AbCdEfGhI',
    ],
    [
      'Entra ID',
      providers.withEntra,
      'https://login.microsoftonline.com/8f1c0e2a-6f4d-4f43-9d0a-0c1b2a3d4e5f/v2.0',
    ],
    ['Keycloak', providers.withKeycloak, 'https://login.example.com/realms/staff'],
    ['Okta', providers.withOkta, 'https://example.okta.com/oauth2/aus1a2b3c4d5e6f7g8h9'],
    ['WorkOS', providers.withWorkos, 'https://example.authkit.app'],
  ])('send clients to %s', (_, make, expected) => {
    expect(make().resource?.authorizationServers).toEqual([expected]);
  });

  test('verify tokens of any OpenID provider, and name the scopes of the server', async () => {
    const auth = providers.withIssuer(issuer);
    expect(auth.resource?.scopes).toEqual(['notes:read', 'notes:write']);
    const token = await sign({ sub: 'ada', aud: url, scope: 'notes:write' });
    await using client = await clientOf(auth, bearing(token));
    expect((await client.callTool('add_note', { text: 'x' })).text).toBe('Noted for ada');
    const other = await sign({ sub: 'ada', aud: 'https://other.example.com', scope: 'notes:write' });
    await expect(clientOf(auth, bearing(other))).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('verify tokens with a public key of your own, and send clients nowhere', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const auth = providers.withOwnKeys(publicKey.export({ type: 'spki', format: 'pem' }) as string);
    expect(auth.resource).toBeUndefined();
    const token = await new SignJWT({ sub: 'ada', iss: 'my-gateway', aud: url, scope: 'notes:write' })
      .setProtectedHeader({ alg: 'ES256' })
      .setExpirationTime('1h')
      .sign(privateKey);
    await using client = await clientOf(auth, bearing(token));
    expect((await client.callTool('add_note', { text: 'x' })).text).toBe('Noted for ada');
  });

  test('accept tokens of a shared secret, and the headers of a gateway that knows the secret', async () => {
    const token = await mint(secret, url);
    await using ada = await clientOf(providers.withSecret(secret), bearing(token));
    expect((await ada.callTool('add_note', { text: 'x' })).text).toBe('Noted for ada');
    const named = { 'x-authenticated-user': 'bob', 'x-authenticated-scopes': 'notes:write' };
    const gateway = providers.withGateway(secret);
    await using bob = await clientOf(gateway, { ...named, 'x-gateway-secret': secret });
    expect((await bob.callTool('add_note', { text: 'x' })).text).toBe('Noted for bob');
    await expect(clientOf(gateway, named)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('are several at once, and leave the public tools to anonymous callers', async () => {
    const auth = severalKinds(issuer, url, await hashApiKey('key_of-the-nightly-report'));
    await using report = await clientOf(auth, bearing('key_of-the-nightly-report'));
    expect((await report.tools().all()).map(({ name }) => name)).toEqual(['about', 'read_notes']);
    const token = await sign({ sub: 'ada', aud: url, scope: 'notes:write' });
    await using ada = await clientOf(auth, bearing(token));
    expect((await ada.tools().all()).map(({ name }) => name)).toEqual(['about', 'add_note']);
    await using anybody = await clientOf(auth, {});
    expect((await anybody.tools().all()).map(({ name }) => name)).toEqual(['about']);
    await expect(anybody.callTool('read_notes')).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('ask about opaque tokens, and demand proofs of a key', () => {
    expect(providers.withIntrospection(issuer, secret).resource?.authorizationServers).toEqual([issuer]);
    expect(providers.withProofs(issuer)).toMatchObject({
      schemes: ['DPoP'],
      resource: { dpop: 'required' },
    });
  });
});

describe('the tests of the guide', () => {
  test('check the rules alone', async () => {
    await expect(rulesInTests()).resolves.toBeUndefined();
  });

  test('check the whole way with tokens of their own', async () => {
    await expect(edgeInTests()).resolves.toBeUndefined();
  });
});

test('the protected server of the README sends clients to its issuer', async () => {
  // A server that is closed cannot be served again.
  vi.resetModules();
  const { protect } = await import('../../../examples/protect/readme.js');
  vi.stubEnv('PORT', '0');
  const serving = await protect(issuer, url);
  vi.unstubAllEnvs();
  closing.push(serving.close);
  const local = `http://localhost:${serving.port}`;
  const refused = await fetch(`${local}/mcp`, { method: 'POST', body: '{}' });
  expect(refused.status).toBe(401);
  expect(refused.headers.get('www-authenticate')).toBe(
    'Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"',
  );
  const metadata = await fetch(`${local}/.well-known/oauth-protected-resource/mcp`);
  expect(await metadata.json()).toMatchObject({ resource: url, authorization_servers: [issuer] });
});
