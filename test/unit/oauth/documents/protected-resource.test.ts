import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DocumentError } from '../../../../src/oauth/documents/document-error.js';
import {
  discoverProtectedResource,
  isResourceOf,
  protectedResourceAddresses,
} from '../../../../src/oauth/documents/protected-resource.js';
import { SafeFetchError } from '../../../../src/oauth/fetch/safe-fetch.js';
import { failureOf } from '../../../support/failure.js';
import { type CannedDocument, documentFetch } from '../../../support/http/document-fetch.js';

const SERVER = 'https://mcp.example/a/mcp?key=SECRET';
const INSERTED = 'https://mcp.example/.well-known/oauth-protected-resource/a/mcp';
const ROOT = 'https://mcp.example/.well-known/oauth-protected-resource';
const good = { resource: 'https://mcp.example/a/mcp', authorization_servers: ['https://as.example'] };

test('the addresses are the one of the challenge, or the inserted path and then the root', () => {
  expect(protectedResourceAddresses(SERVER)).toEqual([INSERTED, ROOT]);
  expect(protectedResourceAddresses('https://mcp.example')).toEqual([ROOT]);
  expect(protectedResourceAddresses('https://mcp.example:8443/mcp/')).toEqual([
    'https://mcp.example:8443/.well-known/oauth-protected-resource/mcp/',
    'https://mcp.example:8443/.well-known/oauth-protected-resource',
  ]);
  expect(protectedResourceAddresses(SERVER, 'https://x.example/meta')).toEqual(['https://x.example/meta']);
});

test.each([
  ['https://mcp.example/a/mcp', true],
  ['https://mcp.example/a/mcp/', true],
  ['https://mcp.example/a', true],
  ['https://mcp.example/a/', true],
  ['https://mcp.example', true],
  ['https://mcp.example/', true],
  ['HTTPS://MCP.example:443/a', true],
  ['https://mcp.example/a/m', false],
  ['https://mcp.example/a/mcp/deeper', false],
  ['https://mcp.example/A', false],
  ['https://mcp.example/b/../a', true],
  ['https://mcp.example/a/mcp/..%2f', false],
  ['https://mcp.example:8443/a', false],
  ['http://mcp.example/a', false],
  ['https://evil.example/a/mcp', false],
  ['https://mcp.example.evil.example/', false],
  ['https://mcp.example@evil.example/', false],
  ['https://user@mcp.example/', false],
  ['https://mcp.example/#', false],
  ['https://mcp.example/?x', false],
  ['urn:mcp', false],
  ['mcp.example', false],
  ['', false],
])('%j as the resource of https://mcp.example/a/mcp: %s', (resource, expected) => {
  expect(isResourceOf(resource, 'https://mcp.example/a/mcp')).toBe(expected);
});

test('a resource covers a server exactly if its path segments are the first ones of the server', () => {
  const segments = fc.array(fc.constantFrom('a', 'b', 'ab', 'a%2Fb'), { maxLength: 4 });
  fc.assert(
    fc.property(segments, segments, (resource, server) => {
      const covers = resource.every((segment, i) => segment === server[i]);
      expect(
        isResourceOf(`https://h.example/${resource.join('/')}`, `https://h.example/${server.join('/')}`),
      ).toBe(covers);
    }),
  );
});

test('the strings of the document are kept unchanged', async () => {
  const { fetch } = documentFetch({
    [INSERTED]: {
      resource: 'https://MCP.example',
      authorization_servers: ['https://as.example', 'https://AS2.example/'],
      scopes_supported: ['a', 'a', 'b c'],
      dpop_bound_access_tokens_required: true,
      resource_name: null,
    },
  });
  expect(await discoverProtectedResource(SERVER, { fetch })).toEqual({
    resource: 'https://MCP.example',
    authorizationServers: ['https://as.example', 'https://AS2.example/'],
    scopesSupported: ['a'],
    requiresDpop: true,
    name: undefined,
    url: INSERTED,
  });
});

test.each<[string, CannedDocument]>([
  ['404', 404],
  ['401', 401],
  ['a page', new Response('<html>', { headers: { 'content-type': 'text/html' } })],
  ['an array', []],
])('after %s at the inserted path, the root is asked', async (_, reply) => {
  const { fetch, asked } = documentFetch({
    [INSERTED]: reply,
    [ROOT]: { ...good, resource: 'https://mcp.example' },
  });
  expect((await discoverProtectedResource(SERVER, { fetch })).resource).toBe('https://mcp.example');
  expect(asked).toEqual([INSERTED, ROOT]);
});

test('a server that fails for the moment is not asked for the document of a larger resource', async () => {
  const { fetch, asked } = documentFetch({ [INSERTED]: 503, [ROOT]: good });
  expect(await failureOf(DocumentError, discoverProtectedResource(SERVER, { fetch }))).toMatchObject({
    code: 'unavailable',
    message: `The protected resource metadata is not available: ${INSERTED} replied with 503. Retry later.`,
  });
  expect(asked).toEqual([INSERTED]);
});

