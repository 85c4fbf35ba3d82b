import { type Call, createServer, inProcess, type Outcome, prompt, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { transform, versions } from 'fullmcp/transform';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Revision } from '../../../../src/protocol/tables/revisions.js';

const base = { name: 'shop', version: '1.0.0', logger: () => undefined };
const v1 = tool({ input: z.object({ query: z.string() }), run: ({ query }) => `1 ${query}` });
const v2 = tool({ input: z.object({ terms: z.array(z.string()) }), run: ({ terms }) => `2 ${terms.join()}` });
const v3 = tool({
  input: z.object({ terms: z.array(z.string()), limit: z.number().optional() }),
  run: ({ terms, limit }) => `3 ${terms.join()} ${limit}`,
});
const all = { '1.0': v1, '2.0': v2, '3.0': v3 };

const textOf = (outcome: Outcome): string | undefined => (outcome['content'] as { text: string }[])[0]?.text;
const metaOf = (outcome: Outcome): Record<string, unknown> => outcome['_meta'] as Record<string, unknown>;
const search = (server: Parameters<typeof inProcess>[0], args: object, options = {}): Promise<Outcome> =>
  inProcess(server, options)('tools/call', { name: 'search', arguments: args });

test('a call whose arguments fit one older version only is answered by that version, and the client is told', async () => {
  const server = createServer({ ...base, tools: { search: versions(all) } });
  const old = await search(server, { query: 'a' });
  expect([textOf(old), metaOf(old)['fullmcp/version']]).toEqual(['1 a', '1.0']);
  // Nothing of a draft without the option.
  expect(Object.keys(metaOf(old)).join()).not.toContain('staleTags');
  const now = await search(server, { terms: ['a'], limit: 2 });
  expect([textOf(now), metaOf(now)['fullmcp/version']]).toEqual(['3 a 2', undefined]);
});

test('arguments that fit the current version belong to it, and those that fit several older ones, or none, are its errors', async () => {
  const server = createServer({ ...base, tools: { search: versions(all) } });
  // 2.0 accepts them, too.
  expect(textOf(await search(server, { terms: ['a'] }))).toBe('3 a undefined');
  expect(textOf(await search(server, { query: 'a', terms: ['b'] }))).toBe('3 b undefined');
  for (const args of [{}, { query: {} }, { terms: {} }]) {
    const outcome = await search(server, args);
    expect(outcome['isError']).toBe(true);
    expect(textOf(outcome)).toContain('search');
    expect(metaOf(outcome)).not.toHaveProperty('fullmcp/version');
  }
  const twins = createServer({
    ...base,
    tools: { search: versions({ '1.0': v1, '1.1': v1, '2.0': v2 }) },
  });
  expect((await search(twins, { query: 'a' }))['isError']).toBe(true);
});

test('an argument that the current version would ignore decides for the version that knows it', async () => {
  const lenient = tool({
    input: z.object({ terms: z.array(z.string()).default([]) }),
    run: ({ terms }) => `lenient ${terms.length}`,
  });
  const server = createServer({ ...base, tools: { search: versions({ '1.0': v1, '2.0': lenient }) } });
  expect(textOf(await search(server, { query: 'a' }))).toBe('1 a');
  expect(textOf(await search(server, {}))).toBe('lenient 0');
  // An argument that no version knows is ignored, as it is without versions.
  expect(textOf(await search(server, { nonsense: 1 }))).toBe('lenient 0');
});

test('a version that answers through the current one is not called by it again', async () => {
  const adapter = tool({
    input: z.object({ query: z.string() }),
    run: ({ query }, ctx) => ctx.call('search', { terms: query.split(' ') }),
  });
  const server = createServer({ ...base, tools: { search: versions({ '1.0': adapter, '2.0': v2 }) } });
  const outcome = await search(server, { query: 'a b' });
  expect([textOf(outcome), metaOf(outcome)['fullmcp/version']]).toEqual(['2 a,b', '1.0']);
});

