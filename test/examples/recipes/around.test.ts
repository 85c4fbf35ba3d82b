import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, McpError, type Middleware, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { serve } from 'fullmcp/node';
import { testClient } from 'fullmcp/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import nightlyJob, { collect, sent, start } from '../../../examples/recipes/nightly-job.js';
import { warmest, withTape } from '../../../examples/recipes/replay.js';
import { steady } from '../../../examples/recipes/retry.js';

// Runs the recipes about other servers, frameworks and programs.

/** Listens on a free port for the rest of the test. Returns the address. */
async function listen(listener: RequestListener): Promise<string> {
  const http = createHttpServer(listener).listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'recipe-'));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

it('the recipe for a slow tool asks the service once for the same arguments, and does not keep failures', async () => {
  const asked: string[] = [];
  const url = await listen((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(request.url === '/EUR/XXX' ? 404 : 200).end('1.08');
  });
  vi.stubEnv('RATES_URL', url);
  const { default: rates } = await import('../../../examples/recipes/cache.js');
  const euro = { from: 'EUR', to: 'USD' };
  for (const subject of ['ada', 'bea']) {
    await using client = await testClient(rates, { caller: { subject } });
    expect((await client.callTool('exchange_rate', euro)).data).toEqual({ ...euro, rate: 1.08 });
    expect((await client.callTool('exchange_rate', { from: 'EUR', to: 'XXX' })).isError).toBe(true);
  }
  expect(asked).toEqual(['/EUR/USD', '/EUR/XXX', '/EUR/XXX']);
});

it('the recipe for an upstream repeats a call that is safe, and no other', async () => {
  const calls: string[] = [];
  const flaky: Middleware = async (call, next) => {
    if (call.method !== 'tools/call') return next(call);
    calls.push(String(call.params['name']));
    if (calls.length % 3 !== 0)
      throw new McpError('overloaded', 'Later', { status: 503, data: { retryAfterMs: 10 } });
    return next(call);
  };
  const upstream = createServer({
    name: 'upstream',
    version: '1.0.0',
    use: [flaky],
    tools: {
      look: tool({ annotations: { readOnly: true }, run: () => 'seen' }),
      pay: tool({ annotations: { readOnly: false, idempotent: false }, run: () => 'paid' }),
    },
  });
  await using serving = await serve(upstream, { port: 0 });
  const proxy = steady(serving.url);
  const client = await connect(proxy, { maxRetries: 0 });
  await client.tools().all(); // the annotations say which tools are safe
  expect((await client.callTool('look')).text).toBe('seen');
  expect(calls).toEqual(['look', 'look', 'look']);
  await expect(client.callTool('pay')).rejects.toMatchObject({ code: 'overloaded' });
  expect(calls).toEqual(['look', 'look', 'look', 'pay']);
  await client.close();
  await proxy.close();
});

it('the recipe for a nightly job starts it in one program and collects it in another', async () => {
  const id = await start(nightlyJob);
  expect(id).toEqual(expect.any(String));
  expect(await collect(nightlyJob, id as string)).toBe('Sent 3 invoices');
  expect(sent).toEqual(['ada@example.com', 'bea@example.com', 'carl@example.com']);
});

it('the recipe for Express serves the app and MCP on one port', async () => {
  vi.stubEnv('PORT', '0');
  const { listening, close } = await import('../../../examples/recipes/express.js');
  if (!listening.listening) await once(listening, 'listening');
  const origin = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  const client = await connect(`${origin}/mcp`);
  expect((await client.callTool('add_todo', { text: 'Call Bea' })).text).toBe('You have 2 things to do');
  await client.close();
  expect(await (await fetch(`${origin}/todos`)).json()).toEqual(['Buy milk', 'Call Bea']);
  await close();
  process.removeListener('SIGTERM', close);
});

it('the recipe for a page waits until the user is done there', async () => {
  const { app } = await import('../../../examples/recipes/open-url.js');
  const origin = await listen(app);
  const opened: string[] = [];
  await using client = await connect(`${origin}/mcp`, {
    elicit: {
      form: () => ({ action: 'decline' }),
      url({ url }) {
        opened.push(url);
        const path = new URL(url).pathname;
        // The user looks at the page first. To look pays nothing.
        void fetch(`${origin}${path}`).then(() => fetch(`${origin}${path}`, { method: 'POST' }));
        return { action: 'accept' };
      },
    },
  });
  expect((await client.callTool('pay')).text).toBe('Paid');
  expect(opened).toEqual([expect.stringMatching(/^http:\/\/localhost:3000\/pay\/[\w-]{36}$/)]);
});

