import { expect, test } from 'vitest';
import {
  type AuthorizationServer,
  authorizationServerAddresses,
  discoverAuthorizationServer,
  requireS256,
} from '../../../../src/oauth/documents/authorization-server.js';
import { DocumentError } from '../../../../src/oauth/documents/document-error.js';
import { failureOf } from '../../../support/failure.js';
import { documentFetch } from '../../../support/http/document-fetch.js';

const ISSUER = 'https://as.example/tenant1';
const [OAUTH, OPENID, APPENDED] = authorizationServerAddresses(ISSUER) as [string, string, string];
const good = {
  issuer: ISSUER,
  authorization_endpoint: 'https://as.example/authorize?tenant=1',
  token_endpoint: 'https://as.example/token',
  code_challenge_methods_supported: ['S256'],
};

test('the addresses are those of the specification, in its order', () => {
  expect([OAUTH, OPENID, APPENDED]).toEqual([
    'https://as.example/.well-known/oauth-authorization-server/tenant1',
    'https://as.example/.well-known/openid-configuration/tenant1',
    'https://as.example/tenant1/.well-known/openid-configuration',
  ]);
  expect(authorizationServerAddresses('https://as.example/a/b/')).toEqual([
    'https://as.example/.well-known/oauth-authorization-server/a/b',
    'https://as.example/.well-known/openid-configuration/a/b',
    'https://as.example/a/b/.well-known/openid-configuration',
  ]);
  for (const issuer of ['https://as.example', 'https://as.example/']) {
    expect(authorizationServerAddresses(issuer)).toEqual([
      'https://as.example/.well-known/oauth-authorization-server',
      'https://as.example/.well-known/openid-configuration',
    ]);
  }
});

test.each([
  [{ [OAUTH]: good, [OPENID]: 500 }, 1],
  [{ [OPENID]: good }, 2],
  [{ [OAUTH]: 500, [OPENID]: new Response('<html>'), [APPENDED]: good }, 3],
])('the first address with a document is used, and the others are not asked', async (table, count) => {
  const { fetch, asked } = documentFetch(table);
  expect((await discoverAuthorizationServer(ISSUER, { fetch })).issuer).toBe(ISSUER);
  expect(asked).toEqual([OAUTH, OPENID, APPENDED].slice(0, count));
});

test('the bare root is never asked for an issuer with a path, and the error lists all replies', async () => {
  const { fetch, asked } = documentFetch({
    'https://as.example/.well-known/oauth-authorization-server': good,
    [OPENID]: 503,
  });
  const error = await failureOf(DocumentError, discoverAuthorizationServer(ISSUER, { fetch }));
  expect(asked).toEqual([OAUTH, OPENID, APPENDED]);
  expect(error).toMatchObject({
    code: 'not_found',
    hop: 'authorization server metadata',
    message: `The authorization server https://as.example/tenant1 does not have authorization server metadata: ${OAUTH} replied with 404; ${OPENID} replied with 503; ${APPENDED} replied with 404.`,
  });
});

test('members are kept as they are, and null means absent', async () => {
  const { fetch } = documentFetch({
    [OAUTH]: { ...good, scopes_supported: null, jwks_uri: null, other: { a: 1 }, ['__proto__']: { x: 1 } },
  });
  const server = await discoverAuthorizationServer(ISSUER, { fetch });
  expect(server).toMatchObject({ ...good, other: { a: 1 } });
  expect('scopes_supported' in server || 'jwks_uri' in server || 'x' in server).toBe(false);
});

test.each([
  'https://as.example/tenant1/',
  'https://AS.example/tenant1',
  'https://as.example:443/tenant1',
  'https://as.example/tenant%31',
  'https://honest.example',
  'https://as.example/tenant2',
])('the issuer %s is another issuer, and no other address is asked', async (issuer) => {
  const { fetch, asked } = documentFetch({ [OAUTH]: { ...good, issuer }, [OPENID]: good });
  const error = await failureOf(DocumentError, discoverAuthorizationServer(ISSUER, { fetch }));
  expect(error.code).toBe('issuer_mismatch');
  expect(error.message).toContain(JSON.stringify(issuer));
  expect(error.message).toContain(JSON.stringify(ISSUER));
  expect(asked).toHaveLength(1);
});

