// A cache whose results are for everybody, in front of definitions that are not: plain, mounted and transformed.

import { createServer, prompt, resource, type Server, tool } from 'fullmcp';
import { type Client, connect } from 'fullmcp/client';
import { cache, policy } from 'fullmcp/middleware';
import { transform } from 'fullmcp/transform';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';

const quiet = { version: '1', logger: () => undefined };
const use = () => ({ use: [cache({ ttlMs: 60_000, cacheScope: 'public', tools: 'readOnly' })] });
const forAda = (auth: { readonly subject: string } | undefined): boolean => auth?.subject === 'ada';

function shop(rule: object, more: object = {}): Server {
  let runs = 0;
  const count = (): string => `run ${++runs}`;
  return createServer({
    ...{ name: 'shop', ...quiet, ...more },
    tools: { price: tool({ ...rule, annotations: { readOnly: true }, run: count }) },
    prompts: {
      ask: prompt({
        ...{ ...rule, args: z.object({ about: z.string() }), run: count },
        complete: { about: () => [count()] },
      }),
    },
    resources: {
      'a://b': resource({ ...rule, ttlMs: 60_000, read: count }),
      'item://{id}': resource({ ...rule, ttlMs: 60_000, read: count }),
    },
  } as never) as unknown as Server;
}

const outer = (mounted: unknown, more: object = use()): Server =>
  createServer({ ...{ name: 'outer', ...quiet, ...more }, mount: { '': mounted } } as never) as never;

const rules = { scopes: { scopes: ['read'] }, allow: { allow: forAda } };

const stacks: Readonly<Record<string, (rule: object) => Server>> = {
  'a plain server': (rule) => shop(rule, use()),
  'a mounted server with the cache': (rule) => outer(shop(rule, use()), {}),
  'a mounted server behind the cache': (rule) => outer(shop(rule)),
  'a transformed server': (rule) =>
    outer(transform(shop(rule), { tools: { price: { description: 'A price' } } })),
  'a server with search': (rule) => shop(rule, { ...use(), search: true }),
};

const calls: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  'a tool': (client) => client.callTool('price'),
  'a prompt': (client) => client.getPrompt('ask', { about: 'tea' }),
  'a resource': (client) => client.readResource('a://b'),
  'an instance of a template': (client) => client.readResource('item://1'),
  'a completion': (client) => client.complete({ prompt: 'ask', argument: 'about', value: '' }),
};

async function isKeptFrom(server: Server, call: (client: Client) => Promise<unknown>): Promise<boolean> {
  const as = async (subject: string, scopes: readonly string[]): Promise<Client> => {
    const client = await connect(server, { caller: { subject, scopes, claims: {} }, cache: false });
    onTestFinished(() => client.close());
    return client;
  };
  const ada = await as('ada', ['read']);
  const bob = await as('bob', []);
  const first = JSON.stringify(await call(ada));
  const got = await call(bob).then(JSON.stringify, () => undefined);
  return got === undefined || (got !== first && !got.includes('run '));
}

test.each(
  Object.entries(stacks).flatMap(([stack, make]) =>
    Object.entries(rules).flatMap(([rule, value]) =>
      Object.entries(calls).map(([what, call]) => [what, rule, stack, call, () => make(value)] as const),
    ),
  ),
)(
  '%s with %s of %s is not answered from the cache for a caller who may not have it',
  async (_w, _r, _s, call, make) => {
    expect(await isKeptFrom(make(), call)).toBe(true);
  },
);

test('a tool that is called through a search is not answered from the cache for a caller who may not call it', async () => {
  const call = (client: Client) => client.callTool('call_tool', { name: 'price', arguments: {} });
  expect(await isKeptFrom(shop(rules.allow, { ...use(), search: true }), call)).toBe(true);
});

test('the policy of an outer server and the rule of a transform come before the cache, too', async () => {
  const call = (client: Client) => client.callTool('price');
  const access = policy({ default: 'deny', rules: [{ effect: 'allow', tools: 'price', caller: forAda }] });
  expect(await isKeptFrom(outer(shop({}), { ...use(), access }), call)).toBe(true);
  expect(await isKeptFrom(outer(shop({}, use()), { access }), call)).toBe(true);
  const ruled = transform(shop({}), { tools: { price: { allow: forAda } } } as never);
  expect(await isKeptFrom(outer(ruled), call)).toBe(true);
});
