import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { type AuthProvider, bearer } from 'fullmcp/auth';
import { createPlugin } from 'fullmcp/fastify';
import { createHandler, unsafeAnyHost } from 'fullmcp/http';
import { createNodeHandler } from 'fullmcp/node';
import { Hono } from 'hono';
import { afterEach, expect, it } from 'vitest';
import { isResourceOf } from '../../../src/oauth/documents/protected-resource.js';
import { readResourceChallenge } from '../../../src/oauth/documents/resource-challenge.js';
import { send } from '../../support/http/http.js';
import { modern } from '../../support/http/modern.js';
import { protectedServer } from '../../support/oauth/protected-server.js';

// Handlers that a framework has mounted at a path: the challenge leads to metadata that can be fetched there.

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const provider = bearer(() => undefined, {
  resource: { authorizationServers: ['https://login.example.com'] },
});

async function listening(makeListener: (origin: string) => RequestListener): Promise<string> {
  const http = createHttpServer().listen(0, '127.0.0.1');
  closing.push(() => new Promise((resolve) => http.close(resolve)));
  await once(http, 'listening');
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  http.on('request', makeListener(origin));
  return `${origin}/deep/mcp`;
}

const mounts: Readonly<Record<string, (auth: AuthProvider) => Promise<string>>> = {
  'app.use of Express': (auth) =>
    listening(() => express().use('/deep/mcp', createNodeHandler(protectedServer(), { auth }))),
  'app.mount of Hono, which removes the path, with publicUrl': (auth) =>
    listening((origin) => {
      const publicUrl = `${origin}/deep/mcp`;
      const app = new Hono().mount('/deep/mcp', createHandler(protectedServer(), { auth, publicUrl }));
      return getRequestListener(app.fetch);
    }),
  'app.all of Hono': (auth) =>
    listening(() => {
      const handler = createHandler(protectedServer(), { auth });
      return getRequestListener(new Hono().all('/deep/mcp/*', (c) => handler(c.req.raw)).fetch);
    }),
  'the prefix of Fastify': async (auth) => {
    const app = fastify();
    await app.register(createPlugin(protectedServer(), { auth }), { prefix: '/deep/mcp' });
    closing.push(() => app.close());
    return `${await app.listen({ port: 0, host: '127.0.0.1' })}/deep/mcp`;
  },
};

it.each(Object.entries(mounts))(
  'A handler mounted with %s tells clients where they find its metadata',
  async (_, start) => {
    const url = await start(provider);
    const refused = await modern(url, 'tools/list');
    expect(refused.status).toBe(401);
    const { resourceMetadata } = readResourceChallenge(String(refused.headers['www-authenticate'])) ?? {};
    const reply = await send(String(resourceMetadata), { method: 'GET' });
    expect([resourceMetadata, reply.status]).toEqual([`${url}/.well-known/oauth-protected-resource`, 200]);
    expect(JSON.parse(reply.text).resource).toBe(url);
    expect(isResourceOf(JSON.parse(reply.text).resource, url)).toBe(true);
  },
);

it('A server that accepts any host still refuses a host that is none', async () => {
  const handler = createNodeHandler(protectedServer(), { auth: provider, allowedHosts: unsafeAnyHost });
  const url = await listening(() => handler);
  const { origin } = new URL(url);
  for (const host of ['a"b', 'x y', 'a\\b', '[::']) {
    const refused = await modern(url, 'tools/list', {}, { headers: { host } });
    const metadata = await send(`${origin}/.well-known/oauth-protected-resource/mcp`, {
      method: 'GET',
      headers: { host },
    });
    expect([host, refused.status, metadata.status]).toEqual([host, 403, 403]);
    expect(refused.headers['www-authenticate']).toBeUndefined();
  }
});

it('A path with characters that URLs do not have cannot end the challenge', async () => {
  const handler = createNodeHandler(protectedServer(), { auth: provider });
  const url = await listening(() => handler);
  const { hostname, port } = new URL(url);
  const { connect } = await import('node:net');
  const socket = connect(Number(port), hostname);
  socket.end('POST /a"b,x=\\c HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  expect(text).toMatch(/^HTTP\/1\.1 401 /);
  expect(/www-authenticate: (.*)\r\n/i.exec(text)?.[1]).toMatch(
    /^Bearer resource_metadata="http:\/\/localhost\/a%22b,x=[^"\\]*"$/,
  );
});
