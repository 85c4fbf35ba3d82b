// The rules of a gateway, and the identity of a proxy, with middleware that answers in front of the servers.

import { type Call, McpError, type Middleware, type Outcome, prompt, resource, tool } from 'fullmcp';
import { type Client, connect } from 'fullmcp/client';
import { type GatewayOptions, gateway } from 'fullmcp/gateway';
import { cache, outputBudget } from 'fullmcp/middleware';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { proxy } from '../../../../src/proxy.js';
import { configOf, serverWith, textOf } from './gateway-servers.js';

function shop(name = 'shop') {
  let runs = 0;
  return serverWith({
    name,
    tools: {
      price: tool({ annotations: { readOnly: true }, run: () => `${name} ${++runs}` }),
      report: tool({ run: () => `${name} `.repeat(1000) }),
    },
    prompts: {
      ask: prompt({
        args: z.object({ about: z.string() }),
        complete: { about: () => [`${name} ${++runs}`] },
        run: () => `${name} ${++runs}`,
      }),
    },
    resources: {
      'item://{id}': resource({ ttlMs: 60_000, cacheScope: 'public', read: () => `${name} ${++runs}` }),
      'both://x': resource({ ttlMs: 60_000, cacheScope: 'public', read: () => `${name} ${++runs}` }),
    },
  });
}

/** Remembers everything, for everybody. */
function remembering(): Middleware {
  const kept = new Map<string, unknown>();
  return async function remembering(call, next) {
    const { _meta, ...params } = call.params;
    const key = JSON.stringify([call.method, params]);
    if (!kept.has(key)) kept.set(key, await next(call));
    return kept.get(key) as never;
  };
}

const keeping = (): Middleware =>
  cache({ ttlMs: 60_000, cacheScope: 'public', tools: ['price', 'shop_price'] });

function hubWith(use: readonly Middleware[], more: GatewayOptions = {}) {
  const hub = gateway(configOf({ shop: shop() }), {
    ...{ use, logger: () => undefined, allow: (_item, caller) => caller?.subject === 'ada' },
    ...more,
  });
  onTestFinished(() => hub.close());
  return hub;
}

async function as(target: Parameters<typeof connect>[0], subject: string): Promise<Client> {
  const client = await connect(target, { caller: { subject, scopes: [], claims: {} }, cache: false });
  onTestFinished(() => client.close());
  return client;
}

const uses: readonly (readonly [string, (client: Client) => Promise<unknown>])[] = [
  ['a tool', (client) => client.callTool('shop_price')],
  ['a prompt', (client) => client.getPrompt('shop_ask', { about: 'tea' })],
  ['a resource', (client) => client.readResource('both://x')],
  ['an instance of a template', (client) => client.readResource('item://1')],
  ['a completion', (client) => client.complete({ prompt: 'shop_ask', argument: 'about', value: '' })],
];

test.each(
  uses.flatMap(([what, use]) => [
    [what, 'cache', use, keeping] as const,
    [what, 'middleware of your own', use, remembering] as const,
  ]),
)(
  '%s that %s of a gateway has kept stays hidden from callers who may not use it',
  async (_what, _kind, use, keep) => {
    const seen: string[] = [];
    const audit: Middleware = async (call, next) => {
      const { subject } = call.auth ?? {};
      return next(call).then(
        (outcome) => {
          seen.push(`${subject} ok`);
          return outcome;
        },
        (error) => {
          seen.push(`${subject} refused`);
          throw error;
        },
      );
    };
    const hub = hubWith([audit, keep()]);
    const ada = await as(hub, 'ada');
    const bob = await as(hub, 'bob');
    seen.length = 0;
    const first = JSON.stringify(await use(ada));
    expect(JSON.stringify(await use(ada))).toBe(first);
    await expect(use(bob)).rejects.toThrow(/Unknown|No server has|not found/);
    expect(JSON.stringify(await use(ada))).toBe(first);
    // Middleware in front sees the refusal, as if the server had refused.
    expect(seen).toEqual(['ada ok', 'ada ok', 'bob refused', 'ada ok']);
  },
);

