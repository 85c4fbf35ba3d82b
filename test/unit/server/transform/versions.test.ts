import {
  type Call,
  createServer,
  DefinitionError,
  inProcess,
  memoryStore,
  type Outcome,
  tool,
} from 'fullmcp';
import { cache } from 'fullmcp/middleware';
import { testClient } from 'fullmcp/testing';
import { transform, versions } from 'fullmcp/transform';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { Revision } from '../../../../src/protocol/tables/revisions.js';
import { able, accept, waitForStatus } from '../../../support/tasks.js';

const quiet = { version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };
const textOf = (outcome: Outcome): string => (outcome['content'] as { text: string }[])[0]?.text ?? '';
const caller = (version?: string) => ({ caller: { subject: 'ada', claims: { version } } });

function search() {
  return versions(
    {
      '1.10': tool({
        annotations: { readOnly: true },
        input: z.object({ q: z.string() }),
        run: ({ q }) => `new ${q}`,
      }),
      '1.9': tool({
        annotations: { readOnly: true },
        task: 'optional',
        input: z.object({ query: z.string() }),
        run: ({ query }) => `old ${query}`,
      }),
    },
    { choose: (auth) => auth?.claims['version'] as '1.9' | undefined },
  );
}

const listOf = async (call: ReturnType<typeof inProcess>): Promise<unknown[]> =>
  (await call('tools/list'))['tools'] as unknown[];

/** A server with the tool itself, one that mounts it, and one that changes it. */
const servers = {
  'a server': () => createServer({ ...quiet, name: 'own', tools: { search: search() } }),
  'a server that mounts it': () => {
    const inner = createServer({ ...quiet, name: 'inner', tools: { search: search() } });
    return createServer({ ...quiet, name: 'outer', mount: { '': inner } });
  },
  'a server that mounts it with changes': () => {
    const inner = createServer({ ...quiet, name: 'inner', tools: { find: search() } });
    return createServer({
      ...quiet,
      name: 'outer',
      mount: { '': transform(inner, { tools: { find: { name: 'search', title: 'Search' } } }) },
    });
  },
  'a server with a policy for all callers': () =>
    createServer({ ...quiet, name: 'own', access: { allow: () => true }, tools: { search: search() } }),
};

describe.each(Object.entries(servers))('the versions of a tool of %s', (_name, make) => {
  it('every caller sees and calls one version, the newest by default', async () => {
    const server = make();
    for (const options of [{}, caller()]) {
      const call = inProcess(server, options);
      expect(await listOf(call)).toEqual([
        expect.objectContaining({
          name: 'search',
          inputSchema: expect.objectContaining({ required: ['q'] }),
          _meta: expect.objectContaining({ 'fullmcp/version': '1.10' }),
        }),
      ]);
      expect(textOf(await call('tools/call', { name: 'search', arguments: { q: 'x' } }))).toBe('new x');
    }
    const old = inProcess(server, caller('1.9'));
    expect(await listOf(old)).toMatchObject([{ _meta: { 'fullmcp/version': '1.9' } }]);
    expect(textOf(await old('tools/call', { name: 'search', arguments: { query: 'x' } }))).toBe('old x');
    expect(await old('tools/call', { name: 'search', arguments: { q: 'x' } })).toMatchObject({
      isError: true,
    });
  });

  it('a caller whose version cannot be decided does not have the tool', async () => {
    const call = inProcess(make(), caller('7'));
    expect(await listOf(call)).toEqual([]);
    await expect(call('tools/call', { name: 'search', arguments: { q: 'x' } })).rejects.toThrow(
      'Unknown tool',
    );
  });
});

it('the task of an older version belongs to a caller that sees this version', async () => {
  await using client = await testClient(
    createServer({ ...quiet, name: 'own', tools: { search: search() } }),
    {
      caller: { subject: 'ada', claims: { version: '1.9' } },
    } as object,
  );
  const result = await client.callTool('search', { query: 'x' });
  expect(result.text).toBe('old x');
});

