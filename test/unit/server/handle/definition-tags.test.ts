import {
  type Call,
  createServer,
  inProcess,
  memoryStore,
  type Outcome,
  prompt,
  resource,
  type Store,
  tool,
} from 'fullmcp';
import { createHandler } from 'fullmcp/http';
import { versions } from 'fullmcp/transform';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { Revision } from '../../../../src/protocol/tables/revisions.js';

const KNOWN = 'io.modelcontextprotocol/knownTags';
const STALE = 'io.modelcontextprotocol/staleTags';
const base = { name: 'shop', version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };

let oldRuns = 0;
const v1 = tool({
  description: 'Searches',
  input: z.object({ query: z.string() }),
  run: ({ query }) => {
    oldRuns++;
    return `old ${query}`;
  },
});
const v2 = tool({
  description: 'Searches',
  input: z.object({ terms: z.array(z.string()) }),
  run: ({ terms }) => `new ${terms.join()}`,
});
const same = tool({ run: () => 'same' });
const both = (options: Parameters<typeof versions<{ '1.0': typeof v1; '2.0': typeof v2 }>>[1]) =>
  versions({ '1.0': v1, '2.0': v2 }, options);

/** A store that several servers share, each of which would close it. */
const shared = (): Store => {
  const store = memoryStore();
  return new Proxy(store, {
    get: (target, key) =>
      key === 'close' ? async () => undefined : (target[key as keyof Store] as () => unknown).bind(target),
  });
};
const make = (options: object) => createServer({ ...base, drafts: true, ...options });
const tagFrom = async (server: ReturnType<typeof make>, options = {}): Promise<string> =>
  (await inProcess(server, options)('tools/list'))['tag'] as string;
const callWith = (
  server: ReturnType<typeof make>,
  known: unknown,
  params: object,
  options = {},
): Promise<Outcome> => inProcess(server, options)('tools/call', { ...params, _meta: { [KNOWN]: known } });
const textOf = (outcome: Outcome): string | undefined => (outcome['content'] as { text: string }[])[0]?.text;
const staleIn = (outcome: Outcome): unknown => (outcome['_meta'] as Record<string, unknown>)[STALE];

afterEach(() => void vi.useRealTimers());

