import { bearer } from 'fullmcp/auth';
import { afterEach, describe, expect, it } from 'vitest';
import { send } from '../../support/http/http.js';
import { modern, modernExchange } from '../../support/http/modern.js';
import { rawSocket, readAll } from '../../support/http/raw.js';
import { initializeMessage, jsonHeaders } from '../../support/http/sessions.js';
import { transports } from '../../support/oauth/protected-server.js';

// Requests that try to be somebody, or to get metadata, by the form of their headers and their target.

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const known = new Map([
  ['t-ann', { subject: 'ann' }],
  ['t-bob', { subject: 'bob' }],
]);
const provider = bearer((token) => known.get(token), {
  resource: { authorizationServers: ['https://login.example.com'] },
});

/** Sends lines as they are, and returns the whole reply. */
async function raw(url: string, target: string, lines: readonly string[], method = 'POST'): Promise<string> {
  const { body = '' } = modernExchange('tools/call', { name: 'me' });
  const socket = await rawSocket(Number(new URL(url).port));
  const head = [
    `${method} ${target} HTTP/1.1`,
    ...(lines.some((line) => /^host:/i.test(line)) ? [] : ['Host: localhost']),
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    'MCP-Protocol-Version: 2026-07-28',
    'Mcp-Method: tools/call',
    'Mcp-Name: me',
    'Connection: close',
    `Content-Length: ${method === 'POST' ? String(body).length : 0}`,
    ...lines,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${method === 'POST' ? String(body) : ''}`);
  return readAll(socket);
}

const statusOf = (reply: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(reply)?.[1]);

describe.each(Object.entries(transports))('%s', (_, start) => {
  async function started(): Promise<string> {
    const running = await start(provider);
    closing.push(running.close);
    return running.url;
  }

  it('refuses two Authorization headers, whichever of them is valid', async () => {
    const url = await started();
    const twice = [
      ['t-ann', 't-bob'],
      ['t-ann', 'wrong'],
      ['wrong', 't-ann'],
      ['t-ann', 't-ann'],
    ];
    for (const [first, second] of twice) {
      const reply = await raw(url, '/mcp', [
        `Authorization: Bearer ${first}`,
        `authorization: Bearer ${second}`,
      ]);
      expect([first, second, statusOf(reply)]).toEqual([first, second, 401]);
      expect(reply).toContain('error="invalid_token"');
    }
    expect(await raw(url, '/mcp', ['Authorization: Bearer t-ann'])).toContain('"ann"');
  });

  it('refuses two Host headers as a bad request, also if they are equal', async () => {
    const url = await started();
    for (const second of ['localhost', 'evil.example.com']) {
      const lines = ['Authorization: Bearer t-ann', 'Host: localhost'];
      expect([second, statusOf(await raw(url, '/mcp', [...lines, `host: ${second}`]))]).toEqual([
        second,
        400,
      ]);
      expect(statusOf(await raw(url, '/mcp', lines))).toBe(200);
    }
  });

  it.each([
    ['bearer t-ann', 200],
    ['BEARER   t-ann', 200],
    ['Bearer t-ann,t-bob', 401],
    ['Bearer t-ann, Bearer t-bob', 401],
    ['Bearer "t-ann"', 401],
    ['Bearer', 401],
    ['Bearer ', 401],
    ['', 401],
    ['t-ann', 401],
    ['Bearer\tt-ann', 401],
    ['Basic t-ann', 401],
    ['Bearer t-ann t-bob', 401],
    ['Bearer t-änn', 401],
    [`Bearer t-ann${' '.repeat(1000)}x`, 401],
  ])('answers the header %j with %d', async (authorization, status) => {
    const url = await started();
    expect(statusOf(await raw(url, '/mcp', [`Authorization: ${authorization}`]))).toBe(status);
  });

  it('rejects headers that are too long or have a NUL, and serves the next request', async () => {
    const url = await started();
    for (const authorization of [`Bearer ${'a'.repeat(100_000)}`, 'Bearer t-ann\0']) {
      // Newer versions of Node reset the connection, since they do not read the rest of such a request.
      const replied = raw(url, '/mcp', [`Authorization: ${authorization}`]).then(statusOf, () => 'reset');
      expect([400, 401, 431, 'reset']).toContain(await replied);
    }
    expect(await raw(url, '/mcp', ['Authorization: Bearer t-ann'])).toContain('"ann"');
  });

  it('does not take a token from the query, from a cookie or from a form', async () => {
    const url = await started();
    for (const query of ['?access_token=t-ann', '?authorization=Bearer%20t-ann', '?token=t-ann'])
      expect((await modern(`${url}${query}`, 'tools/call', { name: 'me' })).status).toBe(401);
    const { headers, body } = modernExchange('tools/call', { name: 'me' });
    const cookie = 'access_token=t-ann; authorization=Bearer t-ann';
    expect((await send(url, { headers: { ...headers, cookie }, body: String(body) })).status).toBe(401);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await send(url, { headers: form, body: 'access_token=t-ann' })).status).toBe(401);
  });

  it('lets a preflight request through without credentials, and nothing else', async () => {
    const url = await started();
    const headers = { origin: new URL(url).origin, 'access-control-request-headers': 'authorization' };
    const allowed = await send(url, { method: 'OPTIONS', headers });
    expect([allowed.status, allowed.headers['access-control-allow-headers']]).toEqual([204, 'authorization']);
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'])
      expect([method, (await send(url, { method })).status]).toEqual([method, 401]);
  });

  it('does not serve metadata for paths that only resemble those of the endpoint, and never for another origin', async () => {
    const url = await started();
    const known = '/.well-known/oauth-protected-resource';
    const targets = [
      `${known}/../../evil`,
      `${known}/..%2f..%2fevil`,
      `${known}//evil.example/mcp`,
      `${known}/%2e%2e/mcp`,
      `${known}/mcp?x=${known}`,
      `//evil.example${known}`,
      `${known}%2Fmcp`,
      `/%2ewell-known/oauth-protected-resource/mcp`,
      `/x${known}/mcp`,
      `http://evil.example${known}/mcp`,
      `foo://evil.example${known}`,
      `foo://evil.example/mcp`,
      '*',
    ];
    for (const target of targets)
      for (const method of ['GET', 'OPTIONS', 'POST']) {
        const reply = await raw(url, target, [], method);
        expect(reply, `${method} ${target}`).toMatch(/^HTTP\/1\.1 (200|204|4\d\d) /);
        for (const [, address] of reply.matchAll(/"?(?:resource|resource_metadata)"?[:=]"([^"]*)"/g))
          expect(new URL(address as string).host, `${method} ${target}: ${address}`).toBe('localhost');
      }
  });

  it('does not print a Host or a forwarded host that it has not checked', async () => {
    const url = await started();
    const target = '/.well-known/oauth-protected-resource/mcp';
    for (const host of [
      'evil.example',
      'localhost"evil',
      'localhost/evil',
      'localhost@evil.example',
      'a,b',
    ]) {
      for (const reply of [
        await raw(url, '/mcp', [`Host: ${host}`]),
        await raw(url, target, [`Host: ${host}`], 'GET'),
      ]) {
        expect([host, [400, 403].includes(statusOf(reply))]).toEqual([host, true]);
        expect(reply).not.toMatch(/www-authenticate/i);
      }
    }
    const forwarded = [
      'X-Forwarded-Host: evil.example',
      'Forwarded: host=evil.example',
      'X-Forwarded-Proto: evil',
    ];
    expect(await raw(url, '/mcp', forwarded)).not.toContain('evil');
    expect(await raw(url, target, forwarded, 'GET')).not.toContain('evil');
  });

  it('does not keep a session from before a caller was known', async () => {
    const open = await start({ ...provider, optional: true });
    closing.push(open.close);
    const body = JSON.stringify(initializeMessage('2025-11-25'));
    const { headers } = await send(open.url, { headers: jsonHeaders, body });
    const session = { ...jsonHeaders, 'mcp-session-id': String(headers['mcp-session-id']) };
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const authorization = 'Bearer t-ann';
    expect((await send(open.url, { headers: session, body: ping })).status).toBe(200);
    expect((await send(open.url, { headers: { ...session, authorization }, body: ping })).status).toBe(404);
  });
});