it('a cache does not give a caller the result of another version', async () => {
  const both = versions(
    {
      '1': tool({ annotations: { readOnly: true }, run: () => 'one' }),
      '2': tool({ annotations: { readOnly: true }, run: () => 'two' }),
    },
    { choose: (auth) => auth?.claims['version'] as '1' | undefined },
  );
  const server = createServer({
    ...quiet,
    name: 'own',
    use: [cache({ ttlMs: 60_000, tools: ['both'], cacheScope: 'public' })],
    tools: { both },
  });
  const [first, second] = [caller(), caller('1')].map((options) => inProcess(server, options));
  expect(textOf((await first?.('tools/call', { name: 'both' })) as Outcome)).toBe('two');
  expect(textOf((await second?.('tools/call', { name: 'both' })) as Outcome)).toBe('one');
});

it('a typed client sends what every version accepts', () => {
  const server = createServer({ ...quiet, name: 'own', tools: { search: search() } });
  type Tools = NonNullable<(typeof server)['~tools']>;
  type Signature = Exclude<Tools['search']['~signature'], undefined>;
  expectTypeOf<Parameters<Signature>[0]>().toEqualTypeOf<{ q: string } | { query: string }>();
});

it.each([
  [{}, /one version/],
  [{ latest: tool({ run: () => 1 }) }, /not a version/],
  [{ '1': tool({ run: () => 1 }), '1.0': tool({ run: () => 2 }) }, /twice/],
])('rejects a mistake in the versions: %#', (tools, message) => {
  expect(() => versions(tools as never)).toThrow(message);
});

it('names the mistake in one of the versions', () => {
  expect(() =>
    createServer({
      ...quiet,
      name: 'own',
      tools: { search: versions({ '1': tool({ rum: () => 1 } as never) }) },
    }),
  ).toThrow(DefinitionError);
});

it('callers get the version that "current" names, unless "choose" gives them another one', async () => {
  const [old, recent] = [tool({ run: () => 'old' }), tool({ run: () => 'new' })];
  const serve = (options: object) =>
    inProcess(
      createServer({
        ...quiet,
        name: 'own',
        tools: { search: versions({ '1': old, '2': recent }, options) },
      }),
    );
  const run = async (options: object) => textOf(await serve(options)('tools/call', { name: 'search' }));
  expect(await run({})).toBe('new');
  expect(await run({ current: '1' })).toBe('old');
  expect(await run({ current: '1', choose: () => undefined })).toBe('old');
  expect(await run({ current: '1', choose: () => '2' })).toBe('new');
  expect(() => serve({ current: '3' })).toThrow('versions: "current" is "3", but the versions are: 2, 1.');
});

