import { createServer, type Dispatch, memoryStore, type Store, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { knownDigests } from 'fullmcp/middleware';
import { versions } from 'fullmcp/transform';
import { expect, test } from 'vitest';
import { z } from 'zod';

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
    use: [knownDigests({ onStale: (lists) => stale.push(lists) })],
  });
  await client.tools().all();
  expect((await client.callTool('search', { query: 'a' })).text).toBe('old a');
  expect(stale).toEqual([]);
  server.replace(release('2.0'));
  expect((await client.callTool('search', { query: 'a' })).text).toBe('old a');
  expect(stale).toEqual([['tools/list']]);
  await client.tools({ fresh: true }).all();
  expect((await client.callTool('search', { terms: 'a' })).text).toBe('new a');
  expect(stale).toHaveLength(1);
});

test('a call of a definition that is gone is rejected before anything runs, until the client lists again', async () => {
  const server = deployed(createServer({ ...base, tools: { search: v1 } }));
  const stale: (readonly string[])[] = [];
  await using client = await connect(server, {
    use: [knownDigests({ onStale: (lists) => stale.push(lists) })],
  });
  await client.tools().all();
  server.replace(createServer({ ...base, tools: { search: v2 } }));
  for (let n = 0; n < 2; n++)
    await expect(client.callTool('search', { terms: 'a' })).rejects.toMatchObject({ code: 'invalid_params' });
  expect(stale).toEqual([['tools/list'], ['tools/list']]);
  await client.tools({ fresh: true }).all();
  expect((await client.callTool('search', { terms: 'a' })).text).toBe('new a');
});

test('a server without digests gets none, also if it replaced one that had them', async () => {
  const seen: unknown[] = [];
  const plain = createServer({ ...base, drafts: false, tools: { search: v2 } });
  const server = deployed(createServer({ ...base, tools: { search: v1 } }));
  await using client = await connect(server, { use: [knownDigests()] });
  await client.tools().all();
  server.replace({
    dispatch: (call) => {
      if (call.method === 'tools/call') seen.push(call.params['_meta']);
      return plain.dispatch(call);
    },
  });
  await client.tools({ fresh: true }).all();
  await client.callTool('search', { terms: 'a' });
  expect(JSON.stringify(seen)).not.toContain('knownDigests');
});