describe('the tag of a list', () => {
  it('is the same for equal definitions, whatever their order and the page size, and on every page', async () => {
    const one = make({ tools: { search: v1, same } });
    const other = make({ tools: { same, search: v1 }, pageSize: 1, listTtlMs: 5 });
    const tag = await tagFrom(one);
    expect(tag).toMatch(/^sha256:/);
    const call = inProcess(other);
    const first = await call('tools/list');
    const second = await call('tools/list', { cursor: first['nextCursor'] });
    expect([first['tag'], second['tag']]).toEqual([tag, tag]);
    expect(await call('tools/list')).toEqual(first);
  });

  it('changes when a definition is added, removed or changed, also while the server runs', async () => {
    const server = make({ tools: { search: v1, same } });
    const before = await tagFrom(server);
    const added = server.tool('late', {}, () => 'late');
    expect(await tagFrom(server)).not.toBe(before);
    added.remove();
    expect(await tagFrom(server)).toBe(before);
    for (const tools of [{ search: v2, same }, { search: v1 }])
      expect(await tagFrom(make({ tools }))).not.toBe(before);
  });

  it('exists for prompts and for an empty list, and follows what the caller sees', async () => {
    const server = make({
      changes: ['tools'],
      prompts: { hello: prompt({ run: () => 'Hello' }) },
    });
    const call = inProcess(server);
    const empty = (await call('tools/list'))['tag'];
    expect(empty).toMatch(/^sha256:/);
    expect((await call('prompts/list'))['tag']).not.toBe(empty);
    const guarded = make({ tools: { same, search: tool({ scopes: ['admin'], run: () => 'x' }) } });
    const user = { caller: { subject: 'ada' } };
    const admin = { caller: { subject: 'eve', scopes: ['admin'] } };
    expect(await tagFrom(guarded, user)).toBe(await tagFrom(make({ tools: { same } })));
    expect(await tagFrom(guarded, admin)).not.toBe(await tagFrom(guarded, user));
  });

  it('covers the tools as a server with handles lists them, and calls with it are checked', async () => {
    const store = shared();
    const report = tool({ handle: true, run: () => 'x' });
    const old = tool({
      input: z.object({ ids: z.array(z.string()) }),
      run: ({ ids }) => `old ${ids.join()}`,
    });
    const current = tool({ input: z.object({ names: z.array(z.string()) }), run: () => 'new' });
    const before = make({ store, tools: { search: old, report } });
    const tag = await tagFrom(before);
    expect(tag).toMatch(/^sha256:/);
    // Arrays may be handles there.
    const inner = make({ tools: { search: old } });
    expect(await tagFrom(inner)).not.toBe(await tagFrom(make({ tools: { search: old, report } })));
    const paged = inProcess(make({ tools: { report, search: old }, pageSize: 1 }));
    const { nextCursor, ...first } = await paged('tools/list');
    expect([first['tag'], (await paged('tools/list', { cursor: nextCursor }))['tag']]).toEqual([tag, tag]);

    const known = { 'tools/list': tag };
    const params = { name: 'search', arguments: { ids: ['a'] } };
    expect((await callWith(before, known, params))['_meta']).not.toHaveProperty(STALE);
    const after = make({
      store,
      tools: { search: versions({ '1.0': old, '2.0': current }), report },
    });
    const outcome = await callWith(after, known, params);
    expect([textOf(outcome), staleIn(outcome)]).toEqual(['old a', ['tools/list']]);
  });

  it('is left out if middleware has changed the list, and if the store cannot keep the list', async () => {
    const filtered = make({
      tools: { search: v1, same },
      use: [
        async (call: never, next: (call: never) => Promise<Outcome>) => {
          const outcome = await next(call);
          return { ...outcome, tools: (outcome['tools'] as object[]).slice(1) };
        },
      ],
    });
    expect(await tagFrom(filtered)).toBeUndefined();
    const store = memoryStore();
    let isDown = true;
    const failing: Store = new Proxy(store, {
      get: (target, key) =>
        key === 'write' && isDown
          ? async () => Promise.reject(new Error('down'))
          : (target[key as keyof Store] as () => unknown).bind(target),
    });
    const server = make({ tools: { same }, store: failing });
    expect(await tagFrom(server)).toBeUndefined();
    isDown = false;
    expect(await tagFrom(server)).toMatch(/^sha256:/);
  });

  it('is left out of a list of more than 1,000 definitions, which the store would keep for a day', async () => {
    const tools = Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`tool${n}`, same]));
    expect(await tagFrom(make({ tools }))).toBeUndefined();
  });

  it('changes nothing without the option: lists and calls are equal byte for byte', async () => {
    const options = { ...base, tools: { search: v1, same } };
    const [without, off] = [createServer(options), createServer({ ...options, drafts: false })];
    const list = await inProcess(without)('tools/list');
    expect(list).not.toHaveProperty('tag');
    expect(JSON.stringify(await inProcess(off)('tools/list'))).toBe(JSON.stringify(list));
    const { tag, ...rest } = await inProcess(createServer({ ...options, drafts: true }))('tools/list');
    expect(JSON.stringify(rest)).toBe(JSON.stringify(list));
    const stale = await callWith(without, { 'tools/list': 'sha256:other' }, { name: 'same' });
    expect(JSON.stringify(stale)).toBe(
      JSON.stringify(await inProcess(without)('tools/call', { name: 'same' })),
    );
    expect(() => make({ drafts: 'yes' })).toThrow('"drafts" must be a boolean, not a string.');
  });

  it('is not sent to a client of the session era', async () => {
    const call = (revision: Revision): Call => ({
      id: 1,
      method: 'tools/list',
      params: {},
      peer: { revision, client: undefined, capabilities: {}, logLevel: undefined },
      isLocal: true,
      signal: new AbortController().signal,
      notify: () => undefined,
    });
    const server = make({ tools: { same } });
    expect(await server.dispatch(call('2026-07-28'))).toHaveProperty('tag');
    expect(await server.dispatch(call('2025-11-25'))).not.toHaveProperty('tag');
  });
});

