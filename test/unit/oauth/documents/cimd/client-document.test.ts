import { expect, test } from 'vitest';
import { fetchClientDocument } from '../../../../../src/oauth/documents/cimd/client-document.js';
import { checkClientUrl } from '../../../../../src/oauth/documents/cimd/client-id.js';
import { DocumentError } from '../../../../../src/oauth/documents/document-error.js';
import { failureOf } from '../../../../support/failure.js';
import { documentFetch } from '../../../../support/http/document-fetch.js';

const ID = 'https://app.example/client.json';
const good = {
  client_id: ID,
  client_name: 'An app',
  redirect_uris: ['http://127.0.0.1:3000/callback', 'https://app.example/cb'],
};
const both = ['mcp', 'draft-02'] as const;

test.each(both)('a document of the profile %s is read, with its defaults', async (profile) => {
  const { fetch, inits } = documentFetch({ [ID]: good });
  const { client } = await fetchClientDocument(ID, { fetch, profile });
  expect(client).toMatchObject({
    clientId: ID,
    name: 'An app',
    redirectUris: good.redirect_uris,
    grantTypes: ['authorization_code'],
    responseTypes: ['code'],
    tokenEndpointAuthMethod: 'none',
  });
  expect(inits[0]).toMatchObject({ redirect: 'error', maxBytes: 5120, timeoutMs: 5000 });
});

test.each(both)('the URLs that no profile allows are refused under %s before a request', (profile) => {
  for (const id of [
    'http://app.example/c',
    'app.example/c',
    'https://app.example',
    'https://app.example?x',
    'https://app.example/a/../c',
    'https://app.example/./c',
    'https://app.example/%2e%2E/c',
    'https://app.example/.%2e',
    'https://app.example/c#',
    'https://app.example/c#x',
    'https://u@app.example/c',
    'https://@app.example/c',
    'https://u:p@app.example/c',
    'https://app.example\\c',
    'https://app.example/ c',
    'https://app.example/c\n',
    ' https://app.example/c',
    'https:///c',
    'https://äpp.example/c',
    'https://app.example:99999/c',
    `https://app.example/${'x'.repeat(2048)}`,
    'javascript:https://x/',
  ]) {
    expect(() => checkClientUrl(id, profile), id).toThrow(DocumentError);
  }
  for (const id of [
    'https://app.example/c',
    'https://app.example:8443/a/b.json',
    'https://app.example/c?x=1',
    'https://app.example/a..b/c',
  ]) {
    expect(() => checkClientUrl(id, profile), id).not.toThrow();
  }
});

test('the path "/" is a path only for the later draft', () => {
  expect(() => checkClientUrl('https://app.example/', 'mcp')).toThrow(/no path/);
  expect(() => checkClientUrl('https://app.example/', 'draft-02')).not.toThrow();
});

test('a client without a name is refused only by the MCP profile, also if the name is invisible', async () => {
  for (const name of [undefined, '', '\u202e\u200b ']) {
    const { fetch } = documentFetch({ [ID]: { ...good, client_name: name } });
    expect((await failureOf(DocumentError, fetchClientDocument(ID, { fetch }))).message).toContain(
      '`client_name` is missing',
    );
    expect((await fetchClientDocument(ID, { fetch, profile: 'draft-02' })).client.name).toBeUndefined();
  }
});

test('a name loses the characters that could disguise it', async () => {
  const { fetch } = documentFetch({ [ID]: { ...good, client_name: ' Your\u202e Bank\u0000\n\u2028 ' } });
  expect((await fetchClientDocument(ID, { fetch })).client.name).toBe('Your Bank');
});

test.each(both)('redirect URIs that could leak a code are refused under %s', async (profile) => {
  for (const uri of [
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///x',
    'http://app.example/cb',
    'https://app.example/cb#x',
    'https://u:p@app.example/cb',
    'https://@app.example/cb',
    '/cb',
    'app',
    'http://10.0.0.1/cb',
    'http://localhost.evil.example/',
    'https://app.example\\@evil.example/',
    'https://app.example/ cb',
    'intent:x',
  ]) {
    const { fetch } = documentFetch({ [ID]: { ...good, redirect_uris: ['https://app.example/cb', uri] } });
    const error = await failureOf(DocumentError, fetchClientDocument(ID, { fetch, profile }));
    expect(error.code, uri).toBe('bad_document');
  }
  for (const uri of [
    'https://other.example/cb?x=1',
    'http://localhost/cb',
    'http://[::1]:1/cb',
    'http://127.0.0.1/',
  ]) {
    const { fetch } = documentFetch({ [ID]: { ...good, redirect_uris: [uri] } });
    expect((await fetchClientDocument(ID, { fetch, profile })).client.redirectUris).toEqual([uri]);
  }
});

test('a private-use scheme with a dot is allowed only by the later draft', async () => {
  const { fetch } = documentFetch({ [ID]: { ...good, redirect_uris: ['com.example.app:/cb'] } });
  expect((await fetchClientDocument(ID, { fetch, profile: 'draft-02' })).client.redirectUris).toEqual([
    'com.example.app:/cb',
  ]);
  expect((await failureOf(DocumentError, fetchClientDocument(ID, { fetch }))).message).toContain(
    'must use https',
  );
});

