import { readFile, writeFile } from 'node:fs/promises';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createServer, tool } from 'fullmcp';
import { jwt } from 'fullmcp/auth';
import { createNodeHandler, type NodeHandlerOptions, serve } from 'fullmcp/node';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Authority, makeAuthority } from '../../support/http/authority.js';
import { json, scriptedServer } from '../../support/http/http-server.js';
import { proxyServer } from '../../support/http/proxy-server.js';
import { fullmcp } from '../support/run-cli.js';
import { afterwards, examined, inFrontOf, listening } from './support.js';

// Servers that are wrong, each in one way that the doctor must name, with a fix.

const fixtures = new URL('../../fixtures/tls/', import.meta.url);

function shop() {
  return createServer({
    name: 'shop',
    version: '1.2.3',
    changes: true,
    logger: () => undefined,
    tools: { add: tool({ run: () => 'added' }) },
  });
}

async function served(options: Parameters<typeof serve>[1] = {}): Promise<string> {
  const running = await serve(shop(), { port: 0, signals: false, ...options });
  afterwards(() => running.close());
  return running.url;
}

it('An address that nobody listens at is found before anything else is tried', async () => {
  const { exit, findings } = await examined(['http://127.0.0.1:1/mcp']);
  expect(exit).toBe(1);
  expect(findings).toMatchObject([
    { step: 'dns', status: 'skipped' },
    {
      step: 'tcp',
      status: 'failed',
      message: 'Nothing listens on 127.0.0.1:1 (connection refused).',
      fix: expect.stringContaining('Start the server'),
    },
  ]);
});

it('A name without an address is found', async () => {
  const { exit, findings } = await examined(['https://nobody.invalid/mcp']);
  expect(exit).toBe(1);
  expect(findings).toMatchObject([
    { step: 'dns', status: 'failed', fix: expect.stringContaining('spelling') },
  ]);
});

it('A wrong path is found, and the right one is named', async () => {
  const url = await served();
  const { exit, findings } = await examined([url.replace('/mcp', '/wrong')]);
  expect(exit).toBe(1);
  expect(findings.at(-1)).toMatchObject({
    step: 'http',
    status: 'failed',
    message: expect.stringMatching(/^404 after \d+ ms: nothing at \/wrong speaks MCP\.$/),
    fix: `Use ${url}: an MCP server answers there.`,
  });
});

describe('A certificate', () => {
  let authority: Authority;
  beforeAll(async () => {
    authority = await makeAuthority();
  });
  afterAll(() => authority[Symbol.asyncDispose]());

  async function secure(days: number): Promise<string> {
    const { cert, key } = await authority.issue(`days-${days}`, 'server', days);
    const handler = createNodeHandler(shop());
    afterwards(() => handler.close({ deadlineMs: 0 }));
    return `${await listening(createTlsServer({ cert, key }, handler), { scheme: 'https', host: 'localhost' })}/mcp`;
  }

  /** The words for a server whose authority is configured. */
  async function trusting(url: string, ca = authority.caFile): Promise<readonly string[]> {
    const file = join(authority.folder, 'mcp.json');
    await writeFile(file, JSON.stringify({ mcpServers: { shop: { url, ca } } }));
    return ['shop', '--config', file];
  }

  it('that nobody signed is found, before the token is sent', async () => {
    const { cert, key } = await authority.issue('unknown');
    const requests: unknown[] = [];
    const tls = createTlsServer({ cert, key }, (request) => requests.push(request.headers));
    const origin = await listening(tls, { scheme: 'https', host: 'localhost' });
    const { exit, findings } = await examined([`${origin}/mcp`, '--token', 'secret-of-ann']);
    expect(exit).toBe(1);
    expect(requests).toEqual([]);
    expect(findings.at(-1)).toMatchObject({
      step: 'tls',
      status: 'failed',
      message: expect.stringContaining('not trusted'),
      fix: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    });
  });

  it('that has ended is found, and when', async () => {
    const { exit, findings } = await examined(await trusting(await secure(-1)));
    expect(exit).toBe(1);
    expect(findings.at(-1)).toMatchObject({
      step: 'tls',
      status: 'failed',
      message: expect.stringMatching(/not trusted: it ended on .* GMT\./),
      fix: expect.stringContaining('Renew'),
    });
  });

  it('for another name is found, with the names that it is for', async () => {
    const [cert, key] = await Promise.all(
      ['hosts-cert.pem', 'hosts-key.pem'].map((file) => readFile(new URL(file, fixtures), 'utf8')),
    );
    const tls = createTlsServer({ cert, key });
    const origin = await listening(tls, { scheme: 'https', host: 'localhost' });
    const { findings } = await examined(
      await trusting(`${origin}/mcp`, fileURLToPath(new URL('hosts-cert.pem', fixtures))),
    );
    expect(findings.at(-1)).toMatchObject({
      step: 'tls',
      status: 'failed',
      message: expect.stringContaining('it is for DNS:public.example'),
      fix: expect.stringContaining('the name in the URL'),
    });
  });

  it('of a configured authority is trusted, and the examination goes on', async () => {
    const { exit, find } = await examined(await trusting(await secure(2)));
    expect(find('tls')).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('Test authority'),
    });
    expect(find('host')?.status).toBe('ok');
    expect(find('protocol')?.status).toBe('ok');
    expect(exit).toBe(0);
  });
});

