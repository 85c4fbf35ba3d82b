import { once } from 'node:events';
import { McpError } from 'fullmcp';
import type { AuthProvider } from 'fullmcp/auth';
import { bearer } from 'fullmcp/auth';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { isResourceOf } from '../../../src/oauth/documents/protected-resource.js';
import { type Reply, send } from '../../support/http/http.js';
import { modern, modernStream } from '../../support/http/modern.js';
import { initializeMessage, jsonHeaders, openSession } from '../../support/http/sessions.js';
import { type ProtectedOptions, transports } from '../../support/oauth/protected-server.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const issuer = 'https://login.example.com';
const provider = bearer(
  (token) => (token.startsWith('t-') ? { subject: token.slice(2), issuer } : undefined),
  {
    resource: {
      authorizationServers: [issuer],
      scopes: ['files:read', 'files:write', 'offline_access'],
      requiredScopes: ['files:read', 'offline_access'],
      dpop: 'supported',
      dpopAlgorithms: ['ES256', 'EdDSA'],
    },
  },
);

const ann = { authorization: 'Bearer t-ann' };

function routesOf(url: string): Readonly<Record<string, () => Promise<Reply>>> {
  const sibling = (name: string): string => url.replace(/\/mcp$/, `/${name}`);
  const session = { 'mcp-session-id': 'abc' };
  return {
    'modern POST': () => send(url, { headers: jsonHeaders, body: 'not even JSON' }),
    'POST of a session': () => send(url, { headers: { ...jsonHeaders, ...session }, body: '[[[' }),
    initialize: () =>
      send(url, { headers: jsonHeaders, body: JSON.stringify(initializeMessage('2025-11-25')) }),
    'GET of a session': () =>
      send(url, { method: 'GET', headers: { accept: 'text/event-stream', ...session } }),
    'DELETE of a session': () => send(url, { method: 'DELETE', headers: session }),
    'GET of HTTP+SSE': () => send(sibling('sse'), { method: 'GET' }),
    'POST of HTTP+SSE': () =>
      send(`${sibling('messages')}?sessionId=abc`, { headers: jsonHeaders, body: '{{' }),
  };
}

/** The address of the metadata: a handler without a path may be mounted, so it serves them below its own path. */
function metadataOf(name: string, path: string): string {
  const known = '/.well-known/oauth-protected-resource';
  const isMounted = ['createNodeHandler', 'createHandler', 'the fetch of createServer'].includes(name);
  return isMounted ? `${path}${known}` : `${known}${path}`;
}

