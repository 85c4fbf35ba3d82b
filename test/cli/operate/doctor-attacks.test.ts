import { createServer as createTcpServer } from 'node:net';
import { setInterval } from 'node:timers';
import { describe, expect, it } from 'vitest';
import { error, json, result, scriptedServer, stream } from '../../support/http/http-server.js';
import { HOSTILE, UNSAFE } from '../check/support.js';
import { fullmcp } from '../support/run-cli.js';
import { examined, listening } from './support.js';

// Servers that are slow, endless, or that lie. The doctor ends in time, says what it saw, and shows nothing that is not clean.

const SHORT = ['--timeout', '300ms'];

describe('A server', () => {
  it('that never answers is given up on', async () => {
    const origin = await listening(() => undefined);
    const { exit, findings } = await examined([`${origin}/mcp`, ...SHORT]);
    expect(exit).toBe(1);
    expect(findings.at(-1)).toMatchObject({
      step: 'http',
      status: 'failed',
      message: 'There is no HTTP reply: no reply within 300 ms.',
    });
  });

  it('that answers with something else than HTTP is named', async () => {
    const tcp = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('220 mail.example ESMTP\r\n');
    });
    const origin = await listening(tcp);
    const { exit, findings } = await examined([`${origin}/mcp`, ...SHORT]);
    expect(exit).toBe(1);
    expect(findings.at(-1)).toMatchObject({ step: 'http', message: expect.stringContaining('not HTTP') });
  });

  it('with 10 MB of headers is not read to its end', async () => {
    let written = 0;
    const tcp = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.write('HTTP/1.1 200 OK\r\n');
      const line = `X-Large: ${'x'.repeat(8000)}\r\n`;
      const more = (): void => {
        while (written < 10_000_000 && !socket.destroyed) {
          written += line.length;
          if (!socket.write(line)) return void socket.once('drain', more);
        }
      };
      more();
    });
    const origin = await listening(tcp);
    const { exit, findings } = await examined([`${origin}/mcp`]);
    expect(exit).toBe(1);
    expect(findings.at(-1)).toMatchObject({
      step: 'http',
      message: expect.stringContaining('larger than 64 KB'),
    });
    expect(written).toBeLessThan(10_000_000);
  });

  it.each(['application/json', 'text/event-stream'])('with an endless body of %s is cut', async (type) => {
    const origin = await listening((_request, response) => {
      response.writeHead(200, { 'content-type': type });
      const chunk = Buffer.alloc(64 * 1024, 'data: x\n\n');
      const more = (): void => {
        while (!response.destroyed) if (!response.write(chunk)) return void response.once('drain', more);
      };
      more();
    });
    const { exit, findings } = await examined([`${origin}/mcp`, '--timeout', '2s']);
    expect(exit).toBe(1);
    expect(findings.at(-1)).toMatchObject({ step: 'http', message: expect.stringContaining('speaks MCP') });
  });

  it('whose body comes a byte at a time is cut at the time of the step', async () => {
    const origin = await listening((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    });
    expect((await examined([`${origin}/mcp`, ...SHORT])).exit).toBe(1);
  });

  it.each([
    ['http://10.0.0.8/mcp', /not a public address/, /Do not use that URL/],
    ['http://169.254.169.254/latest/meta-data', /not a public address/, /Do not use that URL/],
    ['https://elsewhere.example/mcp', /redirects to https:\/\/elsewhere\.example\/mcp/, /another origin/],
    ['/mcp/', /redirects to http/, /^Use http/],
  ])('that redirects to %s is not followed', async (location, message, fix) => {
    await using server = await scriptedServer((_request, response) =>
      response.writeHead(307, { location }).end(),
    );
    const { exit, findings } = await examined([server.url.href, '--token', 'secret-token']);
    expect(exit).toBe(1);
    expect(findings.at(-1)).toMatchObject({
      step: 'http',
      status: 'failed',
      message: expect.stringMatching(message),
      fix: expect.stringMatching(fix),
    });
    expect(server.received).toHaveLength(1);
  });

  it('whose challenge names a document on a private network is not followed there', async () => {
    await using inside = await scriptedServer((_request, response) => json(response, {}));
    const { port } = inside.url;
    const metadata = `http://192.168.0.1:${port}/secret`;
    await using server = await scriptedServer((_request, response) =>
      response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` }).end(),
    );
    const { exit, find } = await examined([server.url.href]);
    expect(exit).toBe(1);
    expect(find('auth: resource')).toMatchObject({ status: 'failed' });
    expect(inside.received).toEqual([]);
  });

  it('that lies about its revisions is caught', async () => {
    await using server = await scriptedServer((request, response) => {
      if (request.body?.method === 'server/discover')
        return json(
          response,
          result(request, { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }),
        );
      return json(response, error(request, -32600, 'Bad Request: Server not initialized'), 400);
    });
    const { exit, find } = await examined([server.url.href, ...SHORT]);
    expect(exit).toBe(1);
    expect(find('revisions')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('refuses tools/list'),
    });
  });

  it.each([
    ['server/discover', { supportedVersions: ['2031-01-01'], capabilities: {} }, /"2031-01-01"/],
    ['initialize', { protocolVersion: '1999-12-31', capabilities: {}, serverInfo: {} }, /1999-12-31/],
  ])('that answers %s with a version that does not exist is caught', async (method, answer, message) => {
    await using server = await scriptedServer((request, response) =>
      request.body?.method === method
        ? json(response, result(request, answer))
        : json(response, error(request, -32601, 'no'), 404),
    );
    const { exit, find } = await examined([server.url.href, ...SHORT]);
    expect(exit).toBe(1);
    expect(find('revisions')).toMatchObject({ status: 'failed', message: expect.stringMatching(message) });
  });

  it('that answers the first request only is given up on step by step', async () => {
    let requests = 0;
    await using server = await scriptedServer((request, response) => {
      requests += 1;
      if (requests === 1)
        json(response, result(request, { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }));
    });
    const { exit, problems } = await examined([server.url.href, ...SHORT]);
    expect(exit).toBe(1);
    expect(problems.every(({ status }) => status === 'failed')).toBe(true);
    expect(problems.map(({ step }) => step)).toEqual([
      'host',
      'headers',
      'revisions',
      'stream',
      'cors',
      'protocol',
    ]);
  });

  it('whose pages of tools have no end is given up on', async () => {
    await using server = await scriptedServer((request, response) => {
      if (request.method !== 'POST') return response.writeHead(405).end();
      const { method, id } = request.body ?? {};
      if (method === 'subscriptions/listen') return stream(response).say({ jsonrpc: '2.0', id, result: {} });
      const listed = {
        tools: [{ name: `t${Math.random()}`, inputSchema: { type: 'object' } }],
        nextCursor: 'x',
      };
      const discovered = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
      return json(response, result(request, method === 'tools/list' ? listed : discovered));
    });
    const { exit, find } = await examined([server.url.href, ...SHORT]);
    expect(exit).toBe(1);
    expect(find('tools')?.status).toBe('failed');
  });

  it('cannot put anything on the terminal, wherever its text is shown', async () => {
    await using server = await scriptedServer((request, response) => {
      if (request.method === 'OPTIONS')
        return response.writeHead(204, { 'access-control-allow-origin': 'https://\u009b31m.example' }).end();
      if (request.body?.method === 'initialize')
        return json(response, result(request, { protocolVersion: HOSTILE, serverInfo: { name: HOSTILE } }));
      return json(response, error(request, -32020, HOSTILE.repeat(10_000)), 400);
    });
    const { exit, stdout, stderr } = await fullmcp(['doctor', server.url.href, ...SHORT]);
    expect(exit).toBe(1);
    for (const unsafe of UNSAFE) expect(stdout + stderr).not.toContain(unsafe);
    expect(stdout.length).toBeLessThan(10_000);
    const { printed } = await examined([server.url.href, ...SHORT]);
    for (const unsafe of UNSAFE) expect(printed).not.toContain(unsafe);
  });
});

it('The doctor ends at Ctrl+C in the middle of a step', async () => {
  const stopping = new AbortController();
  const origin = await listening(() => stopping.abort());
  const { exit } = await fullmcp(['doctor', `${origin}/mcp`], { signal: stopping.signal });
  expect(exit).toBe(130);
});
