import { createServer, inProcess, McpError, memoryStore, type Store, stored, tool } from 'fullmcp';
import { createHandler } from 'fullmcp/http';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const cart = stored({
  name: 'cart',
  schema: z.object({ items: z.array(z.string()), note: z.string().default('none') }),
  initial: { items: [] },
});
const last = stored({ name: 'last', schema: z.string() });
const byId = z.object({ id: z.string() });

function build(store: Store = memoryStore(), name = 'shop') {
  return createServer({
    name,
    version: '1.0.0',
    store,
    logger: () => undefined,
    tools: {
      add: tool({
        input: z.object({ item: z.string() }),
        run: ({ item }, ctx) => ctx.store(cart).update(({ items }) => ({ items: [...items, item] })),
      }),
      show: tool({ run: (_, ctx) => ctx.store(cart).get() }),
      empty: tool({ run: (_, ctx) => ctx.store(cart).delete() }),
      remember: tool({
        input: z.object({ text: z.string() }),
        run: async ({ text }, ctx) => {
          const before = await ctx.store(last).get();
          await ctx.store(last).set(text);
          return { before: before ?? null };
        },
      }),
      open: tool({ run: (_, ctx) => ctx.store(cart).create({ items: ['first'] }) }),
      addTo: tool({
        input: z.object({ id: z.string(), item: z.string() }),
        run: ({ id, item }, ctx) => ctx.store(cart, id).update(({ items }) => ({ items: [...items, item] })),
      }),
      overwrite: tool({ input: byId, run: ({ id }, ctx) => ctx.store(cart, id).set({ items: [] }) }),
      showOne: tool({ input: byId, run: ({ id }, ctx) => ctx.store(cart, id).get() }),
      drop: tool({ input: byId, run: ({ id }, ctx) => ctx.store(cart, id).delete() }),
      all: tool({ run: (_, ctx) => ctx.store(cart).list() }),
      nested: tool({ run: async (_, ctx) => (await ctx.call('show')).structuredContent }),
    },
  });
}

type Caller = (name: string, args?: object) => Promise<{ value: unknown; text: string; isError: boolean }>;

function callerOf(server: ReturnType<typeof build>, subject?: string): Caller {
  const request = inProcess(server, subject === undefined ? {} : { caller: { subject } });
  return async (name, args = {}) => {
    const result = (await request('tools/call', { name, arguments: { ...args } })) as unknown as {
      structuredContent?: unknown;
      isError?: boolean;
      content: { text: string }[];
    };
    const text = result.content[0]?.text ?? '';
    return { value: result.structuredContent, text, isError: result.isError === true };
  };
}

