import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Serving, serve } from '../../../src/node.js';
import { type Attacked, attackedServer } from '../../support/http/attacked-server.js';
import { send } from '../../support/http/http.js';
import { callText, modern, modernExchange, modernMessage } from '../../support/http/modern.js';
import { jsonHeaders, openSession } from '../../support/http/sessions.js';

// Invalid bodies. After each, the server still serves calls.

let attacked: Attacked;
let serving: Serving;
let url: string;

beforeAll(async () => {
  attacked = attackedServer();
  serving = await serve(attacked.server, { port: 0, signals: false });
  url = serving.url;
});

afterAll(() => serving.close());

async function stillServes(): Promise<void> {
  expect(await callText(url, 'echo', { text: 'still here' })).toBe('still here');
}

describe('a bad JSON-RPC message', () => {
  const bad: [what: string, body: string, status: number, code: number, id: unknown][] = [
    ['malformed JSON', '{"jsonrpc":"2.0",', 400, -32700, undefined],
    ['an empty body', '', 400, -32700, undefined],
    ['a string', '"hello"', 400, -32600, undefined],
    ['null', 'null', 400, -32600, undefined],
    ['no jsonrpc', '{"id":7,"method":"tools/list"}', 400, -32600, 7],
    ['a wrong jsonrpc', '{"jsonrpc":"1.0","id":7,"method":"tools/list"}', 400, -32600, 7],
    ['a jsonrpc that is a number', '{"jsonrpc":2.0,"id":7,"method":"tools/list"}', 400, -32600, 7],
    ['a null id', '{"jsonrpc":"2.0","id":null,"method":"tools/list"}', 400, -32600, undefined],
    ['a fractional id', '{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', 400, -32600, undefined],
    ['an id that is true', '{"jsonrpc":"2.0","id":true,"method":"tools/list"}', 400, -32600, undefined],
    ['an id that is an array', '{"jsonrpc":"2.0","id":[1],"method":"tools/list"}', 400, -32600, undefined],
    ['an id beyond the safe integers', '{"jsonrpc":"2.0","id":1e300,"method":"a"}', 400, -32600, undefined],
    ['an empty method', '{"jsonrpc":"2.0","id":7,"method":""}', 400, -32600, 7],
    ['a method that is a number', '{"jsonrpc":"2.0","id":7,"method":1}', 400, -32600, 7],
    [
      'params that are an array',
      '{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[]}',
      400,
      -32600,
      7,
    ],
    ['method and result', '{"jsonrpc":"2.0","id":7,"method":"a","result":{}}', 400, -32600, 7],
    ['neither method nor result', '{"jsonrpc":"2.0","id":7}', 400, -32600, 7],
    [
      'a number that no double can hold',
      '{"jsonrpc":"2.0","id":7,"method":"a","params":{"n":1e400}}',
      400,
      -32600,
      undefined,
    ],
    [
      'an id of 2,000 characters',
      `{"jsonrpc":"2.0","id":"${'x'.repeat(2000)}","method":"a"}`,
      400,
      -32600,
      undefined,
    ],
    [
      'a method of 2,000 characters',
      `{"jsonrpc":"2.0","id":7,"method":"${'x'.repeat(2000)}"}`,
      400,
      -32600,
      7,
    ],
  ];

  test.each(bad)('is rejected, and the server still serves: %s', async (_what, body, status, code, id) => {
    const reply = await send(url, { headers: jsonHeaders, body });
    expect(reply.status).toBe(status);
    const answer = JSON.parse(reply.text);
    expect(answer).toMatchObject({ jsonrpc: '2.0', error: { code } });
    expect(answer.id).toBe(id);
    await stillServes();
  });

  test('with an unknown method is answered with 404 in the modern era', async () => {
    const reply = await modern(url, 'tools/destroy');
    expect(reply.status).toBe(404);
    expect(JSON.parse(reply.text)).toMatchObject({ id: 1, error: { code: -32601 } });
  });

  test('with an unknown method is answered with 200 and an error in a session', async () => {
    const session = await openSession(url);
    const reply = await session.request('tools/destroy');
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.text)).toMatchObject({ id: 1, error: { code: -32601 } });
  });

  test.each(['__proto__', 'constructor', 'toString'])(
    'with the method %s is rejected as unknown',
    async (method) => {
      expect((await modern(url, method)).status).toBe(404);
      const session = await openSession(url);
      expect(JSON.parse((await session.request(method)).text).error.code).toBe(-32601);
    },
  );
});