describe('the tags of other definitions', () => {
  const read = resource({ read: () => 'text' });
  const resources = { 'book://one': read, 'book://two': read, 'page://{n}': read };
  const tagsOf = async (server: ReturnType<typeof make>): Promise<Record<string, unknown>> => {
    const call = inProcess(server);
    const methods = ['server/discover', 'resources/list', 'resources/templates/list'];
    const results = await Promise.all(methods.map(async (method) => (await call(method))['tag']));
    return Object.fromEntries(methods.map((method, at) => [method, results[at]]));
  };
  const discoverTag = async (server: ReturnType<typeof make>): Promise<unknown> =>
    (await inProcess(server)('server/discover'))['tag'];
  const readWith = (server: ReturnType<typeof make>, known: unknown, uri = 'book://one') =>
    inProcess(server)('resources/read', { uri, _meta: { [KNOWN]: known } });

  it('cover resources and templates on every page, and no contents', async () => {
    const tags = await tagsOf(make({ resources }));
    for (const tag of Object.values(tags)) expect(tag).toMatch(/^sha256:/);
    expect(new Set(Object.values(tags)).size).toBe(3);
    const call = inProcess(make({ resources, pageSize: 1 }));
    const first = await call('resources/list');
    const second = await call('resources/list', { cursor: first['nextCursor'] });
    expect([first['tag'], second['tag']]).toEqual([tags['resources/list'], tags['resources/list']]);
    expect(await call('resources/read', { uri: 'book://one' })).not.toHaveProperty('tag');
    const { 'page://{n}': _template, ...fewer } = resources;
    const other = await tagsOf(make({ resources: fewer }));
    expect(other['resources/list']).toBe(tags['resources/list']);
    expect(other['resources/templates/list']).not.toBe(tags['resources/templates/list']);
  });

  it('cover the instructions and the capabilities of a server; empty instructions are not absent ones', async () => {
    const [none, empty, other, prompts] = await Promise.all(
      [
        { tools: { same } },
        { tools: { same }, instructions: '' },
        { tools: { same }, instructions: 'Search first.' },
        { tools: { same }, prompts: { hello: prompt({ run: () => 'Hello' }) } },
      ].map((options) => discoverTag(make(options))),
    );
    expect(new Set([none, empty, other, prompts]).size).toBe(4);
    const later = make({ tools: { same }, listTtlMs: 1, version: '9.0.0' });
    expect(await discoverTag(later)).toBe(none);
  });

  it('are left out of a list that is made for each request, and where middleware has changed the answer', async () => {
    const listed = resource({ read: () => 'text', list: () => ['page://1'] });
    const server = make({
      resources: { 'page://{n}': listed },
      use: [
        async (call: Call, next: (call: Call) => Promise<Outcome>) =>
          call.method === 'server/discover'
            ? { ...(await next(call)), instructions: 'For you alone' }
            : next(call),
      ],
    });
    const tags = await tagsOf(server);
    expect(tags).toMatchObject({ 'server/discover': undefined, 'resources/list': undefined });
    expect(tags['resources/templates/list']).toMatch(/^sha256:/);
    const outcome = await readWith(server, { 'resources/list': 'other' }, 'page://1');
    expect(outcome['_meta']).not.toHaveProperty(STALE);
  });

  it('are named in the result if they are stale, and reject neither a read nor a call', async () => {
    const server = make({ resources, tools: { same }, instructions: 'New' });
    const stale = { 'server/discover': 'old', 'resources/list': 'old', 'resources/templates/list': 'old' };
    expect(staleIn(await readWith(server, stale))).toEqual(Object.keys(stale));
    expect(staleIn(await callWith(server, stale, { name: 'same' }))).toEqual(Object.keys(stale));
    expect((await readWith(server, await tagsOf(server)))['_meta']).not.toHaveProperty(STALE);
    await expect(readWith(server, stale, 'book://three')).rejects.toMatchObject({
      code: 'resource_not_found',
    });
  });
});