test('the error lists what every address replied, without the query of the server', async () => {
  const { fetch } = documentFetch({
    [INSERTED]: new Response('<html>', { headers: { 'content-type': 'text/html; charset=utf-8' } }),
  });
  const error = await failureOf(DocumentError, discoverProtectedResource(SERVER, { fetch }));
  expect(error.code).toBe('not_found');
  expect(error.message).toBe(
    `https://mcp.example/a/mcp does not have protected resource metadata, which says who authorizes its users: ${INSERTED} replied with 200 and text/html, which is not a JSON object; ${ROOT} replied with 404.`,
  );
});

test('only the address of the challenge is asked, and a failed request says why', async () => {
  const url = 'https://10.0.0.1/meta?token=SECRET';
  const refused = new SafeFetchError('private_address', 'https://10.0.0.1/meta is not requested.');
  const asked: unknown[] = [];
  const error = await failureOf(
    DocumentError,
    discoverProtectedResource(SERVER, {
      fetch: async (address, init) => {
        asked.push(address, init?.loopback);
        throw refused;
      },
      resourceMetadata: url,
      loopback: 'refuse',
    }),
  );
  expect(asked).toEqual([url, 'refuse']);
  expect(error).toMatchObject({ code: 'unreachable', hop: 'protected resource metadata', cause: refused });
  expect(error.message).toBe(
    'The protected resource metadata cannot be fetched. https://10.0.0.1/meta is not requested.',
  );
});

test('a document about another resource is refused before anything else in it is used', async () => {
  const { fetch } = documentFetch({
    [INSERTED]: { resource: 'https://bank.example/', authorization_servers: 1 },
  });
  const error = await failureOf(DocumentError, discoverProtectedResource(SERVER, { fetch }));
  expect(error.code).toBe('resource_mismatch');
  expect(error.message).toContain('is about "https://bank.example/" and not about https://mcp.example/a/mcp');
  expect(error.message).toContain('connect to the first URL, or have its operator set `publicUrl`');
  expect(error.message).not.toContain('SECRET');
});

test.each([
  [{ resource: undefined }, '`resource` is missing'],
  [{ resource: 7 }, '`resource` must be a string'],
  [{ authorization_servers: undefined }, 'at least one authorization server'],
  [{ authorization_servers: [] }, 'at least one authorization server'],
  [{ authorization_servers: 'https://as.example' }, 'must be an array'],
  [{ authorization_servers: [1] }, 'must be an array'],
  [{ authorization_servers: new Array(1001).fill('https://as.example') }, 'at most 1000'],
  [
    { authorization_servers: ['https://as.example', 'javascript:alert(1)'] },
    '`authorization_servers` cannot be used',
  ],
  [{ authorization_servers: ['file:///etc/passwd'] }, '`authorization_servers` cannot be used'],
  [{ authorization_servers: ['http://as.example'] }, 'uses http'],
  [{ authorization_servers: ['https://169.254.169.254/'] }, 'private network'],
  [{ authorization_servers: ['http://localhost:9000'] }, 'uses http'],
  [{ authorization_servers: ['https://user:SECRET@as.example'] }, 'contains a user name'],
  [{ scopes_supported: 'a b' }, '`scopes_supported` must be an array'],
  [{ dpop_bound_access_tokens_required: 'yes' }, 'must be true or false'],
])('a document with %j is not valid', async (change, why) => {
  const { fetch } = documentFetch({ [INSERTED]: { ...good, ...change } });
  const error = await failureOf(DocumentError, discoverProtectedResource(SERVER, { fetch }));
  expect(error.code).toBe('bad_document');
  expect(error.message).toContain(why);
  expect(error.message).not.toContain('SECRET');
});

test('an authorization server on this computer or a private network needs the option for it', async () => {
  const doc = {
    ...good,
    resource: 'http://localhost:3000',
    authorization_servers: ['http://localhost:9000'],
  };
  const { fetch, inits } = documentFetch({
    'http://localhost:3000/.well-known/oauth-protected-resource': doc,
  });
  const found = await discoverProtectedResource('http://localhost:3000', { fetch, loopback: 'allow' });
  expect(found.authorizationServers).toEqual(['http://localhost:9000']);
  expect(inits[0]?.loopback).toBe('allow');
  const inside = documentFetch({
    [INSERTED]: { ...good, authorization_servers: ['http://keycloak:8080/realms/a'] },
  });
  const named = await discoverProtectedResource(SERVER, {
    fetch: inside.fetch,
    privateHosts: ['http://keycloak:8080'],
  });
  expect(named.authorizationServers).toEqual(['http://keycloak:8080/realms/a']);
});