describe.each(Object.entries(transports))('%s with a provider', (name, start) => {
  async function started(auth: AuthProvider = provider, options: ProtectedOptions = {}): Promise<string> {
    const running = await start(auth, options);
    closing.push(running.close);
    return running.url;
  }

  it('requires credentials on every route, before it reads the body, and says where to get them', async () => {
    const url = await started();
    const { origin } = new URL(url);
    for (const [route, sending] of Object.entries(routesOf(url))) {
      const { status, headers } = await sending();
      const path = route.includes('HTTP+SSE') ? (route.startsWith('GET') ? '/sse' : '/messages') : '/mcp';
      expect([route, status, headers['www-authenticate']]).toEqual([
        route,
        401,
        `Bearer resource_metadata="${origin}${metadataOf(name, path)}", scope="files:read"`,
      ]);
    }
  });

  it('rejects credentials that are not valid with the error invalid_token on every route', async () => {
    const url = await started();
    for (const authorization of ['Bearer wrong', 'Bearer a b', 'bearer']) {
      const { status, headers } = await modern(url, 'tools/list', {}, { headers: { authorization } });
      expect(status).toBe(401);
      expect(headers['www-authenticate']).toMatch(
        /^Bearer resource_metadata="[^"]+", error="invalid_token", error_description="[^"]+", scope="files:read"$/,
      );
    }
  });

  it('serves the caller of valid credentials, in every revision', async () => {
    const url = await started();
    expect((await modern(url, 'tools/call', { name: 'me' }, { headers: ann })).text).toContain('"ann"');
    const session = await openSession(url, '2025-06-18', {}, ann);
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'me' } };
    expect((await session.post(call, ann)).text).toContain('"ann"');
    const other = await session.post(call, { authorization: 'Bearer t-bob' });
    expect([other.status, other.text]).toEqual([404, expect.stringContaining('The session is unknown')]);
  });

  it('serves the protected resource metadata to everybody, at the address of the challenge', async () => {
    const url = await started();
    const { headers } = await send(url, { headers: jsonHeaders, body: '{}' });
    const address = /resource_metadata="([^"]+)"/.exec(String(headers['www-authenticate']))?.[1] ?? '';
    const reply = await send(address, { method: 'GET', headers: { origin: 'https://any.example' } });
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json',
      'access-control-allow-origin': '*',
      'cache-control': expect.stringContaining('max-age='),
    });
    expect(JSON.parse(reply.text)).toEqual({
      resource: url,
      authorization_servers: [issuer],
      scopes_supported: ['files:read', 'files:write'],
      bearer_methods_supported: ['header'],
      dpop_signing_alg_values_supported: ['ES256', 'EdDSA'],
      dpop_bound_access_tokens_required: false,
    });
    const head = await send(address, { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
    const preflight = await send(address, { method: 'OPTIONS', headers: { origin: 'https://any.example' } });
    expect([preflight.status, preflight.headers['access-control-allow-methods']]).toEqual([
      204,
      'GET, HEAD, OPTIONS',
    ]);
    const post = await send(address, { headers: jsonHeaders, body: '{}' });
    expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
    expect(isResourceOf(JSON.parse(reply.text).resource, url)).toBe(true);
  });

  it('serves no metadata for a host that is not allowed', async () => {
    const url = await started();
    const { origin } = new URL(url);
    const address = `${origin}/.well-known/oauth-protected-resource/mcp`;
    const reply = await send(address, { method: 'GET', headers: { host: 'evil.example' } });
    expect([reply.status, reply.text]).toEqual([403, expect.not.stringContaining(issuer)]);
  });

  it('serves no metadata without facts about an authorization server', async () => {
    const url = await started(bearer(() => undefined));
    const { origin } = new URL(url);
    const reply = await send(`${origin}/.well-known/oauth-protected-resource/mcp`, { method: 'GET' });
    expect(reply.status).toBe(404);
    expect((await modern(url, 'tools/list')).headers['www-authenticate']).toBe('Bearer');
  });

  it('gives a handler that needs more scopes a real 403, in every revision', async () => {
    const url = await started();
    const { origin } = new URL(url);
    const expected = `Bearer resource_metadata="${origin}${metadataOf(name, '/mcp')}", error="insufficient_scope", error_description="This needs the scopes files:write offline_access.", scope="files:write"`;
    const reply = await modern(url, 'tools/call', { name: 'write' }, { headers: ann });
    expect([reply.status, reply.headers['www-authenticate']]).toEqual([403, expected]);
    expect(JSON.parse(reply.text)).toMatchObject({ id: 1, error: { data: { scopes: expect.any(Array) } } });
    for (const revision of ['2025-03-26', '2025-06-18', '2025-11-25']) {
      const session = await openSession(url, revision, {}, ann);
      const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'write' } };
      const old = await session.post(call, ann);
      expect([old.status, old.headers['www-authenticate']]).toEqual([403, expected]);
      expect(JSON.parse(old.text)).toMatchObject({ id: 7, error: { data: { scopes: expect.any(Array) } } });
    }
  });

  it('reports scopes that are missing after a stream has begun as an error with the same data', async () => {
    const url = await started();
    const meta = { progressToken: 'p' };
    const events = await modernStream(url, 'tools/call', { name: 'late' }, { headers: ann, meta });
    const last = (await events.rest()).at(-1);
    expect(events.status).toBe(200);
    expect(JSON.parse(String(last?.data))).toMatchObject({ error: { data: { scopes: ['files:write'] } } });
  });

  it('serves anonymous callers if the provider is optional, but not those whose credentials nobody knows', async () => {
    const url = await started({ ...provider, optional: true });
    expect((await modern(url, 'tools/call', { name: 'me' })).text).toContain('"nobody"');
    const wrong = { headers: { authorization: 'Bearer wrong' } };
    expect((await modern(url, 'tools/call', { name: 'me' }, wrong)).status).toBe(401);
    const unknown = await started({ check: () => undefined, optional: true });
    const reply = await modern(unknown, 'tools/call', { name: 'me' }, { headers: ann });
    expect([reply.status, reply.headers['www-authenticate']]).toEqual([
      401,
      'Bearer error="invalid_token", error_description="The credentials are not valid here."',
    ]);
  });

  it('names each scheme of the provider, with the algorithms for proofs', async () => {
    const url = await started({ ...provider, schemes: ['DPoP', 'Bearer'] });
    const { headers } = await modern(url, 'tools/list');
    expect(headers['www-authenticate']).toMatch(
      /^DPoP resource_metadata="[^"]+", scope="files:read", algs="ES256 EdDSA", Bearer resource_metadata="[^"]+", scope="files:read"$/,
    );
  });

  it('replies with 503 and the time to retry if credentials cannot be checked now', async () => {
    const { McpError } = await import('fullmcp');
    const url = await started({
      check: () => {
        throw new McpError('overloaded', 'The keys cannot be fetched.');
      },
    });
    const reply = await modern(url, 'tools/list', {}, { headers: ann });
    expect([reply.status, reply.headers['retry-after'], reply.headers['www-authenticate']]).toEqual([
      503,
      '5',
      undefined,
    ]);
  });

  it('never replies with a success if the provider throws an error, whatever its code', async () => {
    for (const code of [
      'internal_error',
      'timeout',
      'invalid_params',
      'cancelled',
      'remote_error',
    ] as const) {
      const url = await started({ check: () => Promise.reject(new McpError(code, 'No.')) });
      const { status, text } = await modern(url, 'tools/call', { name: 'me' }, { headers: ann });
      expect([code, status, JSON.parse(text).error.message]).toEqual([code, 500, 'No.']);
    }
  });

  it('hides the error of a provider that fails', async () => {
    const url = await started({ check: () => Promise.reject(new Error('the database is at 10.0.0.1')) });
    const reply = await modern(url, 'tools/list', {}, { headers: ann });
    expect([reply.status, reply.text]).toEqual([500, expect.stringMatching(/Internal error \(ref/)]);
  });

  it('starts the provider once before the first check, and closes it with the server', async () => {
    const log: string[] = [];
    const running = await start({
      async start({ shared, secrets }) {
        await Promise.resolve();
        log.push(`start ${typeof shared.store.get} ${secrets?.length}`);
      },
      check: () => {
        log.push('check');
        return undefined;
      },
      close: () => void log.push('close'),
    });
    await Promise.all([modern(running.url, 'tools/list'), modern(running.url, 'tools/list')]);
    await running.close();
    expect(log).toEqual(['start function 1', 'check', 'check', 'close']);
  });

  it('lets the provider answer its own pages, and no others', async () => {
    const handle: AuthProvider['handle'] = (request) => {
      const { pathname, search, origin } = new URL(request.url);
      if (pathname !== '/token') return undefined;
      return request.text().then((body) => {
        const headers = new Headers({ 'content-type': 'text/plain', 'x-origin': origin });
        headers.append('set-cookie', 'a=1; Path=/');
        headers.append('set-cookie', 'b=2');
        const text = [request.method, search, body, request.headers.get('x-test')].join(' ');
        return new Response(text, { status: 201, headers });
      });
    };
    const url = await started({ ...provider, handle });
    const { origin } = new URL(url);
    const reply = await send(`${origin}/token?q=1`, {
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-test': 'yes',
        origin: 'https://any.example',
      },
      body: 'a=b&c=d',
    });
    expect([reply.status, reply.text]).toEqual([201, 'POST ?q=1 a=b&c=d yes']);
    expect(reply.headers['set-cookie']).toEqual(['a=1; Path=/', 'b=2']);
    expect(reply.headers['x-origin']).toBe(origin);
    const elsewhere = await send(`${origin}/token`, { headers: { host: 'evil.example' }, body: 'a=b' });
    expect(elsewhere.status).toBe(403);
    expect((await modern(url, 'tools/call', { name: 'me' }, { headers: ann })).text).toContain('"ann"');
    expect((await modern(url, 'tools/call', { name: 'me' })).status).toBe(401);
    // Without a path of its own, a handler takes every path.
    const other = await send(`${origin}/other/`, { method: 'GET' });
    expect([401, 404]).toContain(other.status);
  });

  it('cannot be made to print a header that a peer or a program chose', async () => {
    const { McpError } = await import('fullmcp');
    const text = 'a"b\\c\r\nSet-Cookie: x=1\u2028é';
    const url = await started({
      check: () => {
        throw new McpError('unauthorized', 'No.', {
          challenge: { scheme: text, error: text, description: text, scopes: [text, 'fine'], nonce: text },
        });
      },
    });
    const reply = await modern(url, 'tools/list', {}, { headers: ann });
    expect(reply.status).toBe(401);
    expect(reply.headers['set-cookie']).toBeUndefined();
    expect(reply.headers['dpop-nonce']).toBeUndefined();
    expect(reply.headers['www-authenticate']).toBe(
      `Bearer error="a'b?c??Set-Cookie: x=1??", error_description="a'b?c??Set-Cookie: x=1??", scope="fine"`,
    );
  });

  if (name.startsWith('serve'))
    it('requires credentials for a WebSocket, and says where to get them', async () => {
      const url = await started();
      const { origin } = new URL(url);
      const socket = new WebSocket(url.replace('http', 'ws'));
      const [, response] = await once(socket, 'unexpected-response');
      expect([response.statusCode, response.headers['www-authenticate']]).toEqual([
        401,
        `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", scope="files:read"`,
      ]);
      const open = new WebSocket(url.replace('http', 'ws'), { headers: ann });
      await once(open, 'open');
      open.close();
    });

  if (!name.startsWith('the fetch'))
    it('uses the public URL in metadata and challenges, and lets browsers read the challenge', async () => {
      const publicUrl = 'https://mcp.example.com/api/v1/mcp';
      const allowedOrigins = ['https://app.example.com'];
      const url = await started(provider, { publicUrl, allowedOrigins });
      const headers = { origin: 'https://app.example.com' };
      const reply = await modern(url, 'tools/list', {}, { headers });
      expect(reply.headers['www-authenticate']).toContain(
        `resource_metadata="https://mcp.example.com${metadataOf(name, '/api/v1/mcp')}"`,
      );
      expect(reply.headers['access-control-expose-headers']).toContain('WWW-Authenticate');
      expect(reply.headers['access-control-allow-origin']).toBe('https://app.example.com');
      const { origin } = new URL(url);
      // As it is, without the prefix that a proxy removes, and below the endpoint.
      for (const path of [
        '/.well-known/oauth-protected-resource/api/v1/mcp',
        '/api/v1/mcp/.well-known/oauth-protected-resource',
      ]) {
        const metadata = await send(`${origin}${path}`, { method: 'GET' });
        expect([path, metadata.status]).toEqual([path, 200]);
        expect(JSON.parse(metadata.text).resource).toBe(publicUrl);
      }
      const stream = await send(`${origin}/.well-known/oauth-protected-resource/api/v1/sse`, {
        method: 'GET',
      });
      expect(JSON.parse(stream.text).resource).toBe('https://mcp.example.com/api/v1/sse');
      for (const path of ['/other', '-not', '/api/v1/mcp/more'])
        expect(
          (await send(`${origin}/.well-known/oauth-protected-resource${path}`, { method: 'GET' })).status,
        ).toBe(404);
    });
});