describe('a call with known tags', () => {
  it('runs without a signal if the tag is current, and hints that are not valid are ignored', async () => {
    const server = make({ tools: { same } });
    const current = { 'tools/list': await tagFrom(server) };
    for (const known of [
      current,
      { ...current, 'skills/list': 'x' },
      { 'tools/list': 7 },
      {},
      'text',
      null,
      [1],
    ])
      expect(await callWith(server, known, { name: 'same' })).toEqual(
        await inProcess(server)('tools/call', { name: 'same' }),
      );
  });

  it('is rejected before its arguments are checked and before anything runs, if nobody knows the tag', async () => {
    const server = make({ tools: { search: v1 } });
    const before = oldRuns;
    for (const tag of [`sha256:${'A'.repeat(43)}`, 'other', '', 'x'.repeat(100_000)])
      for (const args of [{ query: 'a' }, { wrong: 1 }])
        await expect(
          callWith(server, { 'tools/list': tag }, { name: 'search', arguments: args }),
        ).rejects.toMatchObject({
          code: 'invalid_params',
          data: { staleTags: ['tools/list'] },
          message: expect.stringContaining('Request tools/list again'),
        });
    expect(oldRuns).toBe(before);
  });

  it('runs with a signal if its definition has not changed, or only the other list has', async () => {
    const store = shared();
    const known = { 'tools/list': await tagFrom(make({ store, tools: { search: v1, same } })) };
    const server = make({ store, tools: { search: v2, same } });
    const outcome = await callWith(server, known, { name: 'same' });
    expect(textOf(outcome)).toBe('same');
    expect(staleIn(outcome)).toEqual(['tools/list']);
    expect(outcome['_meta']).toHaveProperty('io.modelcontextprotocol/serverInfo');
    const other = { 'tools/list': await tagFrom(server), 'prompts/list': 'other' };
    expect(staleIn(await callWith(server, other, { name: 'same' }))).toEqual(['prompts/list']);
    await expect(
      callWith(server, known, { name: 'search', arguments: { query: 'a' } }),
    ).rejects.toMatchObject({ data: { staleTags: ['tools/list'] } });
  });

  it('gets the prompt that it knows, or is rejected', async () => {
    const store = shared();
    const hello = prompt({ run: () => 'Hello' });
    const list = await inProcess(make({ store, prompts: { hello, gone: hello } }))('prompts/list');
    const get = inProcess(make({ store, prompts: { hello } }));
    const _meta = { [KNOWN]: { 'prompts/list': list['tag'] } };
    expect(staleIn(await get('prompts/get', { name: 'hello', _meta }))).toEqual(['prompts/list']);
    await expect(get('prompts/get', { name: 'gone', _meta })).rejects.toMatchObject({
      data: { staleTags: ['prompts/list'] },
    });
  });

  it('cannot reach a version that the caller is not given, or whose rules refuse the caller', async () => {
    const store = shared();
    const known = { 'tools/list': await tagFrom(make({ store, tools: { search: v1 } })) };
    const params = { name: 'search', arguments: { query: 'a' } };
    const chosen = make({ store, tools: { search: both({ choose: () => '2.0' }) } });
    await expect(callWith(chosen, known, params)).rejects.toMatchObject({
      data: { staleTags: ['tools/list'] },
    });
    const admin = tool({ ...v1.options, scopes: ['admin'], run: () => 'secret' } as never);
    const guarded = make({ store, tools: { search: versions({ '1.0': admin, '2.0': v2 }) } });
    const as = (...scopes: string[]) =>
      callWith(guarded, known, params, { caller: { subject: 'ada', scopes } });
    expect(textOf(await as('admin'))).toBe('secret');
    const refusal = await as().catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'forbidden' });
    expect(refusal).not.toHaveProperty('data.staleTags');
  });

  it('gets the version that it knows of a mounted tool, through middleware that copies the call', async () => {
    const store = shared();
    const params = { name: 'in_search', arguments: { query: 'a' } };
    const mounting = (search: typeof v1) =>
      make({
        store,
        use: [async (call: Call, next: (call: Call) => Promise<Outcome>) => next({ ...call })],
        mount: { in: createServer({ ...base, name: 'inner', tools: { search } }) },
      });
    const known = { 'tools/list': await tagFrom(mounting(v1)) };
    const outcome = await callWith(mounting(both({}) as never), known, params);
    expect([textOf(outcome), staleIn(outcome)]).toEqual(['old a', ['tools/list']]);
  });

  it('is rejected once the list has expired from the store, which keeps it for a day', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    const store = shared();
    const known = { 'tools/list': await tagFrom(make({ store, tools: { search: v1, same } })) };
    const server = make({ store, tools: { same } });
    vi.advanceTimersByTime(23 * 3600_000);
    expect(staleIn(await callWith(server, known, { name: 'same' }))).toEqual(['tools/list']);
    vi.advanceTimersByTime(2 * 3600_000);
    await expect(callWith(server, known, { name: 'same' })).rejects.toMatchObject({
      data: { staleTags: ['tools/list'] },
    });
  });

  it('is answered over HTTP with the tag, the signal and the rejection of the draft', async () => {
    const store = shared();
    const handler = createHandler(make({ store, tools: { search: both({}) } }));
    const request = async (method: string, params: Record<string, unknown>, known?: object) => {
      const response = await handler(
        new Request('http://localhost/mcp', {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            'mcp-protocol-version': '2026-07-28',
            'mcp-method': method,
            ...(typeof params['name'] === 'string' && { 'mcp-name': params['name'] }),
          },
          body: JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method,
            params: {
              ...params,
              _meta: {
                'io.modelcontextprotocol/protocolVersion': '2026-07-28',
                'io.modelcontextprotocol/clientCapabilities': {},
                ...(known && { [KNOWN]: known }),
              },
            },
          }),
        }),
      );
      return (await response.json()) as { result: Outcome; error: object };
    };
    const old = await tagFrom(make({ store, tools: { search: v1 } }));
    expect((await request('tools/list', {})).result['tag']).toMatch(/^sha256:[\w-]{43}$/);
    const params = { name: 'search', arguments: { query: 'a' } };
    const { result } = await request('tools/call', params, { 'tools/list': old });
    expect([textOf(result), staleIn(result)]).toEqual(['old a', ['tools/list']]);
    const { error } = await request('tools/call', params, { 'tools/list': 'other' });
    expect(error).toMatchObject({ code: -32602, data: { staleTags: ['tools/list'] } });
  });
});

