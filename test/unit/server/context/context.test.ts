import {
  type Context,
  createServer,
  defineWith,
  inProcess,
  McpError,
  type Middleware,
  prompt,
  resource,
  tool,
  user,
} from 'fullmcp';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';

const quiet = { name: 'test', version: '1.0.0', logger: () => undefined };

function recorder() {
  const notifications: [string, unknown][] = [];
  return {
    notifications,
    onNotification: (method: string, params: unknown) => void notifications.push([method, params]),
  };
}

function withTool(run: (ctx: Context) => unknown, options: object = {}) {
  return createServer({
    ...quiet,
    ...options,
    tools: { it: tool({ run: (_, ctx) => run(ctx as Context) }) },
  });
}

describe('progress of a tool', () => {
  const server = withTool(({ progress }) => {
    for (const done of [0, 5, 5, 3, 10]) progress(done, 10, `at ${done}`);
  });

  it('goes to the client that requested it, and only forwards', async () => {
    const { notifications, onNotification } = recorder();
    await inProcess(server)('tools/call', { name: 'it', _meta: { progressToken: 0 } }, { onNotification });
    expect(notifications).toEqual(
      [0, 5, 10].map((progress) => [
        'notifications/progress',
        { progressToken: 0, progress, total: 10, message: `at ${progress}` },
      ]),
    );
  });

  it.each([[undefined], [null], [1.5], [{}]])('is not sent for the token %j', async (progressToken) => {
    const { notifications, onNotification } = recorder();
    await inProcess(server)('tools/call', { name: 'it', _meta: { progressToken } }, { onNotification });
    expect(notifications).toEqual([]);
  });
});

describe('progress that cannot be sent', () => {
  it('is skipped if it is the result of a division by zero, and the tool continues', async () => {
    const { notifications, onNotification } = recorder();
    const server = withTool(({ progress }) => {
      progress(0 / 0);
      progress(1 / 0, 0 / 0);
      progress(1, 0 / 0, 'one');
      return 'done';
    });
    const outcome = await inProcess(server)(
      'tools/call',
      { name: 'it', _meta: { progressToken: 7 } },
      { onNotification },
    );
    expect(outcome).toMatchObject({ content: [{ text: 'done' }] });
    expect(notifications).toEqual([
      ['notifications/progress', { progressToken: 7, progress: 1, message: 'one' }],
    ]);
  });

  it.each<[string, readonly unknown[], string]>([
    ['a string as the number', ['5'], 'the first argument must be a number, not a value of type string'],
    ['a BigInt as the number', [5n], 'the first argument must be a number, not a value of type bigint'],
    ['a string as the total', [1, '5'], 'the total must be a number'],
    ['an object as the message', [1, 2, {}], 'the message must be a string'],
  ])('is an error if it has %s, even if the client did not request progress', async (_, args, sentence) => {
    const log = vi.fn();
    const server = withTool(({ progress }) => Reflect.apply(progress, undefined, args), { logger: log });
    expect(await inProcess(server)('tools/call', { name: 'it' })).toMatchObject({ isError: true });
    expect(String(log.mock.calls[0]?.[2])).toContain(sentence);
  });
});