test('a call that middleware changes is decided about anew, before the middleware behind it', async () => {
  const alias: Middleware = (call, next) =>
    call.params['name'] === 'price'
      ? next({ ...call, params: { ...call.params, name: 'shop_price' } })
      : next(call);
  const hub = hubWith([alias, keeping()]);
  expect(await textOf(await as(hub, 'ada'), 'price')).toBe('shop 1');
  await expect((await as(hub, 'bob')).callTool('price')).rejects.toThrow('Unknown tool');
});

test('middleware may identify a caller, and answer for itself what no server has', async () => {
  const identify: Middleware = (call, next) =>
    next({ ...call, auth: { subject: 'ada', scopes: [], claims: {} } });
  const own: Middleware = async (call, next) =>
    call.params['name'] === 'status'
      ? { resultType: 'complete', content: [{ type: 'text', text: 'fine' }] }
      : next(call);
  const client = await as(hubWith([own, identify]), 'bob');
  expect(await textOf(client, 'shop_price')).toBe('shop 1');
  expect(await textOf(client, 'status')).toBe('fine');
});

/** Makes the metadata of a call anew. */
const renewing: Middleware = (call, next) => {
  const { _meta, ...params } = call.params;
  return next({ ...call, params: { ...params, _meta: { renewed: true } } });
};

test.each([
  ['', [keeping()]],
  [', although middleware makes the metadata of their calls anew', [renewing, keeping()]],
])('callers who reach different servers by one name do not get results of each other%s', async (_, use) => {
  const hub = gateway(configOf({ one: shop('one'), two: shop('two') }), {
    logger: () => undefined,
    use,
    allow: ({ server }, caller) => caller?.subject === 'ada' || server === 'two',
  });
  onTestFinished(() => hub.close());
  const [ada, bob] = [await as(hub, 'ada'), await as(hub, 'bob')];
  for (const uri of ['both://x', 'item://1'])
    for (const [client, owner] of [
      [ada, 'one'],
      [bob, 'two'],
      [ada, 'one'],
      [bob, 'two'],
    ] as const)
      expect((await client.readResource(uri)).contents[0]).toMatchObject({
        text: expect.stringContaining(owner),
      });
});

test('a search does not lead around the rules', async () => {
  const hub = hubWith([keeping()], { search: true });
  const call = (client: Client) => client.callTool('call_tool', { name: 'shop_price', arguments: {} });
  await call(await as(hub, 'ada'));
  await expect(call(await as(hub, 'bob'))).rejects.toThrow('Unknown tool');
});

test('the rest of a large result can be read, whatever the rule says about the URIs of servers', async () => {
  const hub = hubWith([outputBudget({ maxChars: 500, headChars: 100 })], {
    allow: ({ kind }) => kind === 'tool',
  });
  const ada = await as(hub, 'ada');
  const { content } = await ada.callTool('shop_report');
  const link = content.find(({ type }) => type === 'resource_link') as unknown as { uri: string };
  expect((await ada.readResource(link.uri)).contents[0]).toMatchObject({
    text: expect.stringContaining('shop'),
  });
  await expect((await as(hub, 'bob')).readResource(link.uri)).rejects.toThrow();
});

test('the servers of a gateway do not see how it routes', async () => {
  const metas: unknown[] = [];
  const behind = shop();
  const dispatch = (call: Call) => {
    if (call.method === 'tools/call') metas.push(Object.keys(call.params['_meta'] ?? {}));
    return behind.dispatch(call);
  };
  const hub = gateway(configOf({ shop: { dispatch } }), {
    ...{ logger: () => undefined, use: [(call, next) => next(call)], allow: () => true },
  });
  onTestFinished(() => hub.close());
  await textOf(await as(hub, 'ada'), 'shop_price');
  expect(JSON.stringify(metas)).not.toContain('fullmcp/server');
  expect(metas).toHaveLength(1);
});

