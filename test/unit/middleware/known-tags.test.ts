import {
  createServer,
  type Dispatch,
  type JsonObject,
  McpError,
  memoryStore,
  type Outcome,
  type Store,
  tool,
} from 'fullmcp';
import { connect } from 'fullmcp/client';
import { knownTags } from 'fullmcp/middleware';
import { versions } from 'fullmcp/transform';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { inProcessClient } from '../../support/in-process-client.js';

const v1 = tool({ input: z.object({ query: z.string() }), run: ({ query }) => `old ${query}` });
const v2 = tool({ input: z.object({ terms: z.string() }), run: ({ terms }) => `new ${terms}` });
const base = { name: 'shop', version: '1.0.0', drafts: true, logger: () => undefined } as const;
const both = { '1.0': v1, '2.0': v2 };

/** A store that several servers share, each of which would close it. */
function shared(): Store {
  return new Proxy(memoryStore(), {
    get: (target, key) =>
      key === 'close' ? async () => undefined : (target[key as keyof Store] as () => unknown).bind(target),
  });
}

/** A server that is replaced while a client is connected. */
function deployed(first: { readonly dispatch: Dispatch }) {
  let now = first;
  return {
    dispatch: ((call) => now.dispatch(call)) as Dispatch,
    replace: (server: typeof first) => {
      now = server;
    },
  };
}

test('a call runs the version that the client has listed, and the client is told to list again', async () => {
  const store = shared();
  const release = (current: '1.0' | '2.0') =>
    createServer({ ...base, secret: 'x'.repeat(32), store, tools: { search: versions(both, { current }) } });
  const server = deployed(release('1.0'));
  const stale: (readonly string[])[] = [];
  await using client = await connect(server, {
    use: [knownTags({ onStale: (lists) => stale.push(lists) })],
  });
  await client.tools().all();
  expect((await client.callTool('search', { query: 'a' })).text).toBe('old a');
  expect(stale).toEqual([]);
  server.replace(release('2.0'));
  expect((await client.callTool('search', { query: 'a' })).text).toBe('old a');
  expect(stale).toEqual([['tools/list']]);
  // Nothing is left in the cache that would have to be skipped.
  await client.tools().all();
  expect((await client.callTool('search', { terms: 'a' })).text).toBe('new a');
  expect(stale).toHaveLength(1);
});

test('a call of a definition that is gone is rejected before anything runs, until the client lists again', async () => {
  const server = deployed(createServer({ ...base, tools: { search: v1 } }));
  const stale: (readonly string[])[] = [];
  await using client = await connect(server, {
    use: [knownTags({ onStale: (lists) => stale.push(lists) })],
  });
  await client.tools().all();
  server.replace(createServer({ ...base, tools: { search: v2 } }));
  for (let n = 0; n < 2; n++)
    await expect(client.callTool('search', { terms: 'a' })).rejects.toMatchObject({ code: 'invalid_params' });
  expect(stale).toEqual([['tools/list'], ['tools/list']]);
  await client.tools().all();
  expect((await client.callTool('search', { terms: 'a' })).text).toBe('new a');
});

test('a server without tags gets none, also if it replaced one that had them', async () => {
  const seen: unknown[] = [];
  const plain = createServer({ ...base, drafts: false, tools: { search: v2 } });
  const server = deployed(createServer({ ...base, tools: { search: v1 } }));
  await using client = await connect(server, { use: [knownTags()] });
  await client.tools().all();
  server.replace({
    dispatch: (call) => {
      if (call.method === 'tools/call') seen.push(call.params['_meta']);
      return plain.dispatch(call);
    },
  });
  await client.tools({ fresh: true }).all();
  await client.callTool('search', { terms: 'a' });
  // The tag of the server that it has connected to stays.
  expect(JSON.stringify(seen)).not.toContain('tools/list');
});

