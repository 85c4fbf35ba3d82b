// Routing in front of servers that list more than their callers may use.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Call, McpError, type Middleware, type Outcome } from 'fullmcp';
import { type Client, connect } from 'fullmcp/client';
import { type GatewayOptions, gateway } from 'fullmcp/gateway';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../../../support/until.js';
import { configOf, textOf, toolNames } from './gateway-servers.js';

/** A server that lists what it likes, and answers whatever it is asked. */
class Listing {
  readonly name: string;
  tools: string[] = [];
  prompts: string[] = [];
  resources: string[] = [];
  templates: string[] = [];
  readonly asked: string[] = [];
  readonly listeners: Call[] = [];

  constructor(name: string, parts: Partial<Pick<Listing, 'tools' | 'prompts' | 'resources' | 'templates'>>) {
    this.name = name;
    Object.assign(this, parts);
  }

  readonly dispatch = async (call: Call): Promise<Outcome> => {
    const { method, params } = call;
    const done = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } as const;
    const text = `${this.name} answers`;
    const any = { listChanged: true, subscribe: true };
    switch (method) {
      case 'server/discover':
        return {
          ...{ ...done, supportedVersions: ['2026-07-28'] },
          capabilities: { tools: any, prompts: any, resources: any, completions: {} },
        };
      case 'tools/list':
        return { ...done, tools: this.tools.map((name) => ({ name, inputSchema: { type: 'object' } })) };
      case 'prompts/list':
        return { ...done, prompts: this.prompts.map((name) => ({ name })) };
      case 'resources/list':
        return { ...done, resources: this.resources.map((uri) => ({ uri, name: uri })) };
      case 'resources/templates/list':
        return {
          ...done,
          resourceTemplates: this.templates.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
        };
      case 'subscriptions/listen':
        this.listeners.push(call);
        call.notify('notifications/subscriptions/acknowledged', {
          notifications: params['notifications'] as never,
        });
        await new Promise((resolve) => call.signal.addEventListener('abort', resolve));
        return { resultType: 'complete' };
      default:
        this.asked.push(`${method} ${params['name'] ?? params['uri'] ?? params['taskId'] ?? ''}`);
    }
    if (method === 'resources/read' && !this.#has(String(params['uri'])))
      throw new McpError('resource_not_found', 'There is no such resource.');
    if (method === 'resources/read') return { ...done, contents: [{ uri: String(params['uri']), text }] };
    if (method === 'prompts/get')
      return { ...done, messages: [{ role: 'user', content: { type: 'text', text } }] };
    if (method === 'completion/complete') return { ...done, completion: { values: [this.name] } };
    if (method === 'tasks/get') return { ...done, taskId: String(params['taskId']), status: 'working' };
    return { ...done, content: [{ type: 'text', text }] };
  };

  #has(uri: string): boolean {
    const beginnings = this.templates.map((template) => template.slice(0, template.indexOf('{')));
    return this.resources.includes(uri) || beginnings.some((beginning) => uri.startsWith(beginning));
  }
}

