import { audio, createServer, image, prompt, resource, resourceLink, text, tool, user } from 'fullmcp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Serving, serve } from '../../../../src/node.js';
import { modern } from '../../../support/http/modern.js';
import { openSession } from '../../../support/http/sessions.js';

// One server, called in every revision.

const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const;
const link = resourceLink('config://app', { name: 'config', description: 'The configuration' });
let serving: Serving;

beforeAll(async () => {
  const server = createServer({
    name: 'projected',
    version: '1',
    title: 'Projected',
    tools: {
      blocks: tool({ run: () => [text('a'), image('aW1n', 'image/png'), audio('YXVk', 'audio/wav'), link] }),
      object: tool({ output: { type: 'object' }, run: () => ({ a: 1 }) }),
      list: tool({ output: z.array(z.number()), run: () => [1, 2] }),
      number: tool({ run: () => 42 }),
      nothing: tool({ run: () => null }),
      texts: tool({ input: { type: 'object' }, run: ({ is }: { is?: string }) => String(is) }),
      meta: tool({ run: () => ({ content: [text('a')], _meta: { 'com.example/own': 1 } }) }),
    },
    resources: {
      'config://app': resource({ ttlMs: 5000, cacheScope: 'public', read: () => 'x' }),
      'doc://{id}': resource({ complete: { id: () => ['1'] }, read: () => 'doc' }),
    },
    prompts: { sound: prompt({ run: () => [user(audio('YXVk', 'audio/wav')), user(link)] }) },
  });
  serving = await serve(server, { port: 0, signals: false });
});

afterAll(() => serving.close());

// biome-ignore lint/suspicious/noExplicitAny: what a peer sent, to be matched against
async function ask(revision: string, method: string, params: object = {}): Promise<any> {
  const session = await openSession(serving.url, revision);
  const answer = JSON.parse((await session.request(method, params)).text);
  return answer.result ?? answer.error;
}

describe.each(revisions)('a session of %s', (revision) => {
  const atLeast = (since: string): boolean => revision >= since;

  test('has no fields of the newest revision in its results', async () => {
    for (const [method, params] of [
      ['tools/list', {}],
      ['resources/list', {}],
      ['resources/templates/list', {}],
      ['prompts/list', {}],
      ['resources/read', { uri: 'config://app' }],
      ['tools/call', { name: 'object' }],
      ['prompts/get', { name: 'sound' }],
      [
        'completion/complete',
        { ref: { type: 'ref/resource', uri: 'doc://{id}' }, argument: { name: 'id', value: '' } },
      ],
    ] as const) {
      const result = await ask(revision, method, params);
      for (const field of ['resultType', 'ttlMs', 'cacheScope', 'code'])
        expect(result, `${method} ${field}`).not.toHaveProperty(field);
      expect(Object.keys(result._meta ?? {}).filter((key) => !key.startsWith('fullmcp/'))).toEqual([]);
    }
  });

  test("keeps the handler's own metadata", async () => {
    expect((await ask(revision, 'tools/call', { name: 'meta' }))._meta).toEqual({ 'com.example/own': 1 });
  });

  test('gets audio and links in a form that it knows', async () => {
    const { content } = await ask(revision, 'tools/call', { name: 'blocks' });
    expect(content[0]).toEqual({ type: 'text', text: 'a' });
    expect(content[1]).toEqual({ type: 'image', data: 'aW1n', mimeType: 'image/png' });
    expect(content[2]).toEqual(
      atLeast('2025-03-26')
        ? { type: 'audio', data: 'YXVk', mimeType: 'audio/wav' }
        : { type: 'resource', resource: { uri: 'data:audio', mimeType: 'audio/wav', blob: 'YXVk' } },
    );
    expect(content[3]).toEqual(
      atLeast('2025-06-18')
        ? { type: 'resource_link', uri: 'config://app', name: 'config', description: 'The configuration' }
        : { type: 'text', text: 'config\nconfig://app\nThe configuration' },
    );
    const { messages } = await ask(revision, 'prompts/get', { name: 'sound' });
    expect(messages[0].content.type).toBe(atLeast('2025-03-26') ? 'audio' : 'resource');
    expect(messages[1].content.type).toBe(atLeast('2025-06-18') ? 'resource_link' : 'text');
  });

  test('gets structured content only as an object and only since 2025-06-18, and always the value as text', async () => {
    const expected = (value: object): object | undefined => (atLeast('2025-06-18') ? value : undefined);
    for (const [name, json, structured] of [
      ['object', '{"a":1}', { a: 1 }],
      ['list', '[1,2]', { result: [1, 2] }],
      ['number', '42', { result: 42 }],
      ['nothing', 'null', { result: null }],
    ] as const) {
      const result = await ask(revision, 'tools/call', { name });
      expect(result.content).toEqual([{ type: 'text', text: json }]);
      expect(result.structuredContent, name).toEqual(expected(structured));
    }
  });

  test('lists only output schemas of objects, and only since 2025-06-18', async () => {
    const { tools } = await ask(revision, 'tools/list');
    const schema = (name: string): unknown =>
      tools.find((t: { name: string }) => t.name === name).outputSchema;
    expect(schema('object') !== undefined).toBe(atLeast('2025-06-18'));
    expect(schema('list')).toBeUndefined();
  });

  test('reports a missing resource as -32002', async () => {
    expect(await ask(revision, 'resources/read', { uri: 'no://such' })).toMatchObject({
      code: -32002,
      data: { uri: 'no://such' },
    });
  });

  test('describes the server in its handshake', async () => {
    const { initialized } = await openSession(serving.url, revision);
    expect(initialized).toMatchObject({
      protocolVersion: revision,
      serverInfo: { name: 'projected', version: '1' },
      capabilities: { tools: {}, resources: {}, prompts: {}, logging: {} },
    });
    expect('completions' in (initialized['capabilities'] as object)).toBe(atLeast('2025-03-26'));
    expect(initialized).not.toHaveProperty('resultType');
  });
});

