import { createServer, McpError, prompt, resource, ToolError, tool } from 'fullmcp';
import { type CacheOptions, cache, policy } from 'fullmcp/middleware';
import { testClient } from 'fullmcp/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { memoryBus } from '../../../../src/state/bus.js';
import { until } from '../../../support/until.js';

// The cache of a server: rules of access, policies, `user`, changes, other processes.

type Options = Parameters<typeof createServer>[0];

function serverWith(options: Partial<Options>, cacheOptions: Partial<CacheOptions> = {}) {
  const server = createServer({
    name: 'cached',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    use: [cache({ ttlMs: 60_000, tools: 'readOnly', ...cacheOptions })],
    ...options,
  } as Options);
  onTestFinished(() => server.close());
  const clientOf = async (subject: string | undefined, more: object = {}) => {
    const caller = subject === undefined ? {} : { caller: { subject } };
    const client = await testClient(server, { over: 'http', cache: false, ...caller, ...more });
    onTestFinished(() => client.close());
    return client;
  };
  return Object.assign(server, { clientOf });
}

const readOnly = { annotations: { readOnly: true } } as const;

/** A resource whose contents are the number of reads. */
function counter(options: object = {}) {
  let reads = 0;
  return resource({ ...options, read: () => `${++reads}` });
}

describe('the results that a server keeps', () => {
  it('are reads without a `ttlMs`, prompts, completions and read-only tools; clients are told what the definition says', async () => {
    let runs = 0;
    const count = () => `${++runs}`;
    const server = serverWith({
      tools: { look: tool({ ...readOnly, run: count }), act: tool({ run: count }) },
      resources: {
        'a://open': counter(),
        'a://never': counter({ ttlMs: 0 }),
        'a://long': counter({ ttlMs: 120_000 }),
        'a://{id}': resource({
          complete: { id: () => [count()] },
          list: () => ['a://listed'],
          read: () => 'x',
        }),
      },
      prompts: { ask: prompt({ run: count }) },
    });
    const client = await server.clientOf('ada');
    const twice = async (one: () => Promise<{ text: string }>) => [(await one()).text, (await one()).text];
    expect(await twice(() => client.readResource('a://open'))).toEqual(['1', '1']);
    expect(await twice(() => client.readResource('a://never'))).toEqual(['1', '2']);
    expect(await twice(() => client.readResource('a://long'))).toEqual(['1', '1']);
    expect(await twice(() => client.callTool('look'))).toEqual(['1', '1']);
    const prompts = [await client.getPrompt('ask'), await client.getPrompt('ask')];
    expect(prompts[0]).toEqual(prompts[1]);
    const ref = { type: 'ref/resource', uri: 'a://{id}' } as const;
    const complete = async () =>
      (await client.request('completion/complete', { ref, argument: { name: 'id', value: '' } }))[
        'completion'
      ];
    const completion = await complete();
    expect(await complete()).toEqual(completion);
    const { ttlMs } = await client.request('resources/read', { uri: 'a://long' });
    expect(ttlMs).toBeLessThan(120_000);
    expect(ttlMs).toBeGreaterThan(0);
    expect(await client.request('resources/read', { uri: 'a://open' })).toMatchObject({ ttlMs: 0 });
    const before = runs;
    expect(await twice(() => client.callTool('act'))).toEqual([`${before + 1}`, `${before + 2}`]);
    expect(await client.resources().all()).toHaveLength(4);
  });

  it('is for each caller, and for nobody if callers are not authenticated over HTTP', async () => {
    const server = serverWith({
      tools: { who: tool({ ...readOnly, run: (_, { auth }) => `${auth?.subject} ${Math.random()}` }) },
    });
    const [ada, bob, anonymous] = [
      await server.clientOf('ada'),
      await server.clientOf('bob'),
      await server.clientOf(undefined),
    ];
    const text = async (client: typeof ada) => (await client.callTool('who')).text;
    expect(await text(ada)).toMatch('ada');
    expect(await text(bob)).toMatch('bob');
    expect(await text(ada)).toBe(await text(ada));
    expect(await text(anonymous)).not.toBe(await text(anonymous));
  });

  it('does not mix up callers that only a header tells apart', async () => {
    const server = serverWith({
      user: ({ request }: { request?: { header: (name: string) => string | undefined } }) => ({
        account: request?.header('x-account'),
      }),
      tools: {
        orders: tool({ ...readOnly, run: (_, { user }) => (user as { account: string }).account }),
      },
      resources: { 'a://me': resource({ read: (_, { request }) => request?.header('x-account') ?? 'none' }) },
    } as Partial<Options>);
    for (const over of ['http', 'websocket'] as const)
      for (const account of ['a', 'b', 'a']) {
        const client = await server.clientOf('proxy', { over, headers: { 'x-account': account } });
        expect((await client.callTool('orders')).text).toBe(account);
        expect((await client.readResource('a://me')).text).toBe(account);
      }
  });
});