test.each(['proxy', 'gateway'] as const)(
  'a caller whom the identity of a %s refuses gets nothing that its middleware has kept',
  async (kind) => {
    const identity = ({ auth }: Call) => {
      if (auth?.subject !== 'ada') throw new Error('not you');
      return { key: 'ada', caller: auth };
    };
    const options = { logger: () => undefined, identity, use: [keeping()] };
    const hub = kind === 'proxy' ? proxy(shop(), options) : gateway(configOf({ shop: shop() }), options);
    onTestFinished(() => hub.close());
    const name = kind === 'proxy' ? 'price' : 'shop_price';
    const dispatch = (subject: string, method: string, params: object) =>
      hub.dispatch({
        ...{ id: 1, method, params: { ...params } as never, notify: () => undefined },
        ...{ signal: new AbortController().signal, auth: { subject, scopes: [], claims: {} } },
        peer: { revision: '2026-07-28', client: undefined, capabilities: {}, logLevel: undefined },
      });
    await dispatch('ada', 'tools/list', {});
    for (const [method, params] of [
      ['tools/call', { name, arguments: {} }],
      ['resources/read', { uri: 'both://x' }],
    ] as const) {
      const kept = await dispatch('ada', method, params);
      expect({ ...(await dispatch('ada', method, params)), ttlMs: 0 }).toEqual({ ...kept, ttlMs: 0 });
      await expect(dispatch('bob', method, params)).rejects.toThrow(/not you|Resource not found/);
    }
  },
);

test('a caller who has to log in is asked to, whatever the middleware of a proxy has kept', async () => {
  const login = { url: 'https://login.example/', message: 'Log in first.' };
  const between = proxy(shop(), {
    logger: () => undefined,
    use: [keeping()],
    identity: ({ auth }) => (auth?.subject === 'ada' ? { key: 'ada', caller: auth } : { login }),
  });
  onTestFinished(() => between.close());
  const asked: string[] = [];
  // Clients with other capabilities would not get results of each other.
  async function client(subject: string): Promise<Client> {
    const one = await connect(between, {
      ...{ caller: { subject, scopes: [], claims: {} }, cache: false },
      elicit: {
        url: ({ url }) => {
          asked.push(url);
          return { action: 'decline' };
        },
      },
    });
    onTestFinished(() => one.close());
    return one;
  }
  const ada = await client('ada');
  expect(await textOf(ada, 'price')).toBe('shop 1');
  expect(await textOf(ada, 'price')).toBe('shop 1');
  const bob = await client('bob');
  await expect(bob.callTool('price')).rejects.toThrow('which the user refused');
  expect(asked).toEqual([login.url]);
});

test('a cache in front of a gateway with a rule does not give its results to callers whom the rule refuses', async () => {
  const front = proxy(hubWith([]), {
    identity: ({ auth }) => auth && { key: auth.subject, caller: auth },
    use: [cache({ ttlMs: 60_000 })],
    logger: () => undefined,
  });
  onTestFinished(() => front.close());
  const ada = await as(front, 'ada');
  const bob = await as(front, 'bob');
  const first = await ada.readResource('item://1');
  expect(await ada.readResource('item://1')).toEqual(first);
  await expect(bob.readResource('item://1')).rejects.toThrow('Resource not found: item://1');
});

test('with one server, a hidden resource gets the error of an unknown one, also behind middleware', async () => {
  const hub = hubWith([async (call, next) => next(call)], {
    allow: ({ name }) => name !== 'both://x',
  });
  const bob = await as(hub, 'bob');
  const failure = (uri: string): Promise<unknown> =>
    bob.readResource(uri).then(
      () => 'read',
      ({ code, message, data }) => [code, message.replace(uri, ''), JSON.stringify(data).replaceAll(uri, '')],
    );
  expect(await failure('both://x')).toEqual(await failure('both://y'));
});

/** The error of a failing call, with `name` in place of the names that the call could have had. */
async function errorOf(failing: Promise<unknown>, name: string): Promise<string> {
  const error = await failing.then(
    () => undefined,
    (reason: McpError) => reason,
  );
  const { code, message, data } = error as McpError;
  return JSON.stringify({ code, message, data }).replaceAll(name, 'name');
}