describe('A proxy', () => {
  it('that buffers event streams is found', async () => {
    const { exit, problems } = await examined([await inFrontOf(await served(), { buffers: true })]);
    expect(exit).toBe(1);
    expect(problems).toMatchObject([
      { step: 'stream', status: 'failed', fix: expect.stringContaining('proxy_buffering off') },
    ]);
  });

  it('that passes everything on is not reported', async () => {
    const { exit, problems } = await examined([await inFrontOf(await served(), {})]);
    expect(problems).toEqual([]);
    expect(exit).toBe(0);
  });

  it('that removes headers of the protocol is found', async () => {
    const { exit, find } = await examined([await inFrontOf(await served(), { drops: ['mcp-method'] })]);
    expect(exit).toBe(1);
    expect(find('headers')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('Mcp-Method'),
      fix: expect.stringContaining('pass'),
    });
  });
});

it('A proxy of the environment is examined itself, and then the connection through it', async () => {
  await using proxy = await proxyServer({ refuse: 407 });
  vi.stubEnv('HTTP_PROXY', proxy.url);
  vi.stubEnv('http_proxy', proxy.url);
  afterwards(() => vi.unstubAllEnvs());
  const { exit, findings } = await examined(['http://shop.example/mcp']);
  expect(exit).toBe(1);
  expect(findings.map(({ step, status }) => `${step} ${status}`)).toEqual([
    'proxy skipped',
    'dns skipped',
    'tcp ok',
    'protocol failed',
  ]);
  expect(findings[0]?.message).toContain(proxy.url);
  expect(findings.at(-1)?.message).toContain('407');
});

it('A WebSocket is examined as far as it has these steps', async () => {
  const { exit, findings } = await examined([(await served()).replace('http:', 'ws:')]);
  expect(exit).toBe(0);
  expect(findings.map(({ step }) => step)).toEqual(['dns', 'tcp', 'tls', 'protocol', 'tools']);
});