describe('rules', () => {
  it('decide about every call: a caller that loses its rights loses the result at once', async () => {
    const allowed = new Set(['ada', 'bob']);
    const allow = (auth: { subject: string } | undefined) => allowed.has(auth?.subject ?? '');
    const server = serverWith({
      tools: { secret: tool({ ...readOnly, allow, run: () => 'secret' }) },
      resources: {
        'a://secret': resource({ allow, read: () => 'secret' }),
        'a://{id}/part': resource({ allow, complete: { id: () => ['secret'] }, read: () => 'secret' }),
      },
      prompts: { secret: prompt({ allow, run: () => 'secret' }) },
    } as Partial<Options>);
    const client = await server.clientOf('ada');
    const ref = { type: 'ref/resource', uri: 'a://{id}/part', name: 'secret' } as const;
    const uses = [
      () => client.callTool('secret'),
      () => client.readResource('a://secret'),
      () => client.readResource('a://1/part'),
      () => client.getPrompt('secret'),
      () => client.request('completion/complete', { ref, argument: { name: 'id', value: '' } }),
    ];
    for (const use of uses)
      for (let n = 0; n < 2; n++) expect(JSON.stringify(await use())).toContain('secret');
    allowed.delete('ada');
    for (const use of uses) await expect(use()).rejects.toMatchObject({ code: /params|not_found/ });
    expect(await client.tools().all()).toHaveLength(0);
  });

  it('keep a result that all callers may share from a caller that may not make the call', async () => {
    const server = serverWith(
      {
        tools: {
          paid: tool({
            ...readOnly,
            input: z.object({ plan: z.string() }),
            allow: (auth, input) => input === undefined || auth?.subject === 'ada',
            run: () => 'paid',
          }),
        },
      } as Partial<Options>,
      { cacheScope: 'public' },
    );
    const [ada, eve] = [await server.clientOf('ada'), await server.clientOf('eve')];
    expect((await ada.callTool('paid', { plan: 'x' })).text).toBe('paid');
    await expect(eve.callTool('paid', { plan: 'x' })).rejects.toMatchObject({ code: 'invalid_params' });
    expect((await ada.callTool('paid', { plan: 'x' })).text).toBe('paid');
  });

  it('of a policy make a person approve a call, even if its result was kept before', async () => {
    let effect: 'allow' | 'approve' | 'deny' = 'allow';
    let runs = 0;
    const is = (wanted: string) => () => effect === wanted;
    for (const ofTool of [false, true]) {
      effect = 'allow';
      runs = 0;
      const server = serverWith({
        ...(ofTool && { use: [] }),
        access: policy({
          default: 'allow',
          rules: [
            { effect: 'approve', caller: is('approve') },
            { effect: 'deny', caller: is('deny') },
          ],
        }),
        tools: {
          look: tool({
            ...readOnly,
            ...(ofTool && { use: [cache({ ttlMs: 60_000 })] }),
            run: () => `${++runs}`,
          }),
        },
      } as Partial<Options>);
      let asked = 0;
      const elicit = async () => {
        asked++;
        return { action: 'accept' as const, content: { approve: true } };
      };
      const client = await server.clientOf('ada', { elicit });
      const text = async () => (await client.callTool('look')).text;
      expect([await text(), await text(), asked]).toEqual(['1', '1', 0]);
      effect = 'approve';
      expect([await text(), await text(), asked]).toEqual(['2', '3', 2]);
      effect = 'deny';
      await expect(client.callTool('look')).rejects.toThrow();
      effect = 'allow';
      expect(await text()).toBe('1');
    }
  });

  it('of `user` apply to each call: one that refuses, and one that returns another user', async () => {
    const roles = new Map([['ada', 'admin']]);
    const server = serverWith({
      user: ({ auth }: { auth?: { subject: string } }) => {
        const role = roles.get(auth?.subject ?? '');
        if (role === undefined) throw new ToolError('Your account is closed');
        return { role };
      },
      tools: { see: tool({ ...readOnly, run: (_, { user }) => `as ${(user as { role: string }).role}` }) },
    } as Partial<Options>);
    const client = await server.clientOf('ada');
    const see = async () => (await client.callTool('see')).text;
    expect([await see(), await see()]).toEqual(['as admin', 'as admin']);
    roles.set('ada', 'guest');
    expect(await see()).toBe('as guest');
    roles.delete('ada');
    expect(await see()).toBe('Your account is closed');
  });
});