describe('the state of a caller', () => {
  test('is kept between calls, has an initial value, and is removed', async () => {
    const call = callerOf(build());
    expect((await call('show')).value).toEqual({ items: [], note: 'none' });
    expect((await call('add', { item: 'tea' })).value).toEqual({ items: ['tea'], note: 'none' });
    await call('add', { item: 'cake' });
    expect((await call('nested')).value).toEqual({ items: ['tea', 'cake'], note: 'none' });
    await call('empty');
    expect((await call('show')).value).toEqual({ items: [], note: 'none' });
  });

  test('without an initial value is undefined at first', async () => {
    const call = callerOf(build());
    expect((await call('remember', { text: 'a' })).value).toEqual({ before: null });
    expect((await call('remember', { text: 'b' })).value).toEqual({ before: 'a' });
  });

  test('belongs to one caller, whatever the name of another one is', async () => {
    const server = build();
    const [ada, bob, none] = ['ada', 'bob', undefined].map((subject) => callerOf(server, subject)) as [
      Caller,
      Caller,
      Caller,
    ];
    await ada('add', { item: 'tea' });
    const { text: id } = await ada('open');
    for (const other of [bob, none, callerOf(server, `ada:cart`), callerOf(server, '["ada"]')]) {
      expect((await other('show')).value).toEqual({ items: [], note: 'none' });
      expect((await other('showOne', { id })).isError).toBe(true);
      expect((await other('overwrite', { id })).isError).toBe(true);
      await other('drop', { id });
      expect(JSON.parse((await other('all')).text)).toEqual([]);
    }
    expect((await ada('showOne', { id })).value).toEqual({ items: ['first'], note: 'none' });
  });

  test('is shared by all processes with the same store, and not by servers of another name', async () => {
    const store = memoryStore();
    const [one, two] = [build(store), build(store)];
    await callerOf(one, 'ada')('add', { item: 'tea' });
    expect((await callerOf(two, 'ada')('show')).value).toMatchObject({ items: ['tea'] });
    expect((await callerOf(build(store, 'other'), 'ada')('show')).value).toMatchObject({ items: [] });
  });

  test('loses no update of calls at the same time, in two processes', async () => {
    const store = memoryStore();
    const [one, two] = [callerOf(build(store), 'ada'), callerOf(build(store), 'ada')];
    const items = Array.from({ length: 200 }, (_, n) => `${n}`);
    const results = await Promise.all(items.map((item, at) => (at % 2 ? one : two)('add', { item })));
    expect(results.filter(({ isError }) => isError)).toEqual([]);
    const { items: kept } = (await one('show')).value as { items: string[] };
    expect([...kept].sort()).toEqual([...items].sort());
  });

  test('can have several values with ids, which the model passes on', async () => {
    const call = callerOf(build(), 'ada');
    const ids = [(await call('open')).text, (await call('open')).text] as [string, string];
    expect(ids[0]).toMatch(/^cart_[\w-]{22}$/);
    await call('addTo', { id: ids[0], item: 'tea' });
    expect((await call('showOne', { id: ids[0] })).value).toMatchObject({ items: ['first', 'tea'] });
    expect((await call('showOne', { id: ids[1] })).value).toMatchObject({ items: ['first'] });
    expect((await call('show')).value).toMatchObject({ items: [] });
    const all = JSON.parse((await call('all')).text) as { id: string }[];
    expect(all.map(({ id }) => id).sort()).toEqual([...ids].sort());
    await call('drop', { id: ids[0] });
    const { text, isError } = await call('showOne', { id: ids[0] });
    expect(isError).toBe(true);
    expect(text).toBe(`There is no cart "${ids[0]}". It may have expired: create a new one.`);
  });

  test.each([
    '',
    'cart',
    'cart_',
    'cart_x:y',
    '../x',
    `cart_${'x'.repeat(22)}`,
    `cart_${'x'.repeat(10_000)}`,
    'é\u0000',
  ])('has no value with the id %j, and a client cannot make one', async (id) => {
    const call = callerOf(build(), 'ada');
    for (const name of ['showOne', 'overwrite']) {
      const { isError, text } = await call(name, { id });
      expect(isError).toBe(true);
      expect(text).toMatch(/^There is no cart .{1,80}It may have expired/);
    }
    expect(JSON.parse((await call('all')).text)).toEqual([]);
  });

  test('with too many ids says so', async () => {
    const few = stored({ name: 'few', schema: z.number(), max: 2 });
    const server = createServer({
      name: 'few',
      version: '1',
      tools: { open: tool({ run: (_, ctx) => ctx.store(few).create(1) }) },
    });
    const request = inProcess(server);
    const open = () => request('tools/call', { name: 'open' });
    await open();
    await open();
    expect(await open()).toMatchObject({
      isError: true,
      content: [{ text: 'There are 2 of the kind few already. Delete one before you create another.' }],
    });
  });
});

describe('the state of an anonymous caller over HTTP', () => {
  async function post(server: ReturnType<typeof build>, name: string, args = {}) {
    const handler = createHandler(server, { allowedHosts: ['localhost'] });
    const response = await handler(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': name,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: {
            name,
            arguments: args,
            _meta: {
              'io.modelcontextprotocol/protocolVersion': '2026-07-28',
              'io.modelcontextprotocol/clientCapabilities': {},
            },
          },
        }),
      }),
    );
    return (await response.json()) as { result: { isError?: boolean; content: { text: string }[] } };
  }

  test('has an id, because all anonymous callers would share the value without one', async () => {
    const server = build();
    expect((await post(server, 'show')).result.content[0]?.text).toMatch(/^Internal error/);
    expect((await post(server, 'all')).result.content[0]?.text).toMatch(/^Internal error/);
    const id = (await post(server, 'open')).result.content[0]?.text;
    expect((await post(server, 'showOne', { id })).result).toMatchObject({
      structuredContent: { items: ['first'] },
    });
  });
});