describe('log messages', () => {
  it.each<[string, () => unknown, unknown]>([
    ['an error', () => new RangeError('too far'), 'RangeError: too far'],
    ['nothing', () => undefined, null],
    ['a Map', () => ({ at: new Map() }), expect.stringContaining('at is a Map. Return Object.fromEntries')],
    ['a BigInt', () => 1n, expect.stringContaining('it is a BigInt')],
    [
      'a circle',
      () => {
        const circle: Record<string, unknown> = {};
        circle['self'] = circle;
        return circle;
      },
      expect.stringContaining('self refers back'),
    ],
    [
      'a getter that throws',
      () => ({
        get at(): never {
          throw new Error('not now');
        },
      }),
      'Error: not now',
    ],
  ])('with %s as their data do not end the tool, and describe the data', async (_, data, sent) => {
    const { notifications, onNotification } = recorder();
    const server = withTool(({ log }) => {
      log.error(data());
      return 'done';
    });
    const call = inProcess(server, { logLevel: 'debug' });
    expect(await call('tools/call', { name: 'it' }, { onNotification })).toMatchObject({
      content: [{ text: 'done' }],
    });
    expect(notifications).toEqual([['notifications/message', { level: 'error', data: sent }]]);
  });

  const server = withTool(({ log }) => {
    log.debug('d');
    log.warning({ code: 7 }, 'db');
    log.emergency('e');
  });

  it('are sent from the requested level upwards', async () => {
    const { notifications, onNotification } = recorder();
    await inProcess(server, { logLevel: 'warning' })('tools/call', { name: 'it' }, { onNotification });
    expect(notifications).toEqual([
      ['notifications/message', { level: 'warning', logger: 'db', data: { code: 7 } }],
      ['notifications/message', { level: 'emergency', data: 'e' }],
    ]);
  });

  it('are not sent to a client that requested none', async () => {
    const { notifications, onNotification } = recorder();
    await inProcess(server)('tools/call', { name: 'it' }, { onNotification });
    expect(notifications).toEqual([]);
  });
});

describe('lifespan and user', () => {
  it('reach the handlers, and the lifespan opens once and closes with the server', async () => {
    const events: string[] = [];
    const server = createServer({
      ...quiet,
      lifespan: async function* () {
        events.push('open');
        yield { db: 'db' };
        events.push('close');
      },
      user: async ({ state, auth, client }) => ({
        account: `${state.db}:${auth?.subject}:${client.info?.name}`,
      }),
      tools: {
        who: tool({ run: (_, ctx: Context<{ db: string }, { account: string }>) => ctx.user.account }),
      },
    });
    const call = inProcess(server, {
      caller: { subject: 'ann', scopes: [], claims: {} },
      client: { name: 'c', version: '1' },
    });
    const [first] = await Promise.all([
      call('tools/call', { name: 'who' }),
      call('tools/call', { name: 'who' }),
    ]);
    expect(first).toMatchObject({ content: [{ text: 'db:ann:c' }] });
    await server.close();
    await server.close();
    expect(events).toEqual(['open', 'close']);
    await expect(server.start()).rejects.toThrow('closed');
  });

  it('fail the call if the lifespan cannot open, and the next call tries again', async () => {
    const log = vi.fn();
    let tries = 0;
    await using server = createServer({
      ...quiet,
      logger: log,
      lifespan: async function* () {
        if (++tries === 1) throw new Error('not yet');
        yield tries;
      },
      tools: { n: tool({ run: (_, ctx: Context<number>) => ctx.state }) },
    });
    const call = inProcess(server);
    await expect(call('tools/call', { name: 'n' })).rejects.toMatchObject({ code: 'internal_error' });
    expect(await call('tools/call', { name: 'n' })).toMatchObject({ content: [{ text: '2' }] });
  });

  it('have types that tools elsewhere get from `defineWith`', async () => {
    const typed = defineWith<{ state: { db: string }; user: { id: number } }>();
    const tools = {
      q: typed.tool({
        input: z.object({ n: z.number() }),
        run: ({ n }, ctx) => `${ctx.state.db}${ctx.user.id + n}`,
      }),
    };
    const server = createServer({
      ...quiet,
      lifespan: async function* () {
        yield { db: 'db' };
      },
      user: () => ({ id: 1 }),
      tools,
    });
    expect(await inProcess(server)('tools/call', { name: 'q', arguments: { n: 2 } })).toMatchObject({
      content: [{ text: 'db3' }],
    });
  });
});