describe('changes', () => {
  it('of a resource, of its list, of prompts and tools drop what they concern', async () => {
    let runs = 0;
    const server = serverWith({
      tools: { look: tool({ ...readOnly, run: () => `${++runs}` }) },
      resources: { 'a://1': counter(), 'a://2': counter() },
    });
    const client = await server.clientOf('ada');
    const read = async (uri: string) => (await client.readResource(uri)).text;
    expect([await read('a://1'), await read('a://2')]).toEqual(['1', '1']);
    server.changed.resource('a://1');
    expect([await read('a://1'), await read('a://2')]).toEqual(['2', '1']);
    server.changed.resources();
    expect([await read('a://1'), await read('a://2')]).toEqual(['3', '2']);
    expect((await client.callTool('look')).text).toBe('1');
    server.changed.tools();
    expect((await client.callTool('look')).text).toBe('2');
    expect(await read('a://1')).toBe('3');
  });

  it('of definitions drop the results of the definition that was removed or replaced', async () => {
    const server = serverWith({});
    const client = await server.clientOf('ada');
    const old = server.tool('look', readOnly, () => 'old');
    const oldResource = server.resource('a://1', {}, () => 'old');
    const look = async () => (await client.callTool('look')).text;
    const read = async () => (await client.readResource('a://1')).text;
    expect([await look(), await look(), await read(), await read()]).toEqual(['old', 'old', 'old', 'old']);
    old.remove();
    oldResource.remove();
    await expect(look()).rejects.toThrow('Unknown tool');
    await expect(read()).rejects.toThrow('not found');
    server.tool('look', readOnly, () => 'new');
    server.resource('a://1', {}, () => 'new');
    expect([await look(), await read()]).toEqual(['new', 'new']);
  });

  it('that are announced while a read is running keep its result from being kept, and from calls that come later', async () => {
    let value = 'old';
    const waiting: (() => void)[] = [];
    const server = serverWith({
      resources: {
        'a://1': resource({
          read: async () => {
            const read = value;
            await new Promise<void>((resolve) => void waiting.push(resolve));
            return read;
          },
        }),
      },
    });
    const client = await server.clientOf('ada');
    const read = async () => (await client.readResource('a://1')).text;
    const early = read();
    await until('the read is running', () => waiting.length === 1);
    value = 'new';
    server.changed.resource('a://1');
    const late = read();
    await until('a second read is running', () => waiting.length === 2);
    for (const go of waiting) go();
    expect([await early, await late]).toEqual(['old', 'new']);
    expect(await read()).toBe('new');
    expect(waiting).toHaveLength(2);
  });

  it('that another process announces drop the results of this one, and a gap drops all', async () => {
    const bus = memoryBus();
    const gaps: (() => void)[] = [];
    const listening = {
      ...bus,
      subscribe: (topic: string, listener: Parameters<typeof bus.subscribe>[1]) => {
        gaps.push(listener.gap);
        return bus.subscribe(topic, listener);
      },
    };
    const definitions = () => ({
      resources: { 'a://1': counter(), 'a://2': counter({ cacheScope: 'public' }) },
      tools: { touch: tool({ run: (_, { changed }) => changed.resource('a://1') }) },
    });
    const [here, there] = [
      serverWith({ ...definitions(), bus: listening }),
      serverWith({ ...definitions(), bus: { ...bus, close: async () => undefined } }),
    ];
    await Promise.all([here.start(), there.start()]);
    const [client, other] = [await here.clientOf('ada'), await there.clientOf('bob')];
    const read = async (uri: string) => (await client.readResource(uri)).text;
    expect([await read('a://1'), await read('a://1'), await read('a://2')]).toEqual(['1', '1', '1']);
    await other.callTool('touch');
    expect([await read('a://1'), await read('a://1'), await read('a://2')]).toEqual(['2', '2', '1']);
    for (const gap of gaps) gap();
    expect([await read('a://1'), await read('a://2')]).toEqual(['3', '2']);
  });

  it('cannot be missed: nothing is kept while the changes of other processes do not arrive', async () => {
    let isUp = false;
    const bus = memoryBus();
    const failing = {
      ...bus,
      subscribe: (...args: Parameters<typeof bus.subscribe>) =>
        isUp ? bus.subscribe(...args) : Promise.reject(new Error('down')),
    };
    const server = serverWith({ resources: { 'a://1': counter() }, bus: failing, logger: () => undefined });
    const client = await server.clientOf('ada');
    const read = async () => (await client.readResource('a://1')).text;
    expect([await read(), await read()]).toEqual(['1', '2']);
    isUp = true;
    await until('the result is kept', async () => {
      const first = await read();
      return first === (await read());
    });
  });
});