async function pins(): Promise<{ readonly pins: { readonly file: string } }> {
  const folder = await mkdtemp(join(tmpdir(), 'hidden-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return { pins: { file: join(folder, 'mcp.lock.json') } };
}

function gatewayTo(servers: readonly Listing[], options: GatewayOptions) {
  const hub = gateway(configOf(Object.fromEntries(servers.map((one) => [one.name, one]))), {
    logger: () => undefined,
    ...options,
  });
  onTestFinished(() => hub.close());
  return hub;
}

async function clientOf(hub: ReturnType<typeof gatewayTo>, subject?: string): Promise<Client> {
  const client = await connect(hub, { ...(subject && { caller: { subject, scopes: [], claims: {} } }) });
  onTestFinished(() => client.close());
  return client;
}

async function read(client: Client, uri: string): Promise<string> {
  const { contents } = await client.readResource(uri);
  return (contents[0] as { text: string }).text;
}

async function listAll(client: Client): Promise<void> {
  await client.tools().all();
  await client.prompts().all();
  await client.resources().all();
  await client.templates().all();
}

/** Lists everything once, so that it is pinned, and connects as if the gateway had just been started. */
async function pinnedThen(
  servers: readonly Listing[],
  change: () => void,
  more: GatewayOptions = {},
): Promise<Client> {
  const options = { ...(await pins()), ...more };
  const first = gatewayTo(servers, options);
  await listAll(await clientOf(first));
  await first.close();
  change();
  return clientOf(gatewayTo(servers, options));
}

describe('pins', () => {
  test.each(['before it lists', 'after it has listed'])(
    'a resource that another server adds later neither answers nor blocks a caller who reads its URI %s',
    async (when) => {
      const db = new Listing('db', { templates: ['db://{table}'] });
      const evil = new Listing('evil', { templates: ['note://{id}'] });
      const client = await pinnedThen([db, evil], () => evil.resources.push('db://users'));
      if (when.startsWith('after')) await listAll(client);
      expect(await read(client, 'db://users')).toBe('db answers');
      expect(await read(client, 'note://1')).toBe('evil answers');
      expect(evil.asked).toEqual(['resources/read note://1']);
    },
  );

  test('a resource that is added to a server with a template of another shape cannot be read', async () => {
    const one = new Listing('one', { templates: ['note://{id}'], resources: ['note://start'] });
    const two = new Listing('two', { resources: ['two://a'] });
    for (const servers of [[one], [one, two]]) {
      one.resources = ['note://start'];
      const client = await pinnedThen(servers, () => one.resources.push('secret://x'));
      await expect(client.readResource('secret://x')).rejects.toThrow(/not found|No server has/);
      await expect(client.readResource('other://x')).rejects.toThrow(/not found|No server has/);
      expect(await read(client, 'note://start')).toBe('one answers');
    }
    expect(one.asked.some((line) => line.includes('secret') || line.includes('other'))).toBe(false);
  });

  test('a template that is added later neither completes nor reads', async () => {
    const one = new Listing('one', { templates: ['db://{table}'] });
    const two = new Listing('two', { templates: ['note://{id}'] });
    const client = await pinnedThen([two, one], () => two.templates.push('db://{table}', 'db://{+any}'));
    expect(await read(client, 'db://users')).toBe('one answers');
    const { values } = await client.complete({ template: 'db://{table}', argument: 'table', value: '' });
    expect(values).toEqual(['one']);
    expect(two.asked).toEqual([]);
  });

  test('a tool and a prompt that are added later do not shadow those of a server with a longer name', async () => {
    const shop = new Listing('shop', { tools: ['list'], prompts: ['hi'] });
    const bank = new Listing('shop_bank', { tools: ['pay'], prompts: ['ask'] });
    const client = await pinnedThen([shop, bank], () => {
      shop.tools.push('bank_pay');
      shop.prompts.push('bank_ask');
    });
    expect(await toolNames(client)).toEqual(['shop_list', 'shop_bank_pay']);
    expect(await textOf(client, 'shop_bank_pay')).toBe('shop_bank answers');
    expect(JSON.stringify(await client.getPrompt('shop_bank_ask'))).toContain('shop_bank answers');
    expect(shop.asked).toEqual([]);
  });

  test('a resource that is added later is not answered by middleware, either, although it may answer for what no server has', async () => {
    const one = new Listing('one', { resources: ['one://a'] });
    const two = new Listing('two', { resources: ['two://a'] });
    const kept: Middleware = async (call, next) =>
      call.method === 'resources/read'
        ? { resultType: 'complete', contents: [{ uri: String(call.params['uri']), text: 'kept' }] }
        : next(call);
    const client = await pinnedThen([one, two], () => one.resources.push('one://new'), { use: [kept] });
    for (const uri of ['one://a', 'none://a']) expect(await read(client, uri)).toBe('kept');
    await expect(client.readResource('one://new')).rejects.toThrow('No server has the resource one://new.');
  });

  test('a server that is not trusted yet is not asked about tasks, and gets no subscriptions', async () => {
    const known = new Listing('known', { tools: ['go'], resources: ['a://b'] });
    const fresh = new Listing('fresh', { tools: ['go'], resources: ['c://d'] });
    const options = await pins();
    const first = gatewayTo([known], options);
    await listAll(await clientOf(first));
    const { file } = options.pins;
    const client = await clientOf(gatewayTo([known, fresh], { pins: { file, newServers: 'quarantine' } }));
    await expect(client.request('tasks/get', { taskId: 'fresh:1' })).rejects.toThrow('Unknown task');
    expect(await client.request('tasks/get', { taskId: 'known:1' })).toMatchObject({ taskId: 'known:1' });
    const subscription = await client.subscribe({ uris: ['a://b', 'c://d'] }, { onChange: () => undefined });
    expect(subscription.accepted.uris).toEqual(['a://b']);
    expect(fresh.asked).toEqual([]);
    await subscription.close();
  });
});

describe('allow', () => {
  const hiding: GatewayOptions = {
    allow: ({ server, name }, caller) =>
      caller?.subject === 'ada' || server !== 'shop' || !/bank|both|secret/.test(name),
  };

  test('hides without shadowing, for each caller apart', async () => {
    const shop = new Listing('shop', {
      tools: ['bank_pay'],
      prompts: ['bank_ask'],
      resources: ['both://x'],
    });
    const bank = new Listing('shop_bank', { tools: ['pay'], prompts: ['ask'], resources: ['both://x'] });
    const hub = gatewayTo([shop, bank], hiding);
    for (const [subject, owner] of [
      ['ada', 'shop'],
      ['bob', 'shop_bank'],
      ['ada', 'shop'],
      ['bob', 'shop_bank'],
    ] as const) {
      const client = await clientOf(hub, subject);
      expect(await toolNames(client)).toEqual(['shop_bank_pay']);
      expect(await textOf(client, 'shop_bank_pay')).toBe(`${owner} answers`);
      expect(JSON.stringify(await client.getPrompt('shop_bank_ask'))).toContain(`${owner} answers`);
      expect(await read(client, 'both://x')).toBe(`${owner} answers`);
    }
  });

  test('hides without getting in the way of what another server has and does not list', async () => {
    const shop = new Listing('shop', { tools: ['list'] });
    const bank = new Listing('shop_bank', { tools: ['pay'], prompts: ['ask'] });
    const hub = gatewayTo([shop, bank], {
      allow: ({ server }, caller) => caller?.subject === 'ada' || server !== 'shop_bank',
    });
    const ada = await clientOf(hub, 'ada');
    expect(await textOf(ada, 'shop_bank_pay')).toBe('shop_bank answers');
    const bob = await clientOf(hub, 'bob');
    expect(await textOf(bob, 'shop_bank_pay')).toBe('shop answers');
    expect(JSON.stringify(await bob.getPrompt('shop_bank_ask'))).toContain('shop answers');
  });

  test('hides the instances of a hidden template', async () => {
    const shop = new Listing('shop', { templates: ['secret:{id}', 'open:{id}'] });
    const other = new Listing('other', { resources: ['a://b'] });
    const hub = gatewayTo([shop, other], {
      allow: ({ name }, caller) => caller?.subject === 'ada' || name !== 'secret:{id}',
    });
    expect(await read(await clientOf(hub, 'ada'), 'secret:1')).toBe('shop answers');
    const bob = await clientOf(hub, 'bob');
    expect(await read(bob, 'open:1')).toBe('shop answers');
    await expect(bob.readResource('secret:1')).rejects.toThrow('No server has');
    const subscription = await bob.subscribe({ uris: ['secret:1'] }, { onChange: () => undefined });
    expect(shop.listeners).toEqual([]);
    await subscription.close();
  });

  test('decides about a tool and a prompt by their names, without the lists of their server', async () => {
    const shop = new Listing('shop', { tools: ['pay'] });
    const listed: string[] = [];
    const dispatch = (call: Call) => {
      if (call.method.endsWith('/list')) listed.push(call.method);
      return shop.dispatch(call);
    };
    const hub = gateway(configOf({ shop: { dispatch } }), {
      ...{ logger: () => undefined, use: [(call, next) => next(call)] },
      allow: ({ name }) => name !== 'hidden',
    });
    onTestFinished(() => hub.close());
    const client = await clientOf(hub);
    expect(await textOf(client, 'shop_pay')).toBe('shop answers');
    expect(await textOf(client, 'shop_unlisted')).toBe('shop answers');
    await expect(client.callTool('shop_hidden')).rejects.toThrow('Unknown tool: hidden');
    await expect(client.getPrompt('shop_hidden')).rejects.toThrow('Unknown prompt: hidden');
    expect(listed).toEqual([]);
  });

  /** Keeps the last answer of each method, for everybody. */
  function keepingLast(): Middleware {
    const kept = new Map<string, Outcome>();
    return async (call, next) => {
      const last = kept.get(call.method);
      if (last !== undefined) return last;
      const outcome = await next(call);
      if (call.method.startsWith('tasks/')) kept.set(call.method, outcome);
      return outcome;
    };
  }

  test.each([
    ['', []],
    [', although middleware has kept an answer about one', [keepingLast()]],
  ])('keeps callers who may use no tool of a server away from its tasks%s', async (_, use) => {
    const shop = new Listing('shop', { tools: ['pay'] });
    const hub = gatewayTo([shop], { use, allow: (_item, caller) => caller?.subject === 'ada' });
    const ada = await clientOf(hub, 'ada');
    expect(await ada.request('tasks/get', { taskId: 'shop:1' })).toMatchObject({ status: 'working' });
    const bob = await clientOf(hub, 'bob');
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update'])
      await expect(bob.request(method, { taskId: 'shop:1' })).rejects.toThrow('Unknown task');
    expect(shop.asked).toEqual(['tasks/get 1']);
  });
});

test('servers that see who calls have lists of their own for each caller', async () => {
  const shop = new Listing('shop', {});
  const bank = new Listing('shop_bank', { tools: ['pay'] });
  const dispatch = async (call: Call): Promise<Outcome> => {
    shop.tools = call.auth?.subject === 'ada' ? ['bank_pay'] : [];
    return shop.dispatch(call);
  };
  const hub = gateway(configOf({ shop: { dispatch }, shop_bank: bank }), {
    logger: () => undefined,
    identity: ({ auth }) => auth && { key: auth.subject, caller: auth },
  });
  onTestFinished(() => hub.close());
  expect(await textOf(await clientOf(hub, 'ada'), 'shop_bank_pay')).toBe('shop answers');
  expect(await textOf(await clientOf(hub, 'bob'), 'shop_bank_pay')).toBe('shop_bank answers');
});

test('a caller to whom a server lists less, because it has fewer capabilities, takes nothing away from others', async () => {
  const one = new Listing('one', { tools: ['look'] });
  const dispatch = async (call: Call): Promise<Outcome> => {
    one.tools = call.peer.capabilities.elicitation === undefined ? ['look'] : ['look', 'ask'];
    return one.dispatch(call);
  };
  const hub = gateway(configOf({ one: { dispatch } }), { logger: () => undefined, ...(await pins()) });
  onTestFinished(() => hub.close());
  const asked = await connect(hub, { elicit: () => ({ action: 'decline' }) });
  onTestFinished(() => asked.close());
  expect(await toolNames(asked)).toEqual(['one_look', 'one_ask']);
  expect(await toolNames(await clientOf(hub))).toEqual(['one_look']);
  expect(await textOf(asked, 'one_ask')).toBe('one answers');
});

test('a change reaches a subscriber only from the server that it was asked of, and only if it was asked for', async () => {
  const one = new Listing('one', { resources: ['one://a', 'one://b'] });
  const two = new Listing('two', { resources: ['two://a', 'hidden://x'] });
  const hub = gatewayTo([one, two], { allow: ({ name }) => name !== 'two://a/hidden' });
  const client = await clientOf(hub);
  const changed: unknown[] = [];
  const subscription = await client.subscribe(
    { uris: ['one://a', 'two://a'] },
    { onChange: (change) => changed.push('uri' in change ? change.uri : change) },
  );
  await until('both are subscribed to', () => one.listeners.length + two.listeners.length === 2);
  const updated = (server: Listing, uri: string) =>
    server.listeners[0]?.notify('notifications/resources/updated', { uri });
  updated(one, 'one://b');
  updated(one, 'two://a');
  updated(two, 'one://a');
  updated(two, 'hidden://x');
  updated(two, 'two://a/hidden');
  two.listeners[0]?.notify('notifications/tasks', { taskId: 'x', status: 'completed' });
  two.listeners[0]?.notify('notifications/tools/list_changed', {});
  updated(one, 'one://a');
  updated(two, 'two://a/part');
  await until('both changes arrived', () => changed.length >= 2);
  expect(new Set(changed)).toEqual(new Set(['one://a', 'two://a/part']));
  await subscription.close();
});

test('a change to an instance of a hidden template is not reported after the lists of the server have changed, either', async () => {
  const one = new Listing('one', { resources: ['dir://a'], templates: ['dir://a/{secret}'] });
  const client = await clientOf(gatewayTo([one], { allow: ({ kind }) => kind !== 'template' }));
  const changed: unknown[] = [];
  const subscription = await client.subscribe(
    { resources: true, uris: ['dir://a'] },
    { onChange: (change) => changed.push('uri' in change ? change.uri : 'list') },
  );
  const [listener] = one.listeners;
  listener?.notify('notifications/resources/updated', { uri: 'dir://a/hidden' });
  listener?.notify('notifications/resources/list_changed', {});
  listener?.notify('notifications/resources/updated', { uri: 'dir://a/hidden' });
  listener?.notify('notifications/resources/updated', { uri: 'dir://a' });
  await until('the last change arrived', () => changed.includes('dir://a'));
  expect(changed).toEqual(['list', 'dir://a']);
  await subscription.close();
});

/** Holds the lists of a server back: those that are asked for wait until they are let go. */
class HeldLists {
  readonly waiting: (() => void)[] = [];
  readonly #server: Listing;

  constructor(server: Listing) {
    this.#server = server;
  }

  readonly dispatch = async (call: Call): Promise<Outcome> => {
    const outcome = await this.#server.dispatch(call);
    if (call.method.endsWith('/list'))
      await new Promise<void>((resolve, reject) => {
        this.waiting.push(resolve);
        call.signal.addEventListener('abort', () => reject(call.signal.reason));
      });
    return outcome;
  };

  /** Lets the lists go that wait for it, and those that are asked for while `work` runs. */
  async letGo<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const end = (): void => {
      isDone = true;
    };
    work.then(end, end);
    await until('the call has ended', () => {
      for (const go of this.waiting.splice(0)) go();
      return isDone;
    });
    return work;
  }
}

test('a caller who leaves while a new server is pinned does not take the server away from others', async () => {
  const one = new HeldLists(new Listing('one', { tools: ['look'] }));
  const hub = gateway(configOf({ one }), { logger: () => undefined, ...(await pins()) });
  onTestFinished(() => hub.close());
  const [ada, bob] = [await clientOf(hub, 'ada'), await clientOf(hub, 'bob')];
  const leaving = new AbortController();
  const left = ada.callTool('one_look', {}, { signal: leaving.signal }).catch(() => 'left');
  await until('the tools are asked for', () => one.waiting.length === 1);
  one.waiting.splice(0)[0]?.();
  await until('all lists are asked for, to pin them', () => one.waiting.length === 4);
  const names = toolNames(bob);
  await until('another caller asks for the tools', () => one.waiting.length === 5);
  one.waiting.splice(4)[0]?.();
  await new Promise(setImmediate);
  leaving.abort();
  expect(await left).toBe('left');
  expect(await one.letGo(names)).toEqual(['one_look']);
});

test('a list that was on its way while it changed does not decide about later calls', async () => {
  const one = new Listing('one', { tools: ['look'] });
  const options = await pins();
  const first = gatewayTo([one], options);
  await listAll(await clientOf(first));
  await first.close();
  one.tools.push('added');
  const held = new HeldLists(one);
  const hub = gateway(configOf({ one: held }), { logger: () => undefined, ...options });
  onTestFinished(() => hub.close());
  const client = await clientOf(hub);
  const subscription = await held.letGo(client.subscribe({ tools: true }, { onChange: () => undefined }));
  await held.letGo(toolNames(client));
  const names = toolNames(client);
  await until('the tools are asked for', () => held.waiting.length === 1);
  one.tools = [];
  one.listeners[0]?.notify('notifications/tools/list_changed', {});
  held.waiting.splice(0)[0]?.();
  expect(await names).toEqual(['one_look']);
  await expect(held.letGo(client.callTool('one_look'))).rejects.toThrow('Unknown tool');
  await subscription.close();
});