describe('a handler that calls and reads inside the server', () => {
  it('gets the results of the other tools and resources', async () => {
    const server = createServer({
      ...quiet,
      resources: { 'config://app': resource({ read: () => ({ debug: true }) }) },
      tools: {
        inner: tool({ input: z.object({ n: z.number() }), run: ({ n }) => n * 2 }),
        outer: tool({
          run: async (_, ctx) => {
            const { structuredContent } = await ctx.call('inner', { n: 4 });
            const [contents] = await ctx.read('config://app');
            return { structuredContent, contents };
          },
        }),
      },
    });
    expect(await inProcess(server)('tools/call', { name: 'outer' })).toMatchObject({
      structuredContent: {
        structuredContent: 8,
        contents: { uri: 'config://app', mimeType: 'application/json', text: '{"debug":true}' },
      },
    });
  });
});

describe('capabilities of the client', () => {
  it('can be required by a handler, which fails if one is missing', async () => {
    const server = withTool(({ client }) => client.require('sampling'));
    await expect(inProcess(server)('tools/call', { name: 'it' })).rejects.toMatchObject({
      code: 'missing_capability',
      status: 400,
      data: { requiredCapabilities: { sampling: {} } },
    });
    const able = inProcess(server, { capabilities: { sampling: {} } });
    expect(await able('tools/call', { name: 'it' })).toMatchObject({ resultType: 'complete' });
  });
});

describe('middleware', () => {
  it('wraps every method, the first outermost, and may answer itself', async () => {
    const order: string[] = [];
    const named =
      (name: string): Middleware =>
      async (call, next) => {
        order.push(`${name} ${call.method}`);
        const outcome = await next(call);
        order.push(`${name} done`);
        return outcome;
      };
    const cached: Middleware = async (call, next) =>
      call.method === 'tools/list' ? { resultType: 'complete', tools: [] } : next(call);
    const server = withTool(() => 'x', { use: [named('a'), named('b'), cached] });
    expect(await inProcess(server)('tools/list')).toEqual({ resultType: 'complete', tools: [] });
    expect(order).toEqual(['a tools/list', 'b tools/list', 'b done', 'a done']);
  });

  it('may change the call by making a copy', async () => {
    const renamed: Middleware = (call, next) => next({ ...call, params: { ...call.params, name: 'it' } });
    const server = withTool(({ signal }) => signal.aborted, { use: [renamed] });
    expect(await inProcess(server)('tools/call', { name: 'other' })).toMatchObject({
      content: [{ text: 'false' }],
    });
  });

  it('that throws an unknown error has it masked', async () => {
    const broken: Middleware = () => Promise.reject(new Error('secret'));
    const failing = inProcess(withTool(() => 'x', { use: [broken] }))('tools/list');
    await expect(failing).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.stringMatching(/^Internal error \(ref/),
    });
  });
});

