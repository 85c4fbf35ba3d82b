import { request as httpRequest } from 'node:http';
import { expect } from 'vitest';

// Requests of both eras, written by hand: the examples are tested from outside.

export type Fetch = (request: Request) => Promise<Response>;
type Json = Record<string, unknown>;

export interface Answer {
  readonly id?: unknown;
  readonly result?: Json;
  readonly error?: { readonly code: number; readonly message: string };
  readonly method?: string;
  readonly params?: Json;
}

const both = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
};

/** A request of 2026-07-28, with the headers that mirror its body. */
export function modern(method: string, params: Json = {}, id = 1): { body: Json; headers: HeadersInit } {
  const name = params['name'] ?? params['uri'] ?? params['taskId'];
  const own = params['_meta'] as Json | undefined;
  return {
    body: { jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...meta, ...own } } },
    headers: {
      ...both,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    },
  };
}

export const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } },
};

/** Posts a modern request and returns all messages: notifications first, the response last. */
export async function ask(
  url: string,
  method: string,
  params?: Json,
  fetch: Fetch = real,
): Promise<Answer[]> {
  const { body, headers } = modern(method, params);
  return read(await fetch(post(url, body, headers)));
}

/** The result of a modern `tools/call`. */
export async function callTool(url: string, name: string, args: Json = {}, fetch?: Fetch): Promise<Json> {
  const answers = await ask(url, 'tools/call', { name, arguments: args }, fetch);
  return answers.at(-1)?.result ?? fail(answers);
}

/** The names of the tools, as a client of 2025 asks for them. */
export async function listToolsIn2025(url: string, fetch: Fetch = real): Promise<string[]> {
  const opened = await fetch(post(url, initialize, both));
  expect((await read(opened)).at(-1)?.result?.['protocolVersion']).toBe('2025-11-25');
  const session = opened.headers.get('mcp-session-id') ?? '';
  const headers = { ...both, 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
  const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
  const noted = await fetch(post(url, initialized, headers));
  expect(noted.status).toBe(202);
  await noted.body?.cancel();
  const answers = await read(
    await fetch(post(url, { jsonrpc: '2.0', id: 2, method: 'tools/list' }, headers)),
  );
  const ended = await fetch(new Request(url, { method: 'DELETE', headers }));
  expect(ended.status).toBe(200);
  await ended.body?.cancel();
  const { tools } = (answers.at(-1)?.result ?? fail(answers)) as { tools: { name: string }[] };
  return tools.map(({ name }) => name);
}

/** Checks an example that serves the ten-line server, wherever it is mounted. */
export async function expectMath(url: string, fetch: Fetch = real): Promise<void> {
  expect(await callTool(url, 'add', { a: 2, b: 40 }, fetch)).toMatchObject({
    content: [{ type: 'text', text: '42' }],
  });
  expect(await listToolsIn2025(url, fetch)).toEqual(['add']);
  const { body, headers } = modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
  const stream = await fetch(post(url, body, headers));
  expect(stream.headers.get('content-type')).toBe('text/event-stream');
  expect((await read(stream)).map(({ method }) => method)).toEqual([
    'notifications/subscriptions/acknowledged',
    undefined,
  ]);
  const wrongType = await fetch(
    new Request(url, { method: 'POST', body: 'hello', headers: { 'content-type': 'text/plain' } }),
  );
  expect(wrongType.status).toBe(415);
  const broken = await fetch(new Request(url, { method: 'POST', body: '{"jsonrpc"', headers: both }));
  expect([broken.status, (await read(broken))[0]?.error?.code]).toEqual([400, -32700]);
}

/** The status of a request for another host, as in DNS rebinding. */
export function statusForHost(url: string, host: string): Promise<number> {
  const { body, headers } = modern('tools/list');
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method: 'POST', headers: { ...(headers as object), host } }, (res) => {
      res.resume();
      resolve(res.statusCode ?? 0);
    });
    sent.on('error', reject).end(JSON.stringify(body));
  });
}

export function post(url: string, body: unknown, headers: HeadersInit): Request {
  return new Request(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function read(response: Response): Promise<Answer[]> {
  const text = await response.text();
  if (response.headers.get('content-type') !== 'text/event-stream') return [JSON.parse(text) as Answer];
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Answer);
}

function real(request: Request): Promise<Response> {
  return fetch(request);
}

function fail(answers: readonly Answer[]): never {
  throw new Error(`No result: ${JSON.stringify(answers)}`);
}
