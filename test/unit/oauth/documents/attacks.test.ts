import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { discoverAuthorizationServer } from '../../../../src/oauth/documents/authorization-server.js';
import { fetchClientDocument } from '../../../../src/oauth/documents/cimd/client-document.js';
import { DocumentError } from '../../../../src/oauth/documents/document-error.js';
import { discoverProtectedResource } from '../../../../src/oauth/documents/protected-resource.js';
import { failureOf } from '../../../support/failure.js';
import { PUBLIC_ADDRESS, type PublicHosts, publicHosts } from '../../../support/http/public-hosts.js';

// Documents over the hardened fetch of Node. A server on this computer stands for all hosts: nothing leaves the machine.

const SERVER = 'https://mcp.public.example/mcp';
const ISSUER = 'https://as.public.example/tenant1';
let hosts: PublicHosts;

afterEach(() => hosts.close());

type Site = Readonly<Record<string, object | ((response: ServerResponse) => void)>>;

async function serve(site: Site, addresses?: (hostname: string) => readonly string[]): Promise<PublicHosts> {
  hosts = await publicHosts(
    ({ headers, url }: IncomingMessage, response) => {
      const page = site[`https://${headers.host}${url}`];
      if (typeof page === 'function') page(response);
      else if (page === undefined) response.writeHead(404).end();
      else response.setHeader('content-type', 'application/json').end(JSON.stringify(page));
    },
    addresses === undefined ? {} : { addresses },
  );
  return hosts;
}

const metadata = 'https://mcp.public.example/.well-known/oauth-protected-resource/mcp';
const redirect = (location: string) => (response: ServerResponse) =>
  void response.writeHead(302, { location }).end();

test('a client finds its way from an MCP server to the endpoints of its authorization server', async () => {
  const { fetch, requests } = await serve({
    [metadata]: { resource: SERVER, authorization_servers: [ISSUER] },
    'https://as.public.example/tenant1/.well-known/openid-configuration': {
      issuer: ISSUER,
      token_endpoint: `${ISSUER}/token`,
    },
  });
  const { authorizationServers } = await discoverProtectedResource(SERVER, { fetch });
  const server = await discoverAuthorizationServer(authorizationServers[0] ?? '', { fetch });
  expect(server.token_endpoint).toBe(`${ISSUER}/token`);
  expect(requests).toEqual([
    'GET mcp.public.example/.well-known/oauth-protected-resource/mcp',
    'GET as.public.example/.well-known/oauth-authorization-server/tenant1',
    'GET as.public.example/.well-known/openid-configuration/tenant1',
    'GET as.public.example/tenant1/.well-known/openid-configuration',
  ]);
});

test.each(['127.0.0.1', '169.254.169.254', '::ffff:10.0.0.1'])(
  'an authorization server whose name resolves to %s is not connected to',
  async (address) => {
    const { fetch, dialled } = await serve({}, () => [address]);
    const error = await failureOf(
      DocumentError,
      discoverAuthorizationServer(ISSUER, { fetch, loopback: 'allow' }),
    );
    expect(error).toMatchObject({ code: 'unreachable', cause: { code: 'private_address' } });
    expect(error.message).toMatch(
      /^The authorization server metadata cannot be fetched\. .*as\.public\.example/,
    );
    expect(dialled).toEqual([]);
  },
);

test.each([
  'https://169.254.169.254/latest/',
  'http://localhost:6379/',
  'https://inner.public.example/',
  'file:///etc/passwd',
])('metadata that redirects to %s is not followed', async (location) => {
  const { fetch, requests } = await serve({ [metadata]: redirect(location) }, (name) =>
    name.startsWith('inner') ? ['10.0.0.1'] : [PUBLIC_ADDRESS],
  );
  const error = await failureOf(DocumentError, discoverProtectedResource(SERVER, { fetch }));
  expect(error.code).toBe('unreachable');
  expect(requests).toHaveLength(1);
});

test.each([
  'https://169.254.169.254/',
  'https://[::1]/',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'http://mcp.public.example/',
])('a challenge that points at %s is not followed', async (resourceMetadata) => {
  const { fetch, lookups, dialled } = await serve({});
  const error = await failureOf(
    DocumentError,
    discoverProtectedResource(SERVER, { fetch, resourceMetadata }),
  );
  expect(error.code).toBe('unreachable');
  expect([lookups, dialled]).toEqual([[], []]);
});

const CLIENT = 'https://app.public.example/client.json';
const client = { client_id: CLIENT, client_name: 'An app', redirect_uris: ['https://app.public.example/cb'] };

test('a client document is fetched directly and not through a redirect', async () => {
  const elsewhere = 'https://app.public.example/elsewhere';
  const { fetch, requests } = await serve({ [CLIENT]: redirect(elsewhere), [elsewhere]: client });
  expect((await failureOf(DocumentError, fetchClientDocument(CLIENT, { fetch }))).code).toBe('unreachable');
  expect(requests).toHaveLength(1);
});

test('a client document may have 5 KiB and no more', async () => {
  const large = 'https://app.public.example/large.json';
  const { fetch } = await serve({
    [CLIENT]: { ...client, filler: 'x'.repeat(4900) },
    [large]: { ...client, client_id: large, filler: 'x'.repeat(5120) },
  });
  expect((await fetchClientDocument(CLIENT, { fetch })).client.name).toBe('An app');
  const error = await failureOf(DocumentError, fetchClientDocument(large, { fetch }));
  expect(error.cause).toMatchObject({ code: 'too_large' });
});

test.each(['https://127.0.0.1/client.json', 'https://metadata.google.internal/client.json'])(
  'the client id %s does not lead into the network of the authorization server',
  async (clientId) => {
    const { fetch, lookups } = await serve({});
    const error = await failureOf(DocumentError, fetchClientDocument(clientId, { fetch }));
    expect(error.cause).toMatchObject({ code: 'private_address' });
    expect(lookups).toEqual([]);
  },
);
