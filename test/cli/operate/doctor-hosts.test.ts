import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, tool } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { describe, expect, it } from 'vitest';
import { fullmcp } from '../support/run-cli.js';
import { afterwards, examined, listening } from './support.js';

// The demands of a host besides the protocol. No test can serve a public address, so the address is always a finding here.

async function shop(annotations: object): Promise<string> {
  const find = tool({ title: 'Find', description: 'Finds an order', annotations, run: () => 'none' });
  const running = await serve(createServer({ name: 'shop', version: '1', tools: { find } }), { port: 0 });
  afterwards(() => running.close());
  return running.url;
}

const HINTS = { readOnly: true, destructive: false, openWorld: false };

/** An endpoint that asks for a token, and its metadata. */
async function guarded(issuer: object, { resource = '/mcp', challenge = true } = {}): Promise<string> {
  const origin: string = await listening((request: IncomingMessage, response: ServerResponse) => {
    const documents: Readonly<Record<string, object>> = {
      '/.well-known/oauth-protected-resource/mcp': {
        resource: `${origin}${resource}`,
        authorization_servers: [origin],
      },
      '/.well-known/oauth-authorization-server': {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        response_types_supported: ['code'],
        ...issuer,
      },
    };
    const document = documents[request.url ?? ''];
    const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
    if (document !== undefined)
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
    else if (request.url === '/mcp')
      response
        .writeHead(401, {
          'www-authenticate': challenge ? `Bearer resource_metadata="${metadata}"` : 'Bearer realm="x"',
        })
        .end();
    else response.writeHead(404).end();
  });
  return `${origin}/mcp`;
}

const S256 = { code_challenge_methods_supported: ['S256'] };
const CIMD = { client_id_metadata_document_supported: true };

describe('fullmcp doctor --for', () => {
  it('examines the address, the sessions and the tools of a server for a host', async () => {
    const { exit, findings, find } = await examined([
      await shop(HINTS),
      '--for',
      'claude',
      '--for',
      'cursor',
    ]);
    const steps = findings.map(({ step, status }) => `${step} ${status}`);
    expect(steps.filter((step) => step.includes(': ') && !step.startsWith('auth'))).toEqual([
      'claude: address failed',
      'claude: get ok',
      'claude: sessions ok',
      'claude: login ok',
      'claude: registration ok',
      'claude: login time ok',
      'claude: tools ok',
      'claude: calls ok',
      'claude: calls ok',
      'claude: calls ok',
      'cursor: tools ok',
    ]);
    expect(find('claude: calls')?.message).toMatch(
      /^claude\.ai gives up a call after 60 s \(.*, report of 2026-10-02\), has no tasks \(.*\), shows no questions \(/,
    );
    expect(find('claude: address')).toMatchObject({
      message: 'The URL begins with http://.',
      fix: expect.stringContaining('documentation of 2026-09-02'),
    });
    expect(exit).toBe(1);
  });

  it('names the rules that the tools break, and the command that shows each finding', async () => {
    const { find } = await examined([await shop({ readOnly: true }), '--for', 'chatgpt']);
    expect(find('chatgpt: tools')).toMatchObject({
      status: 'failed',
      message: '1 errors and 0 warnings in their definitions: hints-explicit.',
      fix: 'See each of them with: fullmcp lint <target> --for chatgpt',
    });
  });

  it('finds a 405 without Allow, and a session that has ended and is not told so', async () => {
    const through = await shop(HINTS);
    const origin = await listening(async (request, response) => {
      if (request.method === 'GET') return void response.writeHead(405).end();
      if (request.headers['mcp-session-id'] !== undefined) return void response.writeHead(400).end();
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
      const reply = await fetch(through, {
        method: 'POST',
        headers: headers as Record<string, string>,
        body: Buffer.concat(chunks),
      });
      response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? '' });
      response.end(await reply.text());
    });
    const { find } = await examined([`${origin}/mcp`, '--for', 'claude', '--timeout', '2s']);
    expect(find('claude: get')).toMatchObject({
      status: 'warning',
      message: 'GET is answered with 405 and no Allow header.',
    });
    expect(find('claude: sessions')).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('400'),
    });
  });

  it('accepts a login with a client of a metadata document, or with registration', async () => {
    const registers = { registration_endpoint: 'https://issuer.example/register' };
    const withCimd = { ...S256, ...CIMD, token_endpoint_auth_methods_supported: ['none'] };
    for (const issuer of [withCimd, { ...S256, ...registers }]) {
      const { find } = await examined([await guarded(issuer), '--for', 'claude']);
      for (const step of ['login', 'registration', 'login time'])
        expect(find(`claude: ${step}`)).toMatchObject({ status: 'ok' });
    }
  });

  it.each([
    ['login', { ...CIMD }, {}, 'does not announce S256'],
    ['login', S256, { challenge: false }, 'no WWW-Authenticate: Bearer with resource_metadata'],
    ['login', S256, { resource: '' }, 'not of the URL that users type'],
    ['registration', S256, {}, 'registers no clients'],
    ['registration', { ...S256, ...CIMD }, {}, 'no client without a secret'],
  ] as const)('refuses a %s with %o and %o', async (step, issuer, more, says) => {
    const { find } = await examined([await guarded(issuer, more), '--for', 'claude']);
    expect(find(`claude: ${step}`)).toMatchObject({
      status: 'failed',
      message: expect.stringContaining(says),
    });
  });

  it('warns ChatGPT about tokens that cannot be refreshed', async () => {
    const { find } = await examined([await guarded({ ...S256 }), '--for', 'chatgpt']);
    expect(find('chatgpt: refresh')).toMatchObject({ status: 'warning' });
    const scopes = { scopes_supported: ['offline_access'] };
    const refreshing = await examined([await guarded({ ...S256, ...scopes }), '--for', 'chatgpt']);
    expect(refreshing.find('chatgpt: refresh')).toMatchObject({ status: 'ok' });
  });

  it('refuses a host that it does not know before it sends anything', async () => {
    const { exit, stderr } = await fullmcp(['doctor', 'http://127.0.0.1:1/mcp', '--for', 'netscape']);
    expect(exit).toBe(2);
    expect(stderr).toContain('--for must be one of');
  });
});
