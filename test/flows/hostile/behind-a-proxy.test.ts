import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import { createServer, tool } from 'fullmcp';
import { createPlugin } from 'fullmcp/fastify';
import { createHandler } from 'fullmcp/http';
import { rateLimit } from 'fullmcp/middleware';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createNodeHandler, type ServeOptions, serve } from '../../../src/node.js';
import { openEvents, send } from '../../support/http/http.js';
import { modern, modernExchange, modernMessage } from '../../support/http/modern.js';
import { initializeMessage, jsonHeaders, openSession } from '../../support/http/sessions.js';
import { soon } from '../../support/until.js';

const CLIENT = '203.0.113.9';
const headers = { 'x-forwarded-for': `1.1.1.1, ${CLIENT}` };
const where = { name: 'where', arguments: {} };

function build() {
  return createServer({
    name: 'test',
    version: '1.0.0',
    logger: () => undefined,
    tools: { where: tool({ run: (_, { request }) => String(request?.remoteAddress) }) },
  });
}

async function withServing<T>(options: ServeOptions, work: (url: string) => Promise<T>): Promise<T> {
  await using serving = await serve(build(), { port: 0, signals: false, ...options });
  return await work(serving.url);
}

const own = /"text":"(?:::ffff:)?127\.0\.0\.1"/;
const client = new RegExp(`"text":"${CLIENT}"`);

describe('the address of a client', () => {
  it('is that of the connection by default, whatever the headers say', async () => {
    const forged = { ...headers, forwarded: `for=${CLIENT}`, 'x-real-ip': CLIENT };
    const reply = await withServing({}, (url) => modern(url, 'tools/call', where, { headers: forged }));
    expect(reply.text).toMatch(own);
  });

  it('is that of the connection if the proxy is not a trusted one', async () => {
    const reply = await withServing({ trustProxy: ['10.0.0.0/8'] }, (url) =>
      modern(url, 'tools/call', where, { headers }),
    );
    expect(reply.text).toMatch(own);
  });

  it.each<[string, ServeOptions]>([
    ['the number of proxies', { trustProxy: 1 }],
    ['their addresses', { trustProxy: ['127.0.0.1', '::1'] }],
    ['an object', { trustProxy: { proxies: ['127.0.0.0/8'], header: 'X-Forwarded-For' } }],
  ])('is in the header of a trusted proxy, given %s', async (_, options) => {
    await withServing(options, async (url) => {
      expect((await modern(url, 'tools/call', where, { headers })).text).toMatch(client);
      expect((await modern(url, 'tools/call', where)).text).toMatch(own);
    });
  });

  it('is the same in sessions, over a stream of 2024-11-05 and on a WebSocket', async () => {
    await withServing({ trustProxy: 1 }, async (url) => {
      const session = await openSession(url);
      const reply = await session.post(
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: where },
        headers,
      );
      expect(reply.text).toMatch(client);

      const base = url.slice(0, url.lastIndexOf('/'));
      const events = await openEvents(`${base}/sse`, {
        method: 'GET',
        headers: { accept: 'text/event-stream' },
      });
      const endpoint = new URL((await events.next())?.data ?? '', base).href;
      const post = (message: object) =>
        send(endpoint, { headers: { ...jsonHeaders, ...headers }, body: JSON.stringify(message) });
      await post(initializeMessage('2024-11-05'));
      await events.next();
      await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
      await post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: where });
      expect((await events.next())?.data).toMatch(client);
      events.drop();

      const socket = new WebSocket(url.replace('http', 'ws'), 'mcp', { headers });
      await once(socket, 'open');
      const answer = once(socket, 'message');
      socket.send(JSON.stringify(modernMessage('tools/call', where)));
      const [data] = await soon('The response', answer);
      expect(String(data)).toMatch(client);
      socket.terminate();
    });
  });

  it('is found by the handlers for Node, Fastify and the web', async () => {
    const server = build();
    const options = { trustProxy: 1 };
    const http = createHttpServer(createNodeHandler(server, options));
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const { port } = http.address() as AddressInfo;
    expect((await modern(`http://127.0.0.1:${port}/mcp`, 'tools/call', where, { headers })).text).toMatch(
      client,
    );
    http.close();

    const app = fastify();
    await app.register(createPlugin(server, options), { prefix: '/mcp' });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    expect((await modern(`${url}/mcp`, 'tools/call', where, { headers })).text).toMatch(client);
    await app.close();

    const { headers: all, body } = modernExchange('tools/call', where, { headers });
    const request = () =>
      new Request('http://localhost/mcp', { method: 'POST', headers: all as never, body: body as string });
    expect(await (await createHandler(server, options)(request())).text()).toMatch(client);
    expect(await (await createHandler(server)(request())).text()).toContain('"text":"undefined"');
  });

  it('can be configured by the environment', async () => {
    for (const value of ['1', '127.0.0.0/8, ::1']) {
      process.env['MCP_TRUST_PROXY'] = value;
      try {
        const reply = await withServing({}, (url) => modern(url, 'tools/call', where, { headers }));
        expect(reply.text).toMatch(client);
      } finally {
        delete process.env['MCP_TRUST_PROXY'];
      }
    }
  });

  it('is required to be right: a mistake ends the start', async () => {
    await expect(serve(build(), { port: 0, trustProxy: true as never })).rejects.toThrow(
      /trustProxy must be the number of proxies/,
    );
  });
});

describe('rateLimit by address behind a proxy', () => {
  it('limits each client, and not the proxy; forged addresses do not help', async () => {
    const server = createServer({
      name: 'test',
      version: '1.0.0',
      logger: () => undefined,
      use: [rateLimit({ tools: { limit: 2, perMs: 3_600_000 }, by: 'address' })],
      tools: { where: tool({ run: () => 'here' }) },
    });
    await using serving = await serve(server, { port: 0, signals: false, trustProxy: 1 });
    const call = async (value: string): Promise<number> =>
      (await modern(serving.url, 'tools/call', where, { headers: { 'x-forwarded-for': value } })).status;
    for (let n = 0; n < 2; n++) expect(await call('203.0.113.1')).toBe(200);
    expect(await call('203.0.113.1')).toBe(429);
    // The client has sent a header of its own, to which the proxy has added the real address.
    for (let n = 0; n < 5; n++) expect(await call(`198.51.100.${n}, 203.0.113.1`)).toBe(429);
    expect(await call('203.0.113.2')).toBe(200);
    // Another spelling of the same address.
    for (let n = 0; n < 2; n++) expect(await call('2001:db8::1')).toBe(200);
    expect(await call('[2001:DB8:0::1]:443')).toBe(429);
  });
});