test.each([
  ['one server', 'without middleware', { shop }, []],
  ['one server', 'with middleware', { shop }, [keeping()]],
  ['two servers', 'without middleware', { shop, store: shop }, []],
  ['two servers', 'with middleware', { shop, store: shop }, [keeping()]],
] as const)(
  'the error for a hidden name is that for an unknown one, and suggests no hidden name, in a gateway of %s %s',
  async (_servers, _with, servers, use) => {
    const hidden = ['price', 'ask', 'both://x', 'item://{id}'];
    const made = Object.entries(servers).map(([name, make]) => [name, make(name)]);
    const hub = gateway(configOf(Object.fromEntries(made)), {
      ...{ use, logger: () => undefined, allow: ({ name }) => !hidden.includes(name) },
    });
    onTestFinished(() => hub.close());
    const client = await as(hub, 'ada');
    for (const [name, other, make] of [
      ['both://x', 'both://y', (uri) => client.readResource(uri)],
      ['item://1', 'sign://1', (uri) => client.readResource(uri)],
      ['price', 'prize', (tool) => client.callTool(`shop_${tool}`)],
      ['ask', 'task', (one) => client.getPrompt(`shop_${one}`, { about: 'tea' })],
      ['ask', 'task', (one) => client.complete({ prompt: `shop_${one}`, argument: 'about', value: '' })],
    ] as readonly [string, string, (name: string) => Promise<unknown>][])
      expect(await errorOf(make(name), name)).toBe(await errorOf(make(other), other));
  },
);

test.each([
  ['one server', {}],
  ['two servers', { shop: shop() }],
] as const)(
  'a caller whom the identity refuses gets nothing of a resource that no list has, in a gateway of %s',
  async (_servers, others) => {
    const done = { resultType: 'complete', ttlMs: 0, cacheScope: 'public' } as const;
    const answers: Readonly<Record<string, Outcome>> = {
      'server/discover': { ...done, supportedVersions: ['2026-07-28'], capabilities: { resources: {} } },
      'resources/list': { ...done, resources: [] },
      'resources/templates/list': { ...done, resourceTemplates: [] },
      'resources/read': { ...done, ttlMs: 60_000, contents: [{ uri: 'more://x', text: 'for ada' }] },
    };
    const dispatch = async ({ method }: Call) => answers[method] as Outcome;
    const hub = gateway(configOf({ files: { dispatch }, ...others }), {
      ...{ logger: () => undefined, use: [keeping()] },
      identity: {
        files: ({ method, auth }) => {
          if (method === 'resources/read' && auth?.subject !== 'ada')
            throw new McpError('forbidden', 'not you');
          return undefined;
        },
      },
    });
    onTestFinished(() => hub.close());
    expect((await (await as(hub, 'ada')).readResource('more://x')).contents).toMatchObject([
      { text: 'for ada' },
    ]);
    await expect((await as(hub, 'bob')).readResource('more://x')).rejects.toThrow('not you');
  },
);

test('a call goes only to the servers that it was decided about, although their lists change before it is made', async () => {
  const names: Record<string, string[]> = { two: [], one: ['both://x'] };
  const serverOf = (server: string) => ({
    dispatch: async ({ method }: Call): Promise<Outcome> => {
      const done = { resultType: 'complete', ttlMs: 0, cacheScope: 'public' } as const;
      if (method === 'server/discover')
        return { ...done, supportedVersions: ['2026-07-28'], capabilities: { resources: {} } };
      if (method === 'resources/list')
        return { ...done, resources: (names[server] ?? []).map((uri) => ({ uri, name: uri })) };
      if (method === 'resources/templates/list') return { ...done, resourceTemplates: [] };
      return { ...done, ttlMs: 60_000, contents: [{ uri: 'both://x', text: server }] };
    },
  });
  let meanwhile = async (): Promise<void> => undefined;
  const slow: Middleware = async (call, next) => {
    if (call.method === 'resources/read') await meanwhile();
    return next(call);
  };
  const hub = gateway(configOf({ two: serverOf('two'), one: serverOf('one') }), {
    ...{ logger: () => undefined, use: [keeping(), slow] },
    allow: ({ server }, caller) => caller?.subject === 'ada' || server === 'one',
  });
  onTestFinished(() => hub.close());
  const [ada, bob] = [await as(hub, 'ada'), await as(hub, 'bob')];
  await ada.resources().all();
  meanwhile = async () => {
    names['two'] = ['both://x'];
    await ada.resources().all();
  };
  const textFor = async (client: Client) => (await client.readResource('both://x')).contents[0];
  expect(await textFor(ada)).toMatchObject({ text: 'one' });
  meanwhile = async () => undefined;
  expect(await textFor(bob)).toMatchObject({ text: 'one' });
  expect(await textFor(ada)).toMatchObject({ text: 'two' });
});