it('no call that is valid for the list that its caller knows fails while processes of three releases serve side by side', async () => {
  const store = shared();
  const releases = [
    make({ store, tools: { search: v1, same } }),
    make({ store, tools: { search: both({ current: '1.0' }), same, added: same } }),
    make({ store, version: '2.0.0', tools: { same, search: both({ current: '2.0' }) } }),
  ];
  // One release is replaced by the next one: two of them serve at the same time.
  for (const [from, to] of [
    [0, 1],
    [1, 2],
  ] as const)
    for (const lists of [from, to])
      for (const serves of [from, to]) {
        const [listing, serving] = [releases[lists], releases[serves]] as ReturnType<typeof make>[];
        const list = await inProcess(listing as never)('tools/list');
        const search = (list['tools'] as { name: string; inputSchema: { properties: object } }[]).find(
          ({ name }) => name === 'search',
        );
        const isOld = 'query' in (search?.inputSchema.properties ?? {});
        const outcome = await callWith(
          serving as never,
          { 'tools/list': list['tag'] },
          { name: 'search', arguments: isOld ? { query: 'a' } : { terms: ['a'] } },
        );
        expect([outcome['isError'], textOf(outcome)]).toEqual([undefined, isOld ? 'old a' : 'new a']);
        expect(staleIn(outcome)).toEqual(lists === serves ? undefined : ['tools/list']);
      }
});