describe('the cache of a tool', () => {
  it('keeps its results for clients, needs no annotation, and lets other tools run it', async () => {
    let runs = 0;
    const shared = cache({ ttlMs: 60_000 });
    const server = serverWith({
      use: [],
      tools: {
        number: tool({ use: [shared], run: () => ++runs }),
        object: tool({ use: [shared], run: () => ({ runs: ++runs }) }),
        same: tool({ run: (_, ctx) => ctx.call('number') }),
      },
    });
    const client = await server.clientOf('ada');
    const data = async (name: string) => (await client.callTool(name)).data;
    expect([await data('number'), await data('number'), await data('object')]).toEqual([1, 1, { runs: 2 }]);
    expect([await data('object'), await data('same'), await data('number')]).toEqual([{ runs: 2 }, 3, 1]);
    const wrong = { x: tool({ use: [cache({ ttlMs: 1, tools: [] })], run: () => '' }) };
    expect(() => serverWith({ tools: wrong })).toThrow('Remove the option `tools`');
  });

  it('keeps nothing of a tool that asks, and lets a handler that asks call it', async () => {
    let runs = 0;
    const question = { message: 'Sure?', schema: z.object({ yes: z.boolean() }) };
    const server = serverWith({
      use: [],
      tools: {
        asks: tool({
          use: [cache({ ttlMs: 60_000 })],
          run: async (_, ctx) => {
            const answer = await ctx.elicit('sure', question);
            return `${++runs} ${answer.action}`;
          },
        }),
        steps: tool({
          use: [cache({ ttlMs: 60_000 })],
          run: (_, ctx) => ctx.step('count', async () => ++runs),
        }),
        outer: tool({
          run: async (_, ctx) => {
            const { structuredContent } = await ctx.call('steps');
            const answer = await ctx.elicit('sure', question);
            return `${structuredContent} ${answer.action}`;
          },
        }),
        nested: tool({ run: async (_, ctx) => ctx.call('asks') }),
      },
    });
    const elicit = async () => ({ action: 'accept' as const, content: { yes: true } });
    const client = await server.clientOf('ada', { elicit });
    expect((await client.callTool('asks')).text).toBe('1 accept');
    expect((await client.callTool('asks')).text).toBe('2 accept');
    expect((await client.callTool('nested')).text).toBe('3 accept');
    expect((await client.callTool('nested')).text).toBe('4 accept');
    expect((await client.callTool('outer')).text).toBe('5 accept');
    expect((await client.callTool('steps')).data).toBe(6);
    expect((await client.callTool('outer')).text).toBe('7 accept');
    expect((await client.callTool('steps')).data).toBe(6);
  });
});

it('an error of a rule is a refusal, not a failure of the cache', async () => {
  const server = serverWith({
    tools: {
      look: tool({
        ...readOnly,
        allow: () => {
          throw new McpError('internal_error', 'No database');
        },
        run: () => 'seen',
      }),
    },
    logger: () => undefined,
  } as Partial<Options>);
  const client = await server.clientOf('ada');
  await expect(client.callTool('look')).rejects.toMatchObject({ code: 'invalid_params' });
});