describe('the limit of nesting depth', () => {
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;

  test.each([
    ['as the body', deep],
    [
      'as an argument',
      JSON.stringify(modernMessage('tools/call', { name: 'any', arguments: { deep: 0 } })).replace(
        '"deep":0',
        `"deep":${deep}`,
      ),
    ],
    ['as objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
  ])('rejects 10,000 levels %s', async (_where, body) => {
    const exchange = modernExchange('tools/call', { name: 'any' });
    const reply = await send(url, { ...exchange, body });
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text).error).toMatchObject({
      code: -32600,
      message: expect.stringContaining('128'),
    });
    await stillServes();
  });

  test('reports 10,000 levels that never close as malformed', async () => {
    const reply = await send(url, { headers: jsonHeaders, body: '['.repeat(10_000) });
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text).error.code).toBe(-32700);
  });

  test('accepts 100 levels', async () => {
    const nested = JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`);
    const reply = await modern(url, 'tools/call', { name: 'any', arguments: { nested } });
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.text).result.isError).toBeUndefined();
  });
});

describe('the limit of body size', () => {
  const big = JSON.stringify(
    modernMessage('tools/call', { name: 'echo', arguments: { text: 'x'.repeat(5_000_000) } }),
  );

  test.each([
    ['with its length', false],
    ['in chunks', true],
  ])('rejects 5 MB %s', async (_how, chunked) => {
    const exchange = modernExchange('tools/call', { name: 'echo' });
    for (let round = 0; round < 5; round++) {
      const reply = await send(url, { ...exchange, body: big, chunked });
      expect(reply.status).toBe(413);
      expect(JSON.parse(reply.text).error).toMatchObject({
        code: -32600,
        message: expect.stringContaining('maxBodyBytes'),
      });
    }
    await stillServes();
  });

  test('accepts a body just below it', async () => {
    const text = 'y'.repeat(4_190_000);
    expect(await callText(url, 'echo', { text })).toBe(text);
  });
});

describe('a tool call', () => {
  test('with an unknown tool is rejected with -32602', async () => {
    const reply = await modern(url, 'tools/call', { name: 'nothing' });
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.text).error).toMatchObject({ code: -32602, message: 'Unknown tool: nothing' });
  });

  test('without a tool name is rejected', async () => {
    const reply = await modern(url, 'tools/call', {});
    expect(JSON.parse(reply.text).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('params.name'),
    });
  });

  test.each([
    ['an array', []],
    ['a string', 'x'],
    ['a number', 5],
  ])('is rejected if its arguments are %s', async (_what, args) => {
    const reply = await modern(url, 'tools/call', { name: 'echo', arguments: args });
    expect(JSON.parse(reply.text).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('params.arguments'),
    });
  });

  test('with wrong arguments gets a result that says what to send', async () => {
    const reply = await modern(url, 'tools/call', {
      name: 'strict',
      arguments: { count: 'many', unti: 'm' },
    });
    expect(reply.status).toBe(200);
    const { isError, content } = JSON.parse(reply.text).result;
    expect(isError).toBe(true);
    expect(content[0].text).toContain('strict');
    expect(content[0].text).toContain('count');
    expect(content[0].text).toContain('unti');
    expect(content[0].text).toContain('unit');
  });

  test("whose handler crashes gets a reference that the log contains, and not the error's message", async () => {
    const reply = await modern(url, 'tools/call', { name: 'crash' });
    const { isError, content } = JSON.parse(reply.text).result;
    expect(isError).toBe(true);
    expect(content[0].text).toMatch(/^Internal error \(ref [0-9a-f]{8}\)$/);
    expect(reply.text).not.toContain('hunter2');
    const ref = content[0].text.slice(20, 28);
    expect(attacked.messages.some((message) => message.includes(ref))).toBe(true);
  });
});

describe('a name with a meaning in JavaScript', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];

  test.each(names)('is unknown as a tool: %s', async (name) => {
    const reply = await modern(url, 'tools/call', { name });
    expect(JSON.parse(reply.text).error).toMatchObject({ code: -32602, message: `Unknown tool: ${name}` });
  });

  test.each(names)('is unknown as a prompt: %s', async (name) => {
    const reply = await modern(url, 'prompts/get', { name });
    expect(JSON.parse(reply.text).error).toMatchObject({ code: -32602, message: `Unknown prompt: ${name}` });
  });

  test.each(names)('is unknown as a resource: %s', async (uri) => {
    const reply = await modern(url, 'resources/read', { uri });
    expect(JSON.parse(reply.text).error).toMatchObject({ code: -32602, data: { uri } });
  });

  test.each(names)('is an ordinary string as a template value: %s', async (name) => {
    const reply = await modern(url, 'resources/read', { uri: `file:///docs/${name}` });
    expect(JSON.parse(reply.text).result.contents[0].text).toBe(`doc ${name}`);
  });

  test.each(names)('is rejected as an unknown argument: %s', async (name) => {
    const body = JSON.stringify(
      modernMessage('tools/call', { name: 'strict', arguments: { count: 1, evil: 0 } }),
    );
    const exchange = modernExchange('tools/call', { name: 'strict' });
    const reply = await send(url, {
      ...exchange,
      body: body.replace('"evil":0', `"${name}":{"polluted":true}`),
    });
    const { result } = JSON.parse(reply.text);
    expect(result.isError).toBe(true);
    expect(result.content[0].text).toContain(name);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test.each(names)("arrives as an own property of an open tool's arguments: %s", async (name) => {
    const body = JSON.stringify(modernMessage('tools/call', { name: 'any', arguments: { evil: 0 } }));
    const exchange = modernExchange('tools/call', { name: 'any' });
    const reply = await send(url, {
      ...exchange,
      body: body.replace('"evil":0', `"${name}":{"polluted":true}`),
    });
    const { result } = JSON.parse(reply.text);
    expect(result.isError).toBeUndefined();
    expect(result.content[0].text).toBe(`{"${name}":{"polluted":true}}`);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test('contributes no params: the fields of a __proto__ among them are ignored', async () => {
    const body = JSON.stringify(modernMessage('tools/call', { evil: 0 })).replace(
      '"evil":0',
      '"__proto__":{"name":"echo","arguments":{"text":"pwned"}}',
    );
    const reply = await send(url, { ...modernExchange('tools/call'), body });
    expect(JSON.parse(reply.text).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('params.name'),
    });
  });
});

describe('reading a resource', () => {
  const escapes = [
    'file:///docs/../secret',
    'file:///docs/..',
    'file:///docs/%2e%2e%2fsecret',
    'file:///docs/%2E%2E%2Fsecret',
    'file:///docs/..%2fsecret',
    'file:///docs/%2e%2e',
    'file:///docs/..%5csecret',
    'file:///docs/a%00b',
    'tree://../secret',
    'tree://a/../../secret',
    'tree://a/%2e%2e/secret',
    'tree://%2e%2e%2fsecret',
    'tree://a\\..\\secret',
    'tree://a%5c..%5csecret',
  ];

  test.each(escapes)('outside its template fails: %s', async (uri) => {
    const reply = await modern(url, 'resources/read', { uri });
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.text).error).toMatchObject({ code: -32602, data: { uri } });
    const session = await openSession(url);
    expect(JSON.parse((await session.request('resources/read', { uri })).text).error.code).toBe(-32002);
  });

  test('decodes a URI that is encoded twice only once', async () => {
    const uri = 'file:///docs/%252e%252e%252fsecret';
    const reply = await modern(url, 'resources/read', { uri });
    expect(JSON.parse(reply.text).result.contents[0].text).toBe('doc %2e%2e%2fsecret');
  });
});