describe('prompts', () => {
  const server = createServer({
    ...quiet,
    prompts: {
      text: prompt({ description: 'A string', run: () => 'hello' }),
      list: prompt({ run: () => ['hi', user('there'), { type: 'text', text: 'x' }] }),
      full: prompt({ run: () => ({ description: 'own', messages: [user('y')] }) }),
      typed: prompt({ args: z.object({ n: z.number() }), run: ({ n }) => `n is ${n + 1}` }),
      broken: prompt({ run: () => 7 as never }),
      completes: prompt({
        args: z.object({ lang: z.string(), lib: z.string() }),
        complete: {
          lang: (prefix) => ['typescript', 'python'].filter((name) => name.startsWith(prefix)),
          lib: (_, { lang }) => ({
            values: Array.from({ length: 150 }, (_, n) => `${lang}${n}`),
            total: 1000,
          }),
        },
        run: () => 'x',
      }),
    },
    resources: {
      'users://{id}': resource({ complete: { id: async () => ['1', '2'] }, read: ({ id }) => id }),
    },
  });
  const call = inProcess(server);

  it('return strings, messages, blocks, arrays of those, or a full result', async () => {
    expect(await call('prompts/get', { name: 'text' })).toMatchObject({
      description: 'A string',
      messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }],
    });
    expect((await call('prompts/get', { name: 'list' }))['messages']).toHaveLength(3);
    expect(await call('prompts/get', { name: 'full' })).toMatchObject({
      description: 'own',
      messages: [{ role: 'user' }],
    });
  });

  it('coerce their arguments, which arrive as strings', async () => {
    expect(await call('prompts/get', { name: 'typed', arguments: { n: '1' } })).toMatchObject({
      messages: [{ content: { text: 'n is 2' } }],
    });
  });

  it.each([
    [{ name: 'nope' }, 'Unknown prompt: nope'],
    [{ name: '__proto__' }, 'Unknown prompt: __proto__'],
    [{ name: 'typed', arguments: {} }, /Invalid arguments for prompt typed.*n/],
    [{ name: 'typed', arguments: { n: 'x' } }, /n: expected a number/],
  ])('reject the request %j', async (params, message) => {
    await expect(call('prompts/get', params)).rejects.toMatchObject({
      code: 'invalid_params',
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    });
  });

  it('that return something else fail with an internal error', async () => {
    await expect(call('prompts/get', { name: 'broken' })).rejects.toMatchObject({ code: 'internal_error' });
  });

  it('complete their arguments with at most 100 values, as templates do, and reject an invalid request', async () => {
    const ref = { type: 'ref/prompt', name: 'completes' };
    const complete = (params: object) => call('completion/complete', params as Record<string, unknown>);
    expect(await complete({ ref, argument: { name: 'lang', value: 'ty' } })).toMatchObject({
      completion: { values: ['typescript'], total: 1, hasMore: false },
    });
    const { completion } = await complete({
      ref,
      argument: { name: 'lib', value: '' },
      context: { arguments: { lang: 'py' } },
    });
    expect(completion).toMatchObject({ total: 1000, hasMore: true });
    expect((completion as { values: string[] }).values).toHaveLength(100);
    expect((completion as { values: string[] }).values[0]).toBe('py0');
    expect(
      await complete({
        ref: { type: 'ref/resource', uri: 'users://{id}' },
        argument: { name: 'id', value: '' },
      }),
    ).toMatchObject({
      completion: { values: ['1', '2'] },
    });
    expect(await complete({ ref, argument: { name: 'other', value: '' } })).toMatchObject({
      completion: { values: [] },
    });
    for (const bad of [
      {},
      { ref, argument: {} },
      { ref: { type: 'ref/prompt', name: 'nope' }, argument: { name: 'a', value: '' } },
      { ref: { type: 'ref/resource', uri: 'nope' }, argument: { name: 'a', value: '' } },
      { ref: { type: 'ref/other' }, argument: { name: 'a', value: '' } },
    ]) {
      await expect(complete(bad)).rejects.toMatchObject({ code: 'invalid_params' });
    }
  });
});

describe('custom methods', () => {
  const server = createServer({
    ...quiet,
    methods: {
      'acme/add': { params: z.object({ a: z.number() }), run: ({ a }) => ({ sum: Number(a) + 1 }) },
      'acme/echo': { run: (params) => ({ params }) },
      'acme/fail': { run: () => Promise.reject(new McpError('invalid_params', 'no')) },
    },
  });
  const call = inProcess(server);

  it('validate their params, and return a result or an error', async () => {
    expect(await call('acme/add', { a: 1, _meta: { x: 1 } })).toMatchObject({
      resultType: 'complete',
      sum: 2,
    });
    expect(await call('acme/echo', { b: 2 })).toMatchObject({ params: { b: 2 } });
    await expect(call('acme/add', { a: 'x' })).rejects.toMatchObject({ code: 'invalid_params' });
    await expect(call('acme/fail')).rejects.toMatchObject({ message: 'no' });
  });
});
