import { createServer, tool } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/jsonrpc/message.js';
import type { HttpLinkOptions } from '../../../../../src/transports/http/client/link.js';
import { call, failing, failure, open, SECRET, text } from '../../../../support/http/http-link.js';
import { error, json, type Received, result, scriptedServer } from '../../../../support/http/http-server.js';
import { until } from '../../../../support/until.js';

describe('a request of the HTTP link', () => {
  test('repeats the method, the name and the version of its body in its headers', async () => {
    await using server = await scriptedServer((request, response) => json(response, result(request, {})));
    const { link } = await open(server.url);
    const names: [string, JsonObject][] = [
      ['tools/call', { name: 'größe', arguments: {} }],
      ['resources/read', { uri: 'file:///a%20b.txt' }],
      ['prompts/list', {}],
    ];
    for (const [method, params] of names) await call(link, method, params);
    const [first, second, third] = server.received as [Received, Received, Received];
    expect(first.headers).toMatchObject({
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': '=?base64?Z3LDtsOfZQ==?=',
    });
    expect(first.body?.params._meta).toMatchObject({
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test' },
    });
    expect(second.headers['mcp-name']).toBe('file:///a%20b.txt');
    expect(third.headers['mcp-name']).toBeUndefined();
    expect(server.received.map(({ body }) => body?.id)).toEqual([1, 2, 3]);
  });

  test("calls auth and headers each time, which cannot replace the protocol's headers", async () => {
    await using server = await scriptedServer((request, response) => json(response, result(request, {})));
    let calls = 0;
    const { link } = await open(server.url, {
      auth: async () => `token-${++calls}`,
      headers: () => ({
        'X-Tenant': `t${calls}`,
        Accept: 'text/plain',
        'Mcp-Method': 'other',
        'Mcp-Name': 'x',
      }),
    });
    await call(link, 'tools/list');
    await call(link, 'tools/list');
    expect(server.received.map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer token-1',
      'Bearer token-2',
    ]);
    expect(server.received[1]?.headers).toMatchObject({
      'x-tenant': 't1',
      accept: 'application/json, text/event-stream',
      'mcp-method': 'tools/list',
    });
    expect(server.received[1]?.headers['mcp-name']).toBeUndefined();
  });

  test('sends credentials of the address as a header', async () => {
    await using server = await scriptedServer((request, response) => json(response, result(request, {})));
    const url = new URL(server.url);
    url.username = 'me@here';
    url.password = 'pä:ss';
    const { link } = await open(url);
    await call(link, 'tools/list');
    expect(server.received[0]?.headers['authorization']).toBe(
      `Basic ${Buffer.from('me@here:pä:ss').toString('base64')}`,
    );
  });

  test.each<[string, HttpLinkOptions, string, string]>([
    ['a bad name', { headers: { 'not a name': SECRET } }, 'invalid_request', '"not a name"'],
    ['a bad value', { headers: [['x-key', `${SECRET}\nx: y`]] }, 'invalid_request', '"x-key"'],
    ['a bad token', { auth: `${SECRET}\nx` }, 'invalid_request', '"authorization"'],
    ['an empty token', { auth: '' }, 'unauthorized', 'empty token'],
    [
      'a failing function',
      { auth: () => Promise.reject(new Error(SECRET)) },
      'unauthorized',
      '`auth` failed',
    ],
  ])('fails with an error that names the cause and hides the value for %s', async (_, http, code, words) => {
    const reason = await failing(text(200, ''), http);
    expect(reason.code).toBe(code);
    expect(reason.message).toContain(words);
  });

  test('is rejected if its parameters are not JSON', async () => {
    const { link } = await open(new URL('http://127.0.0.1:9/'));
    expect((await failure(call(link, 'tools/call', { name: 'x', arguments: { big: 1n } }))).code).toBe(
      'invalid_params',
    );
  });
});