test('a client says what it has discovered, and discovers again when the instructions have changed', async () => {
  const release = (instructions: string) => createServer({ ...base, instructions, tools: { search: v1 } });
  const server = deployed(release('Old'));
  const stale: (readonly string[])[] = [];
  await using client = await connect(server, {
    use: [knownTags({ onStale: (methods) => stale.push(methods) })],
  });
  await client.callTool('search', { query: 'a' });
  expect(stale).toEqual([]);
  server.replace(release('New'));
  expect((await client.callTool('search', { query: 'a' })).text).toBe('old a');
  expect(stale).toEqual([['server/discover']]);
  expect(await client.request('server/discover')).toMatchObject({ instructions: 'New' });
  await client.callTool('search', { query: 'a' });
  expect(stale).toHaveLength(1);
});

test('a server that names stale methods in a map, and ones that the client does not know, is understood', async () => {
  const inner = createServer({ ...base, tools: { search: v1 } });
  const answers: unknown[] = [{ 'tools/list': 'sha256:x', 'skills/list': 'y' }, ['prompts/list'], 7, null];
  const stale: (readonly string[])[] = [];
  await using client = await connect(
    {
      dispatch: async (call) => {
        if (call.method === 'tools/call' && answers.length > 0)
          throw new McpError('invalid_params', 'stale', {
            data: { staleTags: answers.shift() as JsonObject },
          });
        return inner.dispatch(call);
      },
    },
    { use: [knownTags({ onStale: (methods) => stale.push(methods) })] },
  );
  await client.tools().all();
  for (let n = 0; n < 4; n++)
    await expect(client.callTool('search', { query: 'a' })).rejects.toThrow('stale');
  expect(stale).toEqual([['tools/list']]);
});

/** A server that sends its tools one by one, with the tag of the state that it is in. */
function paged(state: () => { readonly tag: string; readonly names: readonly string[] }) {
  const inner = createServer({ ...base, tools: { search: v1 } });
  const requests: unknown[] = [];
  const dispatch: Dispatch = async (call): Promise<Outcome> => {
    if (call.method !== 'tools/list') return inner.dispatch(call);
    const { cursor } = call.params;
    requests.push(cursor);
    const { tag, names } = state();
    const at = Number(cursor ?? 0);
    return {
      resultType: 'complete',
      tools: [{ name: names[at], inputSchema: { type: 'object' } }],
      ...(at + 1 < names.length && { nextCursor: String(at + 1) }),
      ...{ ttlMs: 60_000, cacheScope: 'public', tag },
    };
  };
  return { dispatch, requests };
}

test('pages with different tags are thrown away together, and the list is read again from the server', async () => {
  const states = [
    { tag: 'one', names: ['a', 'b'] },
    { tag: 'two', names: ['a', 'c'] },
  ];
  let at = 0;
  const server = paged(() => states[at] as (typeof states)[number]);
  await using client = await inProcessClient(server);
  // One page of the old list is in the cache when the list changes.
  for await (const { name } of client.tools()) {
    expect(name).toBe('a');
    break;
  }
  at = 1;
  expect((await client.tools().all()).map(({ name }) => name)).toEqual(['a', 'c']);
  expect(server.requests).toEqual([undefined, '1', undefined, '1']);
  // Now the whole list is in the cache.
  expect((await client.tools().all()).map(({ name }) => name)).toEqual(['a', 'c']);
  expect(server.requests).toHaveLength(4);
  // A first page that was fetched anew takes the others with it.
  at = 0;
  for await (const _ of client.tools({ fresh: true })) break;
  expect((await client.tools().all()).map(({ name }) => name)).toEqual(['a', 'b']);
});

test('a list that changes with every page ends with an error, and one that is iterated is not repeated', async () => {
  let requests = 0;
  const server = paged(() => ({ tag: String(requests++), names: ['a', 'b'] }));
  await using client = await connect(server);
  await expect(client.tools().all()).rejects.toMatchObject({
    code: 'bad_response',
    message: expect.stringContaining('changed while it was read'),
  });
  expect(requests).toBe(8);
  const names: string[] = [];
  const iterate = async (): Promise<void> => {
    for await (const { name } of client.tools({ fresh: true })) names.push(name);
  };
  await expect(iterate()).rejects.toMatchObject({ code: 'bad_response' });
  expect(names).toEqual(['a']);
});