describe('the upgrade to a WebSocket', () => {
  const upgrade = [
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Protocol: mcp',
  ];

  async function statusFor(url: string, target: string, lines: readonly string[]): Promise<number> {
    const socket = await rawSocket(Number(new URL(url).port));
    const head = [`GET ${target} HTTP/1.1`, 'Host: localhost', 'Connection: Upgrade', ...upgrade, ...lines];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    const reply = await readAll(socket, (text) => text.includes('\r\n\r\n'));
    socket.destroy();
    return statusOf(reply);
  }

  it('needs one token in one header, as every other request does', async () => {
    const running = await transports['serve']?.(provider);
    const url = running?.url ?? '';
    closing.push(() => running?.close());
    const token = 'Authorization: Bearer t-ann';
    expect(await statusFor(url, '/mcp', [token])).toBe(101);
    expect(await statusFor(url, '/mcp', [token, 'Authorization: Bearer t-bob'])).toBe(401);
    expect(await statusFor(url, '/mcp', ['Cookie: access_token=t-ann'])).toBe(401);
    expect(await statusFor(url, '/mcp?access_token=t-ann', [])).toBe(401);
    expect(await statusFor(url, '/mcp/', [token])).toBe(404);
    expect(await statusFor(url, '/sse', [token])).toBe(404);
    expect(await statusFor(url, '/mcp', [token, 'Origin: https://evil.example'])).toBe(403);
  });
});
