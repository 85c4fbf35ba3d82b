import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, jsonSchema, McpError, memoryStore, prompt, tool } from 'fullmcp';
import { connect, type ElicitFormResult } from 'fullmcp/client';
import { createHandler } from 'fullmcp/http';
import { createNodeHandler, serve } from 'fullmcp/node';
import { testClient } from 'fullmcp/testing';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { post } from '../support/examples/wire.js';

// Sentences of the guides that no other test covers.

afterEach(() => vi.unstubAllEnvs());

test('serve listens on this machine only, by default', async () => {
  await using serving = await serve(createServer({ name: 'x', version: '1.0.0' }), {
    port: 0,
    signals: false,
  });
  expect((await fetch(serving.url.replace(/\/mcp$/, '/health'))).status).toBe(200);
  // Another address of the same machine, which a server on all addresses would answer at.
  const { port } = new URL(serving.url);
  await expect(fetch(`http://127.0.0.2:${port}/health`)).rejects.toThrow();
});

describe('handlers that a program mounts itself', () => {
  const settings = {
    MCP_ALLOWED_HOSTS: 'evil.example',
    MCP_ALLOWED_ORIGINS: 'https://evil.example',
    MCP_PUBLIC_URL: 'https://evil.example/mcp',
    MCP_MAX_BODY_BYTES: '1',
  };
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

  test('createHandler does not read options from the environment', async () => {
    for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
    const handler = createHandler(createServer({ name: 'x', version: '1.0.0', logger: () => undefined }));
    onTestFinished(() => handler.close());
    expect((await handler(post('http://evil.example/mcp', ping, {}))).status).toBe(403);
    const origin = { origin: 'https://evil.example' };
    expect((await handler(post('http://localhost/mcp', ping, origin))).status).toBe(403);
    expect((await handler(post('http://localhost/mcp', ping, {}))).status).not.toBe(413);
  });

  test('createNodeHandler does not read options from the environment', async () => {
    for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
    const handler = createNodeHandler(createServer({ name: 'x', version: '1.0.0', logger: () => undefined }));
    const http = createHttpServer((request, response) => void handler(request, response)).listen(
      0,
      '127.0.0.1',
    );
    onTestFinished(() => void http.close());
    await new Promise((resolve) => http.once('listening', resolve));
    const { port } = http.address() as AddressInfo;
    const headers = { origin: 'https://evil.example', 'content-type': 'application/json' };
    const reply = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST',
      body: JSON.stringify(ping),
      headers,
    });
    expect(reply.status).toBe(403);
  });

  test('createHandler does not read the secret from the environment', async () => {
    vi.stubEnv('MCP_SECRET', 'x'.repeat(32));
    const warnings: string[] = [];
    const server = createServer({
      name: 'x',
      version: '1.0.0',
      logger: (level, message) => {
        if (level === 'warning') warnings.push(message);
      },
      tools: {
        greet: tool({
          run: async (_, ctx) =>
            (await ctx.ask('who', { message: 'Who?', schema: z.object({ name: z.string() }) })).name,
        }),
      },
    });
    const handler = createHandler(server);
    onTestFinished(() => handler.close());
    const elicit = (): ElicitFormResult => ({ action: 'accept', content: { name: 'Ada' } });
    await using client = await connect('http://localhost/mcp', {
      elicit,
      fetch: (input, init) => handler(new Request(input, init)),
    });
    expect((await client.callTool('greet')).text).toBe('Ada');
    expect(warnings.join()).toContain('secret');
  });
});

test('a task asks and is answered by servers that share only its store, each with a random secret of its own', async () => {
  const store = memoryStore();
  const build = () =>
    createServer({
      name: 'asks',
      version: '1.0.0',
      store,
      logger: () => undefined,
      tools: {
        greet: tool({
          task: 'required',
          run: async (_, ctx) =>
            (await ctx.ask('who', { message: 'Who?', schema: z.object({ name: z.string() }) })).name,
        }),
      },
    });
  const [asking, answering] = [build(), build()];
  onTestFinished(async () => {
    await asking.close();
    await answering.close();
  });
  await using first = await testClient(asking, {
    revision: '2026-07-28',
    caller: { subject: 'ada' },
    elicit: () => new Promise(() => undefined),
  });
  const task = await first.startTool('greet');
  await using second = await testClient(answering, {
    revision: '2026-07-28',
    caller: { subject: 'ada' },
    elicit: () => ({ action: 'accept', content: { name: 'Ada' } }),
  });
  expect((await second.task(String(task.id)).result()).text).toBe('Ada');
});

test.each(['2026-07-28', '2025-11-25'] as const)(
  'an argument of a prompt whose schema expects a number is converted from the string that a client sends, in %s',
  async (revision) => {
    const server = createServer({
      name: 'x',
      version: '1.0.0',
      prompts: {
        poem: prompt({
          args: z.object({ lines: z.number() }),
          run: ({ lines }) => `${typeof lines} ${lines + 1}`,
        }),
      },
    });
    await using client = await testClient(server, { over: 'http', revision });
    const { messages } = await client.getPrompt('poem', { lines: '4' });
    expect(messages).toMatchObject([{ content: { text: 'number 5' } }]);
  },
);

test('a client validates the result of a tool only if it has listed the tools', async () => {
  const server = createServer({
    name: 'lies',
    version: '1.0.0',
    logger: () => undefined,
    tools: {
      price: tool({
        output: jsonSchema({ type: 'object', properties: { price: { type: 'number' } } }),
        run: () => ({ price: 1 }),
      }),
    },
    // The server's own check comes before, so the result is changed on its way out.
    use: [
      async (call, next) => {
        const outcome = await next(call);
        return call.method === 'tools/call' ? { ...outcome, structuredContent: { price: 'cheap' } } : outcome;
      },
    ],
  });
  await using client = await testClient(server, { over: 'http', revision: '2026-07-28' });
  expect((await client.callTool('price')).data).toEqual({ price: 'cheap' });
  await client.tools().all();
  await expect(client.callTool('price')).rejects.toMatchObject({ code: 'bad_response' });
});

test('a handler can throw the error -32042 of 2025-11-25 by hand, and its client gets the number and the data', async () => {
  const elicitations = [
    { mode: 'url', elicitationId: '1', url: 'https://example.com/', message: 'Visit it' },
  ];
  const server = createServer({
    name: 'x',
    version: '1.0.0',
    logger: () => undefined,
    tools: {
      connect: tool({
        run: () => {
          throw new McpError('internal_error', 'Visit a page first', {
            number: -32042,
            data: { elicitations },
          });
        },
      }),
    },
  });
  await using client = await testClient(server, { over: 'http', revision: '2025-11-25' });
  await expect(client.callTool('connect')).rejects.toMatchObject({ number: -32042, data: { elicitations } });
});