describe('The host check', () => {
  it('that refuses the name of the server is found', async () => {
    const handler = createNodeHandler(shop(), { allowedHosts: ['mcp.example.com'] });
    afterwards(() => handler.close({ deadlineMs: 0 }));
    // The proxy on the way passes a name on that the server does not know.
    const origin = await listening((request, response) => {
      if (!request.headers.host?.startsWith('localhost')) request.headers.host = 'shop.internal';
      handler(request, response);
    });
    const { exit, find } = await examined([`${origin}/mcp`]);
    expect(exit).toBe(1);
    expect(find('host')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('It refuses requests for the host'),
      fix: expect.stringContaining('allowedHosts'),
    });
  });

  it('that a local server does not have is a warning', async () => {
    const handler = createNodeHandler(shop());
    afterwards(() => handler.close({ deadlineMs: 0 }));
    const origin = await listening((request, response) => {
      request.headers.host = 'localhost';
      handler(request, response);
    });
    const { exit, problems } = await examined([`${origin}/mcp`]);
    expect(problems).toMatchObject([
      { step: 'host', status: 'warning', fix: expect.stringContaining('Host header') },
    ]);
    expect(exit).toBe(0);
  });
});

describe('CORS', () => {
  const page = ['--origin', 'https://app.example.com'];

  it('that does not allow a page is found', async () => {
    const { exit, find } = await examined([await served(), ...page]);
    expect(exit).toBe(1);
    expect(find('cors')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('Pages of https://app.example.com may not call it'),
      fix: expect.stringContaining('MCP_ALLOWED_ORIGINS'),
    });
  });

  it('that allows the page is found too', async () => {
    const url = await served({ allowedOrigins: ['https://app.example.com'] });
    const { exit, find } = await examined([url, ...page]);
    expect(find('cors')).toMatchObject({ status: 'ok' });
    expect(exit).toBe(0);
  });

  it('with a * for every header does not cover authorization', async () => {
    const handler = createNodeHandler(shop(), { allowedOrigins: ['https://app.example.com'] });
    afterwards(() => handler.close({ deadlineMs: 0 }));
    const origin = await listening((request, response) => {
      if (request.method !== 'OPTIONS') return void handler(request, response);
      response
        .writeHead(204, { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' })
        .end();
    });
    const { find } = await examined([`${origin}/mcp`, ...page]);
    expect(find('cors')).toMatchObject({
      status: 'failed',
      message: 'Pages of https://app.example.com may not send authorization.',
    });
  });

  it('that lets every page use a server without a token is a warning', async () => {
    const handler = createNodeHandler(shop());
    afterwards(() => handler.close({ deadlineMs: 0 }));
    const origin = await listening((request, response) => {
      if (request.method !== 'OPTIONS') return void handler(request, response);
      response.writeHead(204, { 'access-control-allow-origin': '*' }).end();
    });
    expect((await examined([`${origin}/mcp`])).problems).toMatchObject([{ step: 'cors', status: 'warning' }]);
  });
});

describe('Authorization', () => {
  const made = generateKeyPair('ES256', { extractable: true });

  /** An authorization server, and a server that takes its tokens. */
  async function protectedShop(
    metadata: object = {},
    options: (origin: string) => NodeHandlerOptions = () => ({}),
  ) {
    const { publicKey } = await made;
    const keys = [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }];
    const issuer: string = await listening((request, response) =>
      json(
        response,
        request.url === '/keys'
          ? { keys }
          : {
              issuer,
              jwks_uri: `${issuer}/keys`,
              authorization_endpoint: `${issuer}/authorize`,
              token_endpoint: `${issuer}/token`,
              registration_endpoint: `${issuer}/register`,
              response_types_supported: ['code'],
              code_challenge_methods_supported: ['S256'],
              ...metadata,
            },
      ),
    );
    const origin = await listening((request, response) => handler(request, response));
    const url = `${origin}/mcp`;
    const auth = jwt({ issuer, audience: url });
    const handler = createNodeHandler(shop(), { path: '/mcp', auth, ...options(origin) });
    afterwards(() => handler.close({ deadlineMs: 0 }));
    return { url, issuer };
  }

  async function token(claims: Record<string, unknown>): Promise<string> {
    const { privateKey } = await made;
    const now = Math.floor(Date.now() / 1000);
    const all = { sub: 'ann', iat: now, exp: now + 3600, ...claims };
    return new SignJWT(all).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(privateKey);
  }

  it('is followed hop by hop without a token, and nothing is wrong', async () => {
    const { url, issuer } = await protectedShop();
    const { exit, findings, problems } = await examined([url]);
    expect(problems).toEqual([]);
    expect(exit).toBe(0);
    const hops = findings.filter(({ step }) => step.startsWith('auth'));
    expect(hops.map(({ step }) => step)).toEqual([
      'auth: challenge',
      'auth: resource',
      'auth: issuer',
      'auth: token',
    ]);
    expect(hops[1]?.message).toBe(`${url} trusts ${issuer}.`);
  });

  it('is not called right as long as steps need a token', async () => {
    const { url } = await protectedShop();
    const { exit, stdout, stderr } = await fullmcp(['doctor', url]);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^✓ http {12}401 after \d+ ms: it asks for a token\.$/m);
    expect(stderr).toBe(
      'Nothing is wrong so far. 3 steps need a token: run it again with --token or --header.\n',
    );
  });

  it('with the right token is all right', async () => {
    const { url, issuer } = await protectedShop();
    const { exit, find, problems } = await examined([url, '--token', await token({ iss: issuer, aud: url })]);
    expect(problems).toEqual([]);
    expect(find('auth')?.message).toBe('It accepts the token.');
    expect(exit).toBe(0);
  });

  it.each([
    [
      'for another server',
      { aud: 'https://other.example/mcp' },
      /^The token is for https:\/\/other\.example\/mcp, and the server is http/,
      /resource=http/,
    ],
    ['that has ended', { exp: 1000 }, /^The token ended \d+ days ago/, /new token/],
    [
      'of another issuer',
      { iss: 'https://evil.example' },
      /^The token is from https:\/\/evil\.example, and the server trusts http/,
      /same text/,
    ],
  ])('with a token %s says so, and never shows the token', async (_, claims, message, fix) => {
    const { url, issuer } = await protectedShop();
    const sent = await token({ iss: issuer, aud: url, ...claims });
    const { exit, find, printed } = await examined([url, '--token', sent]);
    expect(exit).toBe(1);
    expect(find('http')?.message).toMatch(/^401 after \d+ ms: it refuses the token\.$/);
    expect(find('auth: token')).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(message),
      fix: expect.stringMatching(fix),
    });
    expect(printed).not.toContain(sent);
    expect(printed).not.toContain(sent.split('.')[2]);
  });

  it('whose authorization server has no PKCE is found', async () => {
    const { url } = await protectedShop({ code_challenge_methods_supported: ['plain'] });
    const { exit, find } = await examined([url]);
    expect(exit).toBe(1);
    expect(find('auth: issuer')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('S256'),
    });
  });

  it('whose token a proxy removes is found', async () => {
    const { url } = await protectedShop();
    const proxied = await inFrontOf(url, { drops: ['authorization'] });
    const { exit, find } = await examined([proxied, '--token', 'opaque-token-of-ann']);
    expect(exit).toBe(1);
    expect(find('auth: token')).toMatchObject({
      status: 'failed',
      fix: expect.stringContaining('Authorization'),
    });
  });

  it('whose token lacks scopes is found, with the scopes', async () => {
    await using server = await scriptedServer((_request, response) =>
      response
        .writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="shop:write"' })
        .end(),
    );
    const { exit, find } = await examined([server.url.href, '--token', 'opaque-token-of-ann']);
    expect(exit).toBe(1);
    expect(find('host')?.status).toBe('skipped');
    expect(find('auth: token')).toMatchObject({
      status: 'failed',
      fix: expect.stringContaining('shop:write'),
    });
  });

  it('whose metadata is about another server is found', async () => {
    const { url } = await protectedShop({}, (origin) => ({
      publicUrl: `${origin.replace('127.0.0.1', 'localhost')}/mcp`,
    }));
    const { exit, find } = await examined([url]);
    expect(exit).toBe(1);
    expect(find('auth: resource')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('is about "http://localhost:'),
      fix: expect.stringContaining('RFC 9728'),
    });
  });
});
