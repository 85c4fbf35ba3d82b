import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, tool } from 'fullmcp';
import { createNodeHandler, type ServeOptions, serve } from 'fullmcp/node';
import { afterEach, expect, test } from 'vitest';
import { type Reply, scriptedServer } from '../support/http/http-server.js';
import { describeInChromium, WEBSITE } from './chromium.js';
import type { Visit } from './visit.js';
import { useWorld } from './world.js';

// The errors that a page gets when it cannot connect. A browser hides most causes, so the message has to name the likely ones.

describeInChromium('a page that connects', () => {
  const world = useWorld();
  const open: AsyncDisposable[] = [];

  afterEach(async () => {
    for (const server of open.splice(0)) await server[Symbol.asyncDispose]();
  });

  function connectTo(target: unknown, host?: string): Promise<Visit> {
    return world.open({ do: 'connectTo', target: JSON.stringify(target) }, host);
  }

  test.each([
    ['start a process', { command: 'x' }],
    ['start a process', 'server.js'],
    ['read a file', 'mcp.json'],
  ])('gets an error that says that a browser cannot %s', async (what, target) => {
    const page = await connectTo(target);
    expect(await page.result()).toEqual({
      code: 'invalid_request',
      message: `A browser cannot ${what}: connect to a URL instead.`,
    });
    expect(page.complaints).toEqual([]);
  });

  test('gets an error that says that the server redirects', async () => {
    const url = await answering((request, response) => {
      allow(response);
      if (request.method === 'OPTIONS') response.writeHead(204).end();
      else response.writeHead(307, { location: '/elsewhere' }).end();
    });
    const page = await connectTo(url);
    expect(await page.result()).toEqual({
      code: 'bad_response',
      message: `${url} redirects (to an unknown address). It gives no address, or the browser hides the address: connect to the final address directly.`,
    });
    expect(page.complaints).toEqual([]);
  });

  test('gets an error with the title of a web page that comes in place of a response', async () => {
    const url = await answering((_, response) => {
      allow(response);
      captive(response);
    });
    expect(await (await connectTo(url)).result()).toEqual({
      code: 'connect_failed',
      message: expect.stringContaining(`${url} answered with a web page titled "Welcome to the hotel"`),
    });
  });

  test('gets an error that suggests CORS if a captive portal answers', async () => {
    const url = await answering((_, response) => captive(response));
    expect(await (await connectTo(url)).result()).toEqual(unreachable(url));
  });

  test('gets an error with the address if nothing listens there', async () => {
    const url = await answering(() => {});
    await open.pop()?.[Symbol.asyncDispose]();
    expect(await (await connectTo(url)).result()).toEqual(unreachable(url));
    const socket = url.replace('http', 'ws');
    expect(await (await connectTo(socket)).result()).toEqual({
      code: 'connect_failed',
      message: expect.stringContaining(`Cannot connect to ${socket}`),
    });
  });

  test('gets an error that suggests CORS if the server does not list its origin', async () => {
    const url = await serving();
    const page = await connectTo(url, WEBSITE);
    expect(await page.result()).toEqual(unreachable(url));
    expect(page.complaints.join()).toContain('blocked by CORS policy');
  });

  test('succeeds if the server lists its origin, even without a secure context', async () => {
    const url = await serving({ allowedOrigins: [`http://${WEBSITE}:${world.site.port}`] });
    const visit = await world.open({ do: 'connect', url }, WEBSITE);
    expect(await visit.result()).toMatchObject({ server: 'plain', revision: '2026-07-28', problems: [] });
    expect(visit.complaints).toEqual([]);
    expect(await visit.page.evaluate('isSecureContext')).toBe(false);
  });

  test('succeeds in a session if the CORS settings of the server lack the newest headers', async () => {
    const url = await withOlderCors();
    const page = await world.open({ do: 'connect', url });
    expect(await page.result()).toMatchObject({ server: 'plain', revision: '2025-11-25', problems: [] });
    expect(page.complaints.join()).toContain('mcp-method is not allowed');
  });

  async function answering(reply: Reply): Promise<string> {
    const server = await scriptedServer(reply);
    open.push(server);
    return server.url.href;
  }

  async function serving(options: ServeOptions = {}): Promise<string> {
    const started = await serve(plain(), { port: 0, signals: false, ...options });
    open.push(started);
    return started.url;
  }

  async function withOlderCors(): Promise<string> {
    const mcp = createNodeHandler(plain());
    const http = createHttpServer((req, res) => {
      if (req.method !== 'OPTIONS') return void mcp(req, res);
      allow(res, 'content-type, authorization, mcp-session-id, mcp-protocol-version, last-event-id');
      res.setHeader('access-control-allow-methods', 'GET, POST, DELETE');
      res.writeHead(204).end();
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    open.push({
      async [Symbol.asyncDispose]() {
        await mcp.close();
        http.closeAllConnections();
        await new Promise((resolve) => http.close(resolve));
      },
    });
    return `http://localhost:${(http.address() as AddressInfo).port}/mcp`;
  }
});

function plain(): Server {
  return createServer({ name: 'plain', version: '1.0.0', tools: { ping: tool({ run: () => 'pong' }) } });
}

/** The error of a browser, which does not report the reason. */
function unreachable(url: string): object {
  const message = `Cannot reach ${url}: no reason is known. In a browser, the server may not allow this page (CORS).`;
  return { code: 'connect_failed', message };
}

function allow(
  response: ServerResponse,
  headers = 'content-type, mcp-protocol-version, mcp-method, mcp-name',
): void {
  response.setHeader('access-control-allow-origin', '*');
  response.setHeader('access-control-allow-headers', headers);
}

/** The login page of a captive network. */
function captive(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/html' });
  response.end('<!doctype html><title>Welcome to the hotel</title><p>Log in first</p>');
}
