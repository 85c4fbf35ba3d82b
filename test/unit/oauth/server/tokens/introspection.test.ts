import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type IntrospectionOptions, introspection } from 'fullmcp/auth';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { McpError } from '../../../../../src/protocol/errors.js';
import { authContext, requestWith } from '../../../../support/oauth/token-issuer.js';

// Against a real endpoint on this computer, through the hardened fetch.

const audience = 'https://mcp.example/mcp';
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

interface Asked {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly form: URLSearchParams;
}

type Reply = (asked: Asked, response: ServerResponse) => unknown;

async function setUp(options: Partial<IntrospectionOptions> = {}, given: Reply = () => ({})) {
  const asked: Asked[] = [];
  const state = { reply: given };
  const server = createServer(async (request: IncomingMessage, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const one = {
      path: request.url ?? '',
      authorization: request.headers.authorization,
      form: new URLSearchParams(body),
    };
    asked.push(one);
    if (one.path === '/.well-known/oauth-authorization-server')
      return response.end(JSON.stringify({ issuer: origin, introspection_endpoint: `${origin}/introspect` }));
    const json = state.reply(one, response);
    if (json === undefined) return undefined;
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify({ active: true, sub: 'ann', aud: audience, ...(json as object) }));
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = introspection({
    endpoint: `${origin}/introspect`,
    clientId: 'mcp-server',
    clientSecret: 'se-cret',
    audience,
    ...options,
    ...(options.issuer !== undefined && { issuer: origin, endpoint: undefined }),
  });
  const context = authContext();
  await provider.start?.(context);
  const check = async (token: string) => await provider.check(requestWith(token));
  const refusal = async (token: string) =>
    (await check(token).then(
      () => expect.fail('The token was accepted.'),
      (reason: unknown) => reason,
    )) as McpError;
  return { asked, state, provider, check, refusal, context, origin, server };
}

describe('introspection', () => {
  it('asks the authorization server, with its credentials, and reads the caller from the reply', async () => {
    const exp = Math.floor(Date.now() / 1000) + 60;
    const { asked, check, origin } = await setUp({}, () => ({ exp, scope: 'a b', client_id: 'app' }));
    expect(await check('opaque-token')).toMatchObject({
      subject: 'ann',
      scopes: ['a', 'b'],
      clientId: 'app',
      expiresAt: (exp + 5) * 1000,
      issuer: `${origin}/introspect`,
    });
    expect(asked).toHaveLength(1);
    expect(Object.fromEntries(asked[0]?.form ?? [])).toEqual({
      token: 'opaque-token',
      token_type_hint: 'access_token',
    });
    expect(asked[0]?.authorization).toBe(`Basic ${Buffer.from('mcp-server:se-cret').toString('base64')}`);
  });

  it('finds the endpoint in the metadata of the issuer, once', async () => {
    const { asked, check, origin, provider } = await setUp({ issuer: 'here' });
    expect(await check('one')).toMatchObject({ issuer: origin });
    await check('two');
    expect(asked.map(({ path }) => path)).toEqual([
      '/.well-known/oauth-authorization-server',
      '/introspect',
      '/introspect',
    ]);
    expect(provider.resource?.authorizationServers).toEqual([origin]);
  });

  it('asks over http only a host that `privateHosts` names', () => {
    const options = {
      endpoint: 'http://login.internal:8080/introspect',
      clientId: 'a',
      clientSecret: 'b',
      audience,
    };
    expect(() => introspection(options)).toThrow('privateHosts');
    expect(introspection({ ...options, privateHosts: ['http://login.internal:8080'] }).check).toBeTypeOf(
      'function',
    );
  });

  it('asks about at most 500 tokens at the same time, and replies 503 to the others', async () => {
    // On a busy machine, the requests may take longer than the provider waits.
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const arrived = async (isSo: () => boolean): Promise<void> => {
      while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
    };
    const waiting: (() => void)[] = [];
    const { asked, check } = await setUp({}, (_, response) => {
      waiting.push(() => response.setHeader('content-type', 'application/json').end('{"active":false}'));
    });
    const statuses = Promise.all(
      Array.from({ length: 600 }, (_, at) => check(`invented-${at}`).catch(({ status }) => status as number)),
    );
    await arrived(() => asked.length >= 500);
    for (const reply of waiting.splice(0)) reply();
    const counts = await statuses;
    expect([503, 401].map((wanted) => counts.filter((status) => status === wanted).length)).toEqual([
      100, 500,
    ]);
    expect(asked).toHaveLength(500);
    const later = check('later').catch(({ status }) => status as number);
    await arrived(() => waiting.length > 0);
    for (const reply of waiting.splice(0)) reply();
    expect(await later).toBe(401);
  });

  it('can send the secret in the body', async () => {
    const { asked, check } = await setUp({ authentication: 'client_secret_post' });
    await check('one');
    expect(asked[0]?.authorization).toBeUndefined();
    expect(asked[0]?.form.get('client_secret')).toBe('se-cret');
  });

  it('asks once for many requests with the same token, and again after the cache', async () => {
    const { asked, check } = await setUp();
    await Promise.all(Array.from({ length: 20 }, () => check('one')));
    expect(await check('one')).toBeDefined();
    expect(asked).toHaveLength(1);
    const uncached = await setUp({ cacheSeconds: 0 });
    await uncached.check('one');
    await uncached.check('one');
    expect(uncached.asked).toHaveLength(2);
  });

  it.each([
    ['it is not active', { active: false }, /not active/],
    ['it is for another audience', { aud: 'https://other.example' }, /audience/],
    ['its audience is unknown', { aud: undefined }, /audience/],
    ['it has expired', { exp: 1 }, /expired/],
    ['it has no subject', { sub: undefined }, /subject/],
    [
      'it is a refresh token of Hydra',
      { token_type: 'Bearer', token_use: 'refresh_token' },
      /not an access token/,
    ],
    ['it is a refresh token of Keycloak', { typ: 'Refresh' }, /not an access token/],
    ['it is of another type', { token_type: 'N_A' }, /not an access token/],
    ['it is bound to a certificate', { cnf: { 'x5t#S256': 'x' } }, /cnf/],
    ['it is bound to a key', { cnf: { jkt: 'x' } }, /bound to a key/],
  ])('refuses a token if %s', async (_, reply, description) => {
    const { refusal, asked } = await setUp({}, () => reply);
    for (let count = 0; count < 2; count++) {
      const error = await refusal('opaque-token');
      expect([error.status, error.challenge?.error]).toEqual([401, 'invalid_token']);
      expect(error.challenge?.description).toMatch(description);
      expect(JSON.stringify([error.message, error.challenge])).not.toContain('opaque-token');
    }
    expect(asked).toHaveLength(1);
  });

  it('refuses a token of another issuer than the one it asks', async () => {
    const { refusal } = await setUp({ issuer: 'here' }, () => ({ iss: 'https://other.example' }));
    expect((await refusal('one')).challenge?.description).toMatch(/issuer/);
  });

  it.each<[string, Reply]>([
    ['an error', (_, response) => void response.writeHead(500).end('no')],
    [
      'a 401, because the secret is wrong',
      (_, response) => void response.writeHead(401).end('{"error":"invalid_client"}'),
    ],
    ['text that is not JSON', (_, response) => void response.end('hello opaque-token')],
    ['JSON without "active"', () => ({ active: 'true' })],
    ['a redirect', (_, response) => void response.writeHead(302, { location: '/x' }).end()],
    ['too much', (_, response) => void response.end(`{"a":"${'x'.repeat(100_000)}"}`)],
    ['nothing', (_, response) => void response.destroy()],
  ])('answers 503 and tells the operator once if the reply is %s', async (_, reply) => {
    const { refusal, context, state, check } = await setUp({}, reply);
    const error = await refusal('opaque-token');
    expect(error.status).toBe(503);
    await refusal('opaque-token');
    expect(context.logged).toHaveLength(1);
    const shown = JSON.stringify([error.message, error.cause ?? null, context.logged]);
    expect(shown).not.toMatch(/opaque-token|se-cret/);
    state.reply = () => ({});
    expect(await check('opaque-token')).toBeDefined();
  });

  it('does not accept a reply from a cache that a proxy fills with members of every object', async () => {
    const { refusal } = await setUp({}, (_, response) => void response.end('{"__proto__":{"active":true}}'));
    expect((await refusal('one')).status).toBe(503);
  });

  it('rejects options that cannot work', () => {
    const options = { endpoint: 'https://as.example/introspect', clientId: 'a', clientSecret: 'b', audience };
    expect(() => introspection({ ...options, audience: undefined })).toThrow(/`audience` is required/);
    expect(() => introspection({ ...options, endpoint: undefined })).toThrow(/`issuer` or `endpoint`/);
    expect(() => introspection({ ...options, clientSecret: '' })).toThrow(/clientSecret/);
    expect(() => introspection({ ...options, endpoint: 'http://as.example/x' })).toThrow(/uses http/);
    expect(() => introspection({ ...options, endpoint: 'file:///etc/passwd' })).toThrow(/https/);
  });
});