it('the recipe for three servers is one endpoint, without the tools that delete', async () => {
  const make = (name: string) =>
    createServer({
      name,
      version: '1.0.0',
      tools: {
        search: tool({ run: (_input, { request }) => request?.header('authorization') ?? 'no token' }),
        delete_all: tool({ run: () => 'gone' }),
      },
    });
  await using notes = await serve(make('notes'), { port: 0 });
  await using tickets = await serve(make('tickets'), { port: 0 });
  for (const [name, value] of Object.entries({
    MATH: join(import.meta.dirname, '../../../build/examples/basic-server/stdio.js'),
    NOTES_URL: notes.url,
    TICKETS_URL: tickets.url,
    TICKETS_TOKEN: 'for-the-tickets',
    API_KEY: 'the-key-of-the-team',
    PORT: '0',
  }))
    vi.stubEnv(name, value);
  const { serving } = await import('../../../examples/recipes/three-servers.js');
  onTestFinished(() => serving.close());
  await using client = await connect(serving.url, { auth: 'the-key-of-the-team' });
  expect((await client.tools().all()).map(({ name }) => name).sort()).toEqual([
    'math_add',
    'notes_search',
    'tickets_search',
  ]);
  expect((await client.callTool('math_add', { a: 2, b: 40 })).text).toBe('42');
  expect((await client.callTool('tickets_search')).text).toBe('Bearer for-the-tickets');
  expect((await client.callTool('notes_search')).text).toBe('no token');
  await expect(client.callTool('notes_delete_all')).rejects.toMatchObject({ code: 'invalid_params' });
});

it('the recipe for an OpenAPI document has five tools, and sends the token', async () => {
  const operation = (operationId: string) => ({ operationId, responses: { 200: { description: 'ok' } } });
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Pets', version: '1.0.0' },
    components: { securitySchemes: { apiToken: { type: 'http', scheme: 'bearer' } } },
    security: [{ apiToken: [] }],
    paths: {
      '/pets': { get: operation('listPets'), post: operation('addPet'), delete: operation('removeAllPets') },
      '/pets/{id}': { parameters: [id], get: operation('getPet'), delete: operation('removePet') },
      '/owners': { get: operation('listOwners') },
      '/owners/{id}': { parameters: [id], get: operation('getOwner'), put: operation('changeOwner') },
    },
  };
  const asked: string[] = [];
  const url = await listen((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.setHeader('content-type', 'application/json').end('{"name":"Rex"}');
  });
  const file = join(await folder(), 'openapi.json');
  await writeFile(file, JSON.stringify(document));
  for (const [name, value] of Object.entries({ OPENAPI_FILE: file, API_URL: url, API_TOKEN: 'abc' }))
    vi.stubEnv(name, value);
  const { default: pets } = await import('../../../examples/recipes/openapi.js');
  await using client = await testClient(pets);
  expect((await client.tools().all()).map(({ name }) => name).sort()).toEqual([
    ...['addPet', 'getOwner', 'getPet', 'listOwners', 'listPets'],
  ]);
  expect((await client.callTool('getPet', { id: 7 })).text).toContain('Rex');
  expect(asked).toEqual(['GET /pets/7 Bearer abc']);
});

describe('the recipe for a tape', () => {
  const weather = createServer({
    name: 'weather',
    version: '1.0.0',
    tools: {
      weather: tool({
        input: z.object({ city: z.string() }),
        run: ({ city }) => ({ city, celsius: city.length * 4, token: 'abc-secret' }),
      }),
    },
  });
  const nowhere = './there-is-no-server.js';

  it('records a session with the real server, and replays it without one', async () => {
    const file = join(await folder(), 'weather.tape');
    const use = (client: Parameters<typeof warmest>[0]) => warmest(client, ['Oslo', 'Lisbon']);
    vi.stubEnv('RECORD', '1');
    expect(await withTape(file, weather, use)).toBe('Lisbon');
    expect(await readFile(file, 'utf8')).not.toContain('abc-secret');
    vi.stubEnv('RECORD', undefined);
    expect(await withTape(file, nowhere, use)).toBe('Lisbon');
    await expect(withTape(file, nowhere, (client) => warmest(client, ['Rome']))).rejects.toThrow(
      'no call of tools/call weather',
    );
  });
});

it('the recipe for the AI SDK lets a model call a tool, and answers with its last words', async () => {
  const { answer } = (await import('../../../examples/recipes/ai-sdk.js' as string)) as {
    answer: (model: unknown, target: unknown, question: string) => Promise<string>;
  };
  const { MockLanguageModelV3 } = (await import('ai/test' as string)) as {
    MockLanguageModelV3: new (model: object) => { doGenerateCalls: { prompt: { content: unknown }[] }[] };
  };
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const reply = (content: object, unified: string) => ({
    ...{ content: [content], finishReason: { unified, raw: undefined }, usage, warnings: [] },
  });
  const replies = [
    reply(
      { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: JSON.stringify({ a: 2, b: 40 }) },
      'tool-calls',
    ),
    reply({ type: 'text', text: 'It is 42.' }, 'stop'),
  ];
  const model = new MockLanguageModelV3({ doGenerate: async () => replies.shift() });
  const { default: math } = await import('../../../examples/basic-server/server.js');
  expect(await answer(model, math, 'How much is 2 and 40?')).toBe('It is 42.');
  expect(JSON.stringify(model.doGenerateCalls[1]?.prompt.at(-1)?.content)).toContain('42');
});
