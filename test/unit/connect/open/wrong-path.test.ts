import { createServer as createHttp, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { connect, KnownServers, McpError } from '../../../../src/client.js';
import { createServer, tool } from '../../../../src/index.js';
import { createNodeHandler } from '../../../../src/node.js';
import { soon } from '../../../support/until.js';

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of undo.splice(0)) await close();
});

async function listen(listener: RequestListener): Promise<string> {
  const http = createHttp(listener);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  undo.push(() => {
    http.closeAllConnections();
    return new Promise((resolve) => http.close(resolve));
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

function server() {
  return createServer({ name: 'math', version: '1', tools: { t: tool({ run: () => 1 }) } });
}

async function failure(url: string, options: Parameters<typeof connect>[1] = {}): Promise<McpError> {
  const error = await connect(url, { knownServers: new KnownServers(), ...options }).then(
    (client) => client.close().then(() => new Error('It connected')),
    (reason) => reason,
  );
  expect(McpError.is(error), String(error)).toBe(true);
  return error;
}

test('a URL with the wrong path leads to a short error with the right URL', async () => {
  const origin = await listen(createNodeHandler(server(), { path: '/mcp' }));
  for (const path of ['/', '', '/tools', '/api/']) {
    const error = await failure(origin + path);
    const [first, ...attempts] = error.message.split('\n');
    expect(first).toBe(
      `Nothing at ${new URL(origin + path).href} speaks MCP (404). Did you mean ${origin}/mcp? An MCP server answers there.`,
    );
    expect(attempts).toHaveLength(3);
    expect(error).toMatchObject({ code: 'connect_failed', data: { suggestion: `${origin}/mcp` } });
    expect(inspect(error)).toMatch(/^McpError: Nothing/);
    expect(
      inspect(error)
        .split('\n')
        .filter((line) => !/^\s+at /.test(line)).length,
    ).toBeLessThan(16);
  }
});

test('the right URL is also found for a server below a path, of the session era, or with a token', async () => {
  const handle = createNodeHandler(server(), { path: '/tools/mcp' });
  const below = await listen((req, res) => handle(req, res));
  expect((await failure(`${below}/tools`)).message).toContain(
    `Did you mean ${below}/tools/mcp? An MCP server`,
  );

  const old = await listen((req, res) => {
    req.resume();
    if (req.url !== '/mcp') return void res.writeHead(404).end();
    const error = { code: -32000, message: 'Bad Request: No valid session ID provided' };
    res
      .writeHead(400, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id: null, error }));
  });
  expect((await failure(old)).message).toContain(`Did you mean ${old}/mcp? An MCP server`);

  const guarded = await listen((req, res) => {
    req.resume();
    res.writeHead(req.url === '/mcp' ? 401 : 404).end();
  });
  expect((await failure(guarded)).message).toMatch(/Did you mean http:\S+\/mcp\?\n/);
});

test('the token and the headers of a URL are sent to no other URL', async () => {
  const requests: [string | undefined, string | undefined, string | undefined][] = [];
  const origin = await listen((req, res) => {
    req.resume();
    requests.push([req.url, req.headers.authorization, req.headers['x-key'] as string | undefined]);
    res.writeHead(404).end();
  });
  const error = await failure(`${origin}/tenant`, { auth: 'secret', headers: { 'x-key': 'secret' } });
  expect(error.message).not.toContain('Did you mean');
  expect(requests.filter(([url]) => url !== '/tenant')).toEqual([
    ['/mcp', undefined, undefined],
    ['/tenant/mcp', undefined, undefined],
  ]);
  expect(requests.some(([url, auth]) => url === '/tenant' && auth === 'Bearer secret')).toBe(true);
});

test('the error reports that /mcp has no server either, and a URL with /mcp gets no suggestion', async () => {
  const origin = await listen((req, res) => {
    req.resume();
    res.writeHead(200, { 'content-type': 'text/html' }).end('<title>Shop</title>');
  });
  expect((await failure(origin)).message).toMatch(
    /Most servers are at \/mcp, but nothing at http:\S+\/mcp speaks MCP either/,
  );
  const named = await failure(`${origin}/mcp`);
  expect(named.message).toContain('speaks MCP (the reply is not MCP).\n');
  expect(named.message).toContain('Shop');
});

test('a server that never answers at /mcp does not delay the error until the timeout', async () => {
  const origin = await listen((req, res) => {
    req.resume();
    if (req.url !== '/mcp') res.writeHead(404).end();
  });
  const error = await soon('The error', failure(origin, { connectTimeoutMs: 600_000 }));
  expect(error.message).toContain('speaks MCP (404)');
});

test('a server of an unsupported version, or one that is down, is not mistaken for a wrong path', async () => {
  const origin = await listen((req, res) => {
    req.resume();
    const error = {
      code: -32022,
      message: 'Unsupported protocol version',
      data: { supported: ['2030-01-01'] },
    };
    res
      .writeHead(400, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id: 1, error }));
  });
  expect((await failure(origin)).message).not.toContain('speaks MCP');
  const down = await failure('http://127.0.0.1:9/');
  expect(down.message).toContain('Cannot reach');
});

test('the suggestion in an array of targets is in the line of its target', async () => {
  const origin = await listen(createNodeHandler(server(), { path: '/mcp' }));
  const error = await failure([`${origin}/x`, 'http://127.0.0.1:9/mcp'] as unknown as string);
  expect(error.message.split('\n')).toEqual([
    'Could not connect. Tried:',
    `- ${origin}/x: Nothing at ${origin}/x speaks MCP (404). Did you mean ${origin}/mcp? An MCP server answers there.`,
    expect.stringContaining('Cannot reach'),
  ]);
});