describe('a value that does not fit', () => {
  function failing(definition: Parameters<typeof stored>[0], value: unknown, store?: Store) {
    const kept = stored(definition) as ReturnType<typeof stored<z.ZodAny>>;
    const errors: unknown[] = [];
    const server = createServer({
      name: 'shop',
      version: '1',
      ...(store && { store }),
      logger: (_level, _message, error) => void errors.push(error),
      tools: {
        set: tool({ run: (_, ctx) => ctx.store(kept).set(value) }),
        get: tool({ run: async (_, ctx) => ({ value: await ctx.store(kept).get() }) }),
      },
    });
    const request = inProcess(server);
    return {
      errors,
      call: (name: string) => request('tools/call', { name }) as Promise<{ isError?: boolean }>,
    };
  }

  test('is not written', async () => {
    const { errors, call } = failing({ name: 'n', schema: z.object({ n: z.number() }) }, { n: 'x' });
    expect((await call('set')).isError).toBe(true);
    expect(String(errors[0])).toMatch(/^TypeError: The value for "n" does not match its schema\. n/);
    expect(await call('get')).toMatchObject({ structuredContent: {} });
  });

  test.each([new Map(), 1n, () => 1, Number.NaN])(
    'because JSON has no form for it is not written: %o',
    async (value) => {
      const { errors, call } = failing({ name: 'n', schema: z.any() }, { value });
      expect((await call('set')).isError).toBe(true);
      expect(String(errors[0])).toContain('The value for "n" cannot be stored');
    },
  );

  test('because it is too large is not written, and the model is told', async () => {
    const { call } = failing({ name: 'n', schema: z.string() }, 'x'.repeat(300_000));
    expect(await call('set')).toMatchObject({
      isError: true,
      content: [{ text: 'The n is too large: it has 300012 characters, and at most 262144 can be kept.' }],
    });
  });

  test('any more, because the schema has changed, is reported, and kept', async () => {
    const store = memoryStore();
    expect((await failing({ name: 'n', schema: z.number() }, 5, store).call('set')).isError).toBeUndefined();
    const { errors, call } = failing({ name: 'n', schema: z.boolean() }, true, store);
    expect((await call('get')).isError).toBe(true);
    expect(String(errors[0])).toMatch(/The stored value of "n" does not match its schema.*use another name/);
    expect(await failing({ name: 'n', schema: z.number() }, 5, store).call('get')).toMatchObject({
      structuredContent: { value: 5 },
    });
  });
});

test('a store that fails is an error that says to retry, and an expired value is gone', async () => {
  const inner = memoryStore();
  let fails = false;
  const store: Store = {
    ...inner,
    get: (key) => (fails ? Promise.reject(new Error('down')) : inner.get(key)),
  };
  const call = callerOf(build(store), 'ada');
  await call('add', { item: 'tea' });
  const [entry] = await inner.page('state:');
  expect(entry?.expiresInMs).toBeGreaterThan(29 * 86_400_000);
  fails = true;
  await expect(call('show')).rejects.toThrow('The state of the caller is not available now. Retry later.');
  await expect(call('show')).rejects.toBeInstanceOf(McpError);
});

test('mistakes in a definition are reported when it is made', () => {
  expect(() => stored({ name: 'a:b', schema: z.string() })).toThrow('stored: `name` must have 1 to 64');
  expect(() => stored({ name: 'a', schema: z.string(), ttlMs: 0 })).toThrow(
    'stored: "ttlMs" must be an integer, 1 or more, not 0.',
  );
  expect(() => stored({ name: 'a', schema: z.string(), ttl: 5 } as never)).toThrow('ttlMs');
});