const key = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' };

test.each<[object, string]>([
  [{ client_id: undefined }, '`client_id` is missing'],
  [{ client_id: 'https://app.example:443/client.json' }, 'is not its own URL'],
  [{ client_id: 'https://bank.example/client.json' }, 'is not its own URL'],
  [{ redirect_uris: undefined }, 'at least one URI'],
  [{ redirect_uris: [] }, 'at least one URI'],
  [{ redirect_uris: 'https://app.example/cb' }, 'must be an array'],
  [{ client_secret: 's' }, '`client_secret` is not allowed'],
  [{ client_secret: null }, '`client_secret` is not allowed'],
  [{ client_secret_expires_at: 0 }, '`client_secret_expires_at` is not allowed'],
  [{ token_endpoint_auth_method: 'client_secret_basic' }, 'needs a shared secret'],
  [{ token_endpoint_auth_method: 'client_secret_jwt' }, 'needs a shared secret'],
  [{ token_endpoint_auth_method: 'private_key_jwt' }, 'needs `jwks` or `jwks_uri`'],
  [{ jwks: { keys: [key] }, jwks_uri: 'https://app.example/k' }, 'exclude each other'],
  [{ jwks: { keys: [{ ...key, d: 'd' }] } }, 'contains a secret key'],
  [{ jwks: { keys: [{ kty: 'oct', k: 'k' }] } }, 'not a public key'],
  [{ jwks: { keys: [] } }, '1 to 20 keys'],
  [{ jwks: { keys: [1] } }, '1 to 20 keys'],
  [{ jwks: [] }, '1 to 20 keys'],
  [{ jwks_uri: 'https://169.254.169.254/' }, '`jwks_uri` cannot be used'],
  [{ logo_uri: 'javascript:alert(1)' }, '`logo_uri` cannot be used'],
  [{ client_uri: 'http://app.example/' }, '`client_uri` cannot be used'],
  [{ tos_uri: 'file:///x' }, '`tos_uri` cannot be used'],
  [{ policy_uri: 1 }, '`policy_uri` must be a string'],
  [{ grant_types: 'authorization_code' }, '`grant_types` must be an array'],
])('a document with %j is refused', async (change, why) => {
  for (const profile of both) {
    const { fetch } = documentFetch({ [ID]: { ...good, ...change } });
    const error = await failureOf(DocumentError, fetchClientDocument(ID, { fetch, profile }));
    expect(error).toMatchObject({ code: 'bad_document', hop: 'client metadata document' });
    expect(error.message).toContain(why);
  }
});

test('a confidential client has public keys', async () => {
  const { fetch } = documentFetch({
    [ID]: { ...good, token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [key] } },
  });
  const { client } = await fetchClientDocument(ID, { fetch });
  expect([client.tokenEndpointAuthMethod, client.jwks]).toEqual(['private_key_jwt', { keys: [key] }]);
});

test.each([
  [404, 'not_found'],
  [201, 'not_found'],
  [304, 'not_found'],
  [503, 'unavailable'],
  [429, 'unavailable'],
])('the status %s is an error: %s', async (status, code) => {
  const body = status === 304 ? null : JSON.stringify(good);
  const { fetch } = documentFetch({ [ID]: new Response(body, { status }) });
  expect(await failureOf(DocumentError, fetchClientDocument(ID, { fetch }))).toMatchObject({
    code,
    message: expect.stringContaining(String(status)),
  });
});

test('a document must be labelled as JSON', async () => {
  const labelled =
    (type: string): (() => Response) =>
    () =>
      new Response(JSON.stringify(good), { headers: { 'content-type': type } });
  for (const type of ['application/json', 'Application/JSON; charset=utf-8', 'application/ld+json']) {
    const { fetch } = documentFetch({ [ID]: labelled(type) });
    expect((await fetchClientDocument(ID, { fetch })).client.clientId).toBe(ID);
  }
  for (const type of ['text/plain', 'text/html', 'application/json-seq', 'image/svg+json']) {
    const { fetch } = documentFetch({ [ID]: labelled(type) });
    expect((await failureOf(DocumentError, fetchClientDocument(ID, { fetch }))).message).toContain(
      'instead of application/json',
    );
  }
});

test.each([
  [{}, 300],
  [{ 'cache-control': 'max-age=600' }, 600],
  [{ 'cache-control': 'public, MAX-AGE="600"', age: '100' }, 500],
  [{ 'cache-control': 'max-age=0' }, 30],
  [{ 'cache-control': 'max-age=600', age: '900' }, 30],
  [{ 'cache-control': 'max-age=600', age: '-900' }, 600],
  [{ 'cache-control': 'max-age=600', age: 'x' }, 600],
  [{ 'cache-control': 'no-store, max-age=600' }, 30],
  [{ 'cache-control': 'max-age=9999999999' }, 86_400],
  [{ 'cache-control': 'max-age=x' }, 300],
])('with the headers %j, a document is cached for %s s', async (headers, seconds) => {
  const { fetch } = documentFetch({
    [ID]: Response.json(good, { headers: headers as Record<string, string> }),
  });
  expect((await fetchClientDocument(ID, { fetch })).cacheMs).toBe(seconds * 1000);
});
