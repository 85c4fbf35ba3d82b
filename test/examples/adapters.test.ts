import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import fastify from 'fastify';
import { createServer } from 'fullmcp';
import { createPlugin } from 'fullmcp/fastify';
import { createNodeHandler } from 'fullmcp/node';
import { describe, expect, test } from 'vitest';
import math from '../../examples/basic-server/server.js';
import { callTool, modern, post } from '../support/examples/wire.js';

describe('an Express app that has already parsed the body', () => {
  test.each([
    ['as JSON', express.json()],
    ['as text', express.text({ type: '*/*' })],
    ['as bytes', express.raw({ type: '*/*' })],
  ])('serves a call whose body was parsed %s', async (_, parser) => {
    await using app = await listen(express().use(parser).use('/mcp', createNodeHandler(math)));
    expect(await callTool(`${app.url}/mcp`, 'add', { a: 2, b: 40 })).toMatchObject({
      content: [{ text: '42' }],
    });
  });

  test('answers a parsed body that is too large for the endpoint with 413', async () => {
    const handler = createNodeHandler(math, { maxBodyBytes: 1000 });
    await using app = await listen(express().use(express.json()).use('/mcp', handler));
    const { body, headers } = modern('tools/list', { padding: 'é'.repeat(600) });
    const response = await fetch(post(`${app.url}/mcp`, body, headers));
    expect(response.status).toBe(413);
  });
});

describe('a Fastify app with the plugin', () => {
  test('closes while a subscription is open, which ends with a result', async () => {
    const server = createServer({ name: 'quiet', version: '1.0.0', changes: true });
    const app = fastify();
    await app.register(createPlugin(server), { prefix: '/mcp' });
    const url = await app.listen({ port: 0 });
    const { body, headers } = modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
    const stream = await fetch(post(`${url}/mcp`, body, headers));
    const [text] = await Promise.all([stream.text(), app.close()]);
    expect(text).toContain('"resultType":"complete"');
  });

  test('keeps its own parsers for other routes', async () => {
    const app = fastify();
    await app.register(createPlugin(math), { prefix: '/mcp' });
    app.post('/echo', (request) => request.body);
    expect((await app.inject({ method: 'POST', url: '/echo', body: { a: 1 } })).json()).toEqual({ a: 1 });
  });

  test('runs its hooks before the endpoint', async () => {
    const app = fastify();
    app.addHook('onRequest', async (_request, reply) => reply.code(401).send('Who are you?'));
    await app.register(createPlugin(math), { prefix: '/mcp' });
    expect((await app.inject({ method: 'POST', url: '/mcp' })).statusCode).toBe(401);
  });
});

async function listen(app: express.Express): Promise<AsyncDisposable & { readonly url: string }> {
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