describe('parameters in headers', () => {
  const region = (name: unknown): object => ({
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': name } },
  });

  test('leave out a tool with invalid annotations, which is reported once, and no other tool', async () => {
    const tools = [
      { name: 'good', inputSchema: region('Region'), x: 1 },
      { name: 'bad', inputSchema: region('') },
      { name: 'plain', inputSchema: { type: 'object' } },
    ];
    await using server = await scriptedServer((request, response) =>
      json(response, result(request, { tools, nextCursor: 'c', ttlMs: 5, other: [1] })),
    );
    const { link, problems } = await open(server.url);
    expect(await call(link, 'tools/list')).toEqual({
      tools: [tools[0], tools[2]],
      nextCursor: 'c',
      ttlMs: 5,
      other: [1],
      resultType: 'complete',
    });
    await call(link, 'tools/list');
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^Tool "bad" was left out: .*must not be empty/);
    await call(link, 'tools/call', { name: 'good', arguments: { region: 'è' } });
    await call(link, 'tools/call', { name: 'good', arguments: { region: null } });
    await call(link, 'tools/call', { name: 'good', arguments: { region: '' } });
    expect(server.received.slice(2).map(({ headers }) => headers['mcp-param-region'])).toEqual([
      '=?base64?w6g=?=',
      undefined,
      '',
    ]);
  });

  test('are sent after a mismatch, once the tools have been listed again', async () => {
    await using server = await scriptedServer((request, response) => {
      const { method, params } = request.body ?? {};
      if (method === 'tools/list') {
        return json(
          response,
          result(
            request,
            params.cursor
              ? { tools: [{ name: 'x', inputSchema: region('Region') }] }
              : { tools: [], nextCursor: '2' },
          ),
        );
      }
      if (request.headers['mcp-param-region'] === 'eu')
        return json(response, result(request, { content: [] }));
      return json(response, error(request, -32020, 'Missing'), 400);
    });
    const { link } = await open(server.url);
    expect(await call(link, 'tools/call', { name: 'x', arguments: { region: 'eu' } })).toMatchObject({
      content: [],
    });
    expect(server.received.map(({ body }) => body?.method)).toEqual([
      'tools/call',
      'tools/list',
      'tools/list',
      'tools/call',
    ]);
    expect((await failure(call(link, 'tools/call', { name: 'x', arguments: { region: 'us' } }))).code).toBe(
      'header_mismatch',
    );
    expect((await failure(call(link, 'tools/call', { name: 'y', arguments: { region: 'us' } }))).code).toBe(
      'header_mismatch',
    );
    expect(server.received).toHaveLength(11);
  });
});

test('the HTTP link discovers, lists, calls and listens with a fullmcp server', async () => {
  const server = createServer({
    name: 'own',
    version: '1.0.0',
    changes: true,
    tools: {
      greet: tool({
        input: {
          type: 'object',
          properties: { name: { type: 'string', 'x-mcp-header': 'Name' } },
          required: ['name'],
        },
        run: ({ name }, { progress }) => {
          progress(1, 2);
          return `Hello ${name}`;
        },
      }),
    },
  });
  await using serving = await serve(server, { port: 0, signals: false });
  const { link, problems } = await open(new URL(serving.url), {}, true);
  expect(link.discovered.supportedVersions).toContain('2026-07-28');
  expect((await call(link, 'tools/list'))['tools']).toHaveLength(1);
  const events: string[] = [];
  const params = { name: 'greet', arguments: { name: 'Ø' }, _meta: { progressToken: 'p' } };
  const outcome = await call(link, 'tools/call', params, { notify: (method) => events.push(method) });
  expect(outcome).toMatchObject({ content: [{ type: 'text', text: 'Hello Ø' }] });
  expect(events).toEqual(['notifications/progress']);
  const changes: string[] = [];
  const listening = failure(
    call(
      link,
      'subscriptions/listen',
      { notifications: { toolsListChanged: true } },
      { notify: (method) => changes.push(method) },
    ),
  );
  await until('the subscription is acknowledged', () => changes.length === 1);
  await link.close();
  expect((await listening).code).toBe('connection_closed');
  expect(problems).toEqual([]);
});