describe('the revision 2026-07-28', () => {
  test('reports a missing resource as -32602', async () => {
    const reply = await modern(serving.url, 'resources/read', { uri: 'no://such' });
    expect(JSON.parse(reply.text).error).toMatchObject({ code: -32602, data: { uri: 'no://such' } });
  });

  test('keeps the cache hints of a resource and structured content that is an array', async () => {
    const read = JSON.parse(
      (await modern(serving.url, 'resources/read', { uri: 'config://app' })).text,
    ).result;
    expect(read).toMatchObject({ resultType: 'complete', ttlMs: 5000, cacheScope: 'public' });
    const list = JSON.parse((await modern(serving.url, 'tools/call', { name: 'list' })).text).result;
    expect(list.structuredContent).toEqual([1, 2]);
  });

  test.each(['ping', 'initialize', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'])(
    'does not know %s',
    async (method) => {
      const reply = await modern(
        serving.url,
        method,
        { level: 'info', uri: 'config://app' },
        {
          headers: { 'mcp-name': undefined },
        },
      );
      expect(reply.status).toBe(404);
      expect(JSON.parse(reply.text).error.code).toBe(-32601);
    },
  );
});

describe('the text of a result in 2025-11-25', () => {
  test.each<[text: string, structured: unknown]>([
    ['42', { result: 42 }],
    ['[1]', { result: [1] }],
    ['"quoted"', { result: 'quoted' }],
    ['null', { result: null }],
    ['true', { result: true }],
    ['plain', undefined],
    ['null and void', undefined],
    ['{"a":1}', undefined],
    ['', undefined],
  ])('comes with structured content if it is JSON and not an object: %j', async (is, structured) => {
    const result = await ask('2025-11-25', 'tools/call', { name: 'texts', arguments: { is } });
    expect(result.content).toEqual([{ type: 'text', text: is }]);
    expect(result.structuredContent).toEqual(structured);
  });
});