describe('a tool that was removed, and still answers callers with an older list', () => {
  const gone = () =>
    versions(
      {
        '1.0': tool({ input: z.object({ query: z.string() }), run: ({ query }) => `first ${query}` }),
        '2.0': tool({
          input: z.object({ terms: z.array(z.string()) }),
          run: ({ terms }, ctx) => ctx.call('find', { q: terms.join(' ') }),
        }),
        '3.0': tool({
          task: { support: 'optional', pollIntervalMs: 10 },
          input: z.object({ id: z.string() }),
          run: async ({ id }, ctx) => {
            await ctx.ask('sure', { message: 'Sure?', schema: z.object({ ok: z.boolean() }) });
            return `third ${id}`;
          },
        }),
      },
      { current: 'none' },
    );
  const find = tool({ input: z.object({ q: z.string() }), run: ({ q }) => `found ${q}` });
  const serve = (more: object = {}) =>
    createServer({ ...quiet, name: 'own', tools: { search: gone(), find }, ...more });
  const cases = {
    'a server': serve,
    'a server that mounts it': () => createServer({ ...quiet, name: 'outer', mount: { '': serve() } }),
    'a server with rules': () => serve({ access: { allow: () => true } }),
  };

  it.each(Object.entries(cases))(
    'is not listed by %s, and answers in the version that is meant',
    async (_name, make) => {
      for (const options of [{}, caller()]) {
        const call = inProcess(make(), options);
        expect((await listOf(call)).map((listed) => (listed as { name: string }).name)).toEqual(['find']);
        const first = await call('tools/call', { name: 'search', arguments: { query: 'x' } });
        expect(first).toMatchObject({ _meta: { 'fullmcp/version': '1.0' } });
        expect(textOf(first)).toBe('first x');
        const second = await call('tools/call', { name: 'search', arguments: { terms: ['a', 'b'] } });
        expect(textOf(second)).toBe('found a b');
      }
    },
  );

  it('tells the model what is wrong with arguments that fit no version, by the newest one', async () => {
    const outcome = await inProcess(serve())('tools/call', { name: 'search', arguments: { word: 'x' } });
    expect(outcome).toMatchObject({ isError: true, _meta: { 'fullmcp/version': '3.0' } });
    expect(textOf(outcome)).toContain('id');
  });

  it('is not a suggestion for another name', async () => {
    await expect(inProcess(serve())('tools/call', { name: 'serch' })).rejects.toThrow(
      /^Unknown tool: serch$/,
    );
  });

  it('finishes its tasks, for their callers alone', async () => {
    const server = serve({ access: { allow: () => true } });
    const call = inProcess(server, { ...able, ...caller() });
    const { taskId } = await call('tools/call', { name: 'search', arguments: { id: '7' } });
    await waitForStatus(call, taskId, 'input_required');
    const bob = inProcess(server, { ...able, caller: { subject: 'bob' } });
    await expect(bob('tasks/get', { taskId })).rejects.toThrow('Unknown task');
    await call('tasks/update', { taskId, inputResponses: { sure: accept({ ok: true }) } });
    const { result } = await waitForStatus(call, taskId, 'completed');
    expect(textOf(result as Outcome)).toBe('third 7');
  });

  it('has no versions for callers to whom "choose" gives none', async () => {
    const one = tool({ run: () => 'one' });
    const choose = (auth: { subject: string } | undefined) => (auth?.subject === 'ada' ? '1' : undefined);
    const server = serve({ tools: { search: versions({ '1': one }, { choose, current: 'none' }) } });
    expect(textOf(await inProcess(server, caller())('tools/call', { name: 'search' }))).toBe('one');
    await expect(inProcess(server)('tools/call', { name: 'search' })).rejects.toThrow('Unknown tool: search');
  });

  it('tells clients of sessions that the list has changed, before the result, and those of drafts that theirs is stale', async () => {
    const server = serve({ changes: ['tools'], drafts: true });
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
    expect(textOf(await server.dispatch(call('2025-11-25')))).toBe('first a');
    expect(told).toEqual(['notifications/tools/list_changed']);
    expect((await server.dispatch(call('2026-07-28')))['_meta']).toMatchObject({
      'io.modelcontextprotocol/staleTags': ['tools/list'],
    });
  });

  it('answers a client that knows the list in which the tool still was', async () => {
    const store = memoryStore();
    const before = serve({
      ...{ store, drafts: true },
      tools: { search: versions({ '1.0': tool({ input: z.object({ query: z.string() }), run: () => '' }) }) },
    });
    const { tag } = await inProcess(before)('tools/list');
    const _meta = { 'io.modelcontextprotocol/knownTags': { 'tools/list': tag } };
    const now = inProcess(serve({ store, drafts: true }));
    const outcome = await now('tools/call', { name: 'search', arguments: { query: 'a' }, _meta });
    expect(textOf(outcome)).toBe('first a');
    expect(outcome['_meta']).toMatchObject({ 'io.modelcontextprotocol/staleTags': ['tools/list'] });
  });
});
