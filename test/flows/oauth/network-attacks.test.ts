import type { ServerResponse } from 'node:http';
import { connect } from 'fullmcp/client';
import { oauth } from 'fullmcp/oauth';
import { afterEach, describe, expect, it } from 'vitest';
import { PUBLIC_ADDRESS, type PublicHosts, publicHosts } from '../../support/http/public-hosts.js';

// Whole logins at MCP servers that try to send the client into the user's network. Resolver and dialler are replaced: nothing
// leaves the machine.

const SERVER = 'https://mcp.public.example/mcp';
const METADATA = 'https://mcp.public.example/.well-known/oauth-protected-resource/mcp';
const ISSUER = 'https://as.public.example';
const AS_METADATA = `${ISSUER}/.well-known/oauth-authorization-server`;

let hosts: PublicHosts | undefined;
afterEach(() => hosts?.close());

type Page = object | ((response: ServerResponse) => void);
interface World {
  readonly issuer?: string;
  readonly pages?: Readonly<Record<string, Page>>;
  readonly addresses?: (hostname: string, lookup: number) => readonly string[];
}

/** Tries to log in, and returns the error and what the client has done. */
async function attack({ issuer = ISSUER, pages = {}, addresses }: World) {
  const all: Readonly<Record<string, Page>> = {
    [METADATA]: { resource: SERVER, authorization_servers: [issuer] },
    ...pages,
  };
  const world = await publicHosts(
    ({ headers, url }, response) => {
      const page = all[`https://${headers.host}${url}`];
      if (typeof page === 'function') page(response);
      else if (page === undefined) response.writeHead(404).end();
      else response.setHeader('content-type', 'application/json').end(JSON.stringify(page));
    },
    addresses === undefined ? {} : { addresses },
  );
  hosts = world;
  const opened: string[] = [];
  const auth = oauth({ fetch: world.fetch, open: (url) => opened.push(url), loginTimeoutMs: 1000 });
  const challenge = { 'www-authenticate': `Bearer resource_metadata="${METADATA}"` };
  const fetch = async () => new Response(null, { status: 401, headers: challenge });
  const error = await connect(SERVER, { auth, fetch, revision: '2026-07-28' }).catch(
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ code: 'unauthorized', data: { hop: expect.any(String) } });
  return { error: error as Error, opened, dialled: world.dialled, requests: world.requests };
}

const metadata = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
  registration_endpoint: `${ISSUER}/register`,
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
};
const isPublic = (address: string): boolean => address === `${PUBLIC_ADDRESS}:443`;

it('a login without an attack opens the browser, and then waits for the user', async () => {
  const register = (response: ServerResponse) =>
    void response.writeHead(201, { 'content-type': 'application/json' }).end('{"client_id":"one"}');
  const pages = { [AS_METADATA]: metadata, [metadata.registration_endpoint]: register };
  const { opened, error } = await attack({ pages });
  expect(opened).toEqual([expect.stringContaining(`${metadata.authorization_endpoint}?`)]);
  expect(error.message).toContain('The user did not log in within 1 seconds');
});

describe('a login never leads into the network of the user', () => {
  it.each([
    'http://169.254.169.254/latest',
    'https://169.254.169.254/latest',
    'https://[fd00:ec2::254]/',
    'http://localhost:6379',
    'https://127.0.0.1:8443',
    'file:///etc/passwd',
  ])('when the metadata names the authorization server %s', async (issuer) => {
    const { opened, requests } = await attack({ issuer });
    expect(requests).toEqual([`GET ${METADATA.slice('https://'.length)}`]);
    expect(opened).toEqual([]);
  });

  it.each(['127.0.0.1', '169.254.169.254', '10.0.0.7'])(
    'when the name of the authorization server resolves to %s',
    async (address) => {
      const addresses = (name: string) => [name.startsWith('as.') ? address : PUBLIC_ADDRESS];
      const { dialled, opened, error } = await attack({ addresses });
      expect(dialled).toEqual([`${PUBLIC_ADDRESS}:443`]);
      expect(opened).toEqual([]);
      expect(error.message).not.toContain(address);
    },
  );

  it('when the second lookup of a name differs from the first', async () => {
    let lookups = 0;
    const addresses = (name: string) => {
      if (name.startsWith('as.')) lookups++;
      return [name.startsWith('as.') && lookups > 1 ? '127.0.0.1' : PUBLIC_ADDRESS];
    };
    const { dialled, opened, requests } = await attack({ addresses, pages: { [AS_METADATA]: metadata } });
    expect(lookups).toBe(2);
    expect(requests).toHaveLength(2);
    expect(dialled.every(isPublic)).toBe(true);
    expect(opened).toEqual([]);
  });

  it.each(['https://169.254.169.254/latest', 'https://inner.public.example/', 'http://127.0.0.1:6379/'])(
    'when the metadata redirects to %s',
    async (location) => {
      const addresses = (name: string) => [name.startsWith('inner') ? '10.0.0.7' : PUBLIC_ADDRESS];
      const pages = {
        [AS_METADATA]: (response: ServerResponse) => void response.writeHead(302, { location }).end(),
      };
      const { dialled, opened } = await attack({ addresses, pages });
      expect(dialled.every(isPublic)).toBe(true);
      expect(opened).toEqual([]);
    },
  );

  it.each(['token_endpoint', 'registration_endpoint', 'pushed_authorization_request_endpoint'])(
    'when the metadata has its %s there',
    async (name) => {
      const pages = { [AS_METADATA]: { ...metadata, [name]: 'https://169.254.169.254/latest' } };
      const { dialled, opened } = await attack({ pages });
      expect(dialled.every(isPublic)).toBe(true);
      expect(opened).toEqual([]);
    },
  );

  it.each([
    'javascript:alert(1)//',
    'file:///etc/passwd',
    'data:text/html,hello',
    'http://as.public.example/authorize',
    'https://127.0.0.1/authorize',
  ])('when the authorization endpoint is %s, which is not opened', async (endpoint) => {
    const pages = { [AS_METADATA]: { ...metadata, authorization_endpoint: endpoint } };
    const { opened, requests } = await attack({ pages });
    expect(opened).toEqual([]);
    expect(requests.some((request) => request.includes('/register'))).toBe(false);
  });

  it('when the metadata never ends', async () => {
    const pages = {
      [AS_METADATA](response: ServerResponse) {
        response.writeHead(200, { 'content-type': 'application/json' });
        const more = () => {
          while (!response.destroyed && response.write(' '.repeat(65_536)));
        };
        response.on('drain', more);
        more();
      },
    };
    const { error, opened } = await attack({ pages });
    expect(error.message).toContain('authorization server metadata');
    expect(opened).toEqual([]);
    await hosts?.idle();
  });
});