test('arguments are compared with the versions as `transform` shows them, and an open schema knows every argument', async () => {
  const shop = createServer({ ...base, tools: { search: versions({ '1.0': v1, '2.0': v2 }) } });
  const server = createServer({
    ...base,
    mount: { '': transform(shop, { tools: { search: { title: 'Search' } } } as never) },
  });
  expect(textOf(await search(server, { terms: ['a'] }))).toBe('2 a');
  expect(textOf(await search(server, { query: 'a' }))).toBe('1 a');
  const open = tool({
    input: {
      type: 'object',
      properties: { terms: {} },
      anyOf: [{ required: ['query'] }, { required: ['terms'] }],
    },
    run: () => 'open',
  });
  const either = createServer({ ...base, tools: { search: versions({ '1.0': v1, '2.0': open }) } });
  expect(textOf(await search(either, { query: 'a' }))).toBe('open');
});

test('rules of the older version hold, and a version that `choose` gives to some callers is not found by its arguments', async () => {
  const guarded = tool({ ...v1.options, scopes: ['admin'], run: () => 'secret' } as never);
  const server = createServer({ ...base, tools: { search: versions({ '1.0': guarded, '2.0': v2 }) } });
  const as = (...scopes: string[]) => search(server, { query: 'a' }, { caller: { subject: 'ada', scopes } });
  expect(textOf(await as('admin'))).toBe('secret');
  await expect(as()).rejects.toMatchObject({ code: 'forbidden' });
  const chosen = createServer({
    ...base,
    tools: { search: versions({ '1.0': v1, '2.0': v2 }, { choose: () => undefined }) },
  });
  expect((await search(chosen, { query: 'a' }))['isError']).toBe(true);
});

test('a client that knows the current list means the current version, whatever its arguments are', async () => {
  const server = createServer({ ...base, drafts: true, tools: { search: versions(all) } });
  const call = inProcess(server);
  const { tag } = await call('tools/list');
  const _meta = { 'io.modelcontextprotocol/knownTags': { 'tools/list': tag } };
  const params = { name: 'search', arguments: { query: 'a' } };
  expect((await call('tools/call', { ...params, _meta }))['isError']).toBe(true);
  const untagged = await call('tools/call', params);
  expect(textOf(untagged)).toBe('1 a');
  expect(metaOf(untagged)).toMatchObject({
    'fullmcp/version': '1.0',
    'io.modelcontextprotocol/staleTags': ['tools/list'],
  });
});

test('a client of a session is told before the result that the list has changed, if the server has declared changes', async () => {
  for (const changes of [['tools'], []] as const) {
    const server = createServer({ ...base, changes, tools: { search: versions(all) } });
    const told: string[] = [];
    const call = (revision: Revision): Call => ({
      id: 1,
      method: 'tools/call',
      params: { name: 'search', arguments: { query: 'a' } },
      peer: { revision, client: undefined, capabilities: {}, logLevel: undefined },
      isLocal: true,
      signal: new AbortController().signal,
      notify: (method) => told.push(method),
    });
    expect(textOf(await server.dispatch(call('2025-11-25')))).toBe('1 a');
    expect(told).toEqual(changes.length > 0 ? ['notifications/tools/list_changed'] : []);
    await server.dispatch(call('2026-07-28'));
    expect(told).toHaveLength(changes.length);
  }
});

test('a migration of a tool that has no versions is an error', () => {
  const alone = tool({
    task: { support: 'required', migrate: { from: '1.0', journal: (journal) => journal } },
    run: () => 'x',
  });
  expect(() => createServer({ ...base, tools: { alone } })).toThrow(
    'tool "alone": "task.migrate" is for one of several versions',
  );
  expect(createServer({ ...base, tools: { alone: versions({ '2.0': alone }) } })).toBeDefined();
});

test('a client of fullmcp lists the current version, and gets the older one for the arguments of yesterday', async () => {
  const server = createServer({
    ...base,
    tools: { search: versions(all) },
    prompts: { hello: prompt({ run: () => 'Hello' }) },
  });
  await using client = await connect(server);
  expect((await client.tools().all())[0]?._meta).toMatchObject({ 'fullmcp/version': '3.0' });
  expect((await client.callTool('search', { query: 'a' } as never)).text).toBe('1 a');
});