test('the named exception for an issuer is one exact text', async () => {
  const issuer = 'https://as.example/{tenantid}/v2.0';
  const { fetch } = documentFetch({ [OAUTH]: { ...good, issuer } });
  expect((await discoverAuthorizationServer(ISSUER, { fetch, publishedIssuer: issuer })).issuer).toBe(issuer);
  const wrong = discoverAuthorizationServer(ISSUER, { fetch, publishedIssuer: `${issuer}/` });
  expect((await failureOf(DocumentError, wrong)).code).toBe('issuer_mismatch');
  const strict = documentFetch({ [OAUTH]: good });
  const own = discoverAuthorizationServer(ISSUER, { fetch: strict.fetch, publishedIssuer: issuer });
  expect((await failureOf(DocumentError, own)).code).toBe('issuer_mismatch');
});

test.each([
  'http://as.example',
  'javascript:alert(1)',
  'https://10.0.0.1/',
  'https://as.example/?x',
  'https://as.example#x',
  'nonsense',
  'https://u:SECRET@as.example',
])('the issuer %s is refused before a request', async (issuer) => {
  const { fetch, asked } = documentFetch({});
  const error = await failureOf(DocumentError, discoverAuthorizationServer(issuer, { fetch }));
  expect(error.code).toBe('bad_document');
  expect(error.message).not.toContain('SECRET');
  expect(asked).toHaveLength(0);
});

test.each([
  ['authorization_endpoint', 'javascript:alert(1)//'],
  ['authorization_endpoint', 'file:///bin/sh'],
  ['authorization_endpoint', 'vscode://x'],
  ['authorization_endpoint', 'http://as.example/authorize'],
  ['authorization_endpoint', '/authorize'],
  ['token_endpoint', 'https://169.254.169.254/latest'],
  ['token_endpoint', 'http://127.0.0.1:6379/'],
  ['token_endpoint', 7],
  ['registration_endpoint', 'https://localhost/'],
  ['revocation_endpoint', 'https://user:SECRET@as.example/'],
  ['device_authorization_endpoint', ''],
  ['jwks_uri', 'data:application/json,{}'],
  ['code_challenge_methods_supported', 'S256'],
  ['grant_types_supported', [1]],
  ['client_id_metadata_document_supported', 'true'],
])('a document whose %s is %j is refused', async (name, value) => {
  const { fetch } = documentFetch({ [OAUTH]: { ...good, [name]: value } });
  const error = await failureOf(DocumentError, discoverAuthorizationServer(ISSUER, { fetch }));
  expect(error.code).toBe('bad_document');
  expect(error.message).toContain(`\`${name}\``);
  expect(error.message).not.toContain('SECRET');
});

test('endpoints on this computer need the option for it', async () => {
  const issuer = 'http://localhost:9000';
  const doc = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: 'http://127.0.0.1:9000/token',
  };
  const { fetch } = documentFetch({ [`${issuer}/.well-known/oauth-authorization-server`]: doc });
  expect(await discoverAuthorizationServer(issuer, { fetch, loopback: 'allow' })).toEqual(doc);
  expect((await failureOf(DocumentError, discoverAuthorizationServer(issuer, { fetch }))).code).toBe(
    'bad_document',
  );
});

test('PKCE with S256 is required, unless it is assumed for a server that does not say', () => {
  const server = (methods?: string[]): AuthorizationServer =>
    methods === undefined
      ? { issuer: ISSUER }
      : { issuer: ISSUER, code_challenge_methods_supported: methods };
  expect(() => requireS256(server(['plain', 'S256']))).not.toThrow();
  expect(() => requireS256(server(), { assumeS256: true })).not.toThrow();
  expect(() => requireS256(server())).toThrow(/does not say that it supports PKCE.*assumeS256/);
  for (const methods of [[], ['plain'], ['s256']]) {
    expect(() => requireS256(server(methods), { assumeS256: true })).toThrow(/does not support PKCE/);
  }
});
