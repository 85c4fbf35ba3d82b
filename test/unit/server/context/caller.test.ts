import {
  createServer,
  inProcess,
  McpError,
  memoryBus,
  memoryStore,
  prompt,
  resource,
  type Store,
  tool,
} from 'fullmcp';
import { createHandler } from 'fullmcp/http';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { modernExchange } from '../../../support/http/modern.js';
import { until } from '../../../support/until.js';

const quiet = { name: 'test', version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };
const TASKS = 'io.modelcontextprotocol/tasks';

async function post(
  handle: (request: Request) => Promise<Response>,
  method: string,
  params: Record<string, unknown>,
  headers: Record<string, string> = {},
) {
  const exchange = modernExchange(method, params, { headers });
  const response = await handle(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: exchange.headers as Record<string, string>,
      body: exchange.body as string,
    }),
  );
  return JSON.parse(await response.text());
}

describe('ctx.call', () => {
  function strict() {
    return createServer({
      ...quiet,
      user: ({ request }) => {
        const name = request?.header('x-account');
        if (name === undefined) throw new McpError('invalid_request', 'Who are you? Send X-Account.');
        return { name };
      },
      tools: {
        me: tool({
          run: (_, ctx) => [(ctx.user as { name: string }).name, ctx.request?.header('x-account')].join(),
        }),
        outer: tool({
          input: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }),
          run: async (_, ctx) => (await ctx.call('me')).content,
        }),
        mirrored: tool({
          input: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }),
          run: ({ region }) => region,
        }),
        other: tool({
          input: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }),
          run: async (_, ctx) => (await ctx.call('mirrored', { region: 'south' })).content,
        }),
      },
    });
  }
  const north = { 'x-account': 'ada', 'mcp-param-region': 'north' };

  it('keeps the request, so that the option user finds the user for the inner tool too', async () => {
    const handle = createHandler(strict());
    const params = { name: 'outer', arguments: { region: 'north' } };
    const { result } = await post(handle, 'tools/call', params, north);
    expect(result.content).toEqual([{ type: 'text', text: 'ada,ada' }]);
  });

  it('does not compare the inner arguments with the headers of the outer call', async () => {
    const handle = createHandler(strict());
    const params = { name: 'other', arguments: { region: 'north' } };
    const { result } = await post(handle, 'tools/call', params, north);
    expect(result.content).toEqual([{ type: 'text', text: 'south' }]);
  });

  it('keeps the caller', async () => {
    const server = createServer({
      ...quiet,
      tools: {
        me: tool({ run: (_, ctx) => ctx.auth?.claims }),
        outer: tool({ run: async (_, ctx) => (await ctx.call('me')).structuredContent }),
      },
    });
    const call = inProcess(server, { caller: { subject: 'ann', scopes: [], claims: { team: 7 } } });
    expect(await call('tools/call', { name: 'outer' })).toMatchObject({ structuredContent: { team: 7 } });
  });
});

describe('a completer', () => {
  const server = createServer({
    ...quiet,
    async *lifespan() {
      yield { names: ['ada', 'alan', 'bob'] };
    },
    user: ({ auth }) => ({ name: auth?.subject ?? 'nobody' }),
    resources: {
      'people://{team}/{id}': resource({
        complete: {
          id: (typed, filled, ctx) => {
            const { names } = ctx.state as { names: string[] };
            const { name } = ctx.user as { name: string };
            return [...names.filter((each) => each.startsWith(typed)), `${filled['team']} of ${name}`];
          },
          team: async (_typed, _filled, ctx) => {
            await ctx.ask('which', { message: 'Which?', schema: z.object({}) });
            return [];
          },
        },
        read: () => 'x',
      }),
    },
    prompts: {
      greet: prompt({
        args: z.object({ name: z.string() }),
        complete: { name: (_typed, _filled, ctx) => [`${ctx.auth?.subject} ${ctx.signal.aborted}`] },
        run: () => 'hello',
      }),
    },
  });
  const call = inProcess(server, { caller: { subject: 'ann', scopes: [], claims: {} } });

  it('of a template gets the state and the user of the call', async () => {
    const outcome = await call('completion/complete', {
      ref: { type: 'ref/resource', uri: 'people://{team}/{id}' },
      argument: { name: 'id', value: 'a' },
      context: { arguments: { team: 'red' } },
    });
    expect(outcome['completion']).toMatchObject({ values: ['ada', 'alan', 'red of ann'] });
  });

  it('of a prompt gets the caller, and a signal', async () => {
    const outcome = await call('completion/complete', {
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'name', value: '' },
    });
    expect(outcome['completion']).toMatchObject({ values: ['ann false'] });
  });

  it('cannot ask the client', async () => {
    await expect(
      call('completion/complete', {
        ref: { type: 'ref/resource', uri: 'people://{team}/{id}' },
        argument: { name: 'team', value: '' },
      }),
    ).rejects.toMatchObject({ code: 'internal_error' });
  });

  it('is optional: without one, there are no values and the user is not created', async () => {
    const user = vi.fn(() => ({}));
    const plain = createServer({
      ...quiet,
      user,
      prompts: { greet: prompt({ args: z.object({ name: z.string() }), run: () => 'hello' }) },
    });
    const outcome = await inProcess(plain)('completion/complete', {
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'name', value: '' },
    });
    expect(outcome['completion']).toMatchObject({ values: [] });
    expect(user).not.toHaveBeenCalled();
  });
});

describe('a client that watches a task', () => {
  it('causes a line in the log and no unhandled rejection when the store cannot be read', async () => {
    const inner = memoryStore();
    let away = false;
    const store: Store = {
      ...inner,
      get: async (key) => {
        if (away) throw new Error('the store is away');
        return inner.get(key);
      },
    };
    const logged: string[] = [];
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    // Changes of a task that another process runs come over the bus.
    const bus = memoryBus();
    const server = createServer({
      ...quiet,
      store,
      logger: (_, message) => void logged.push(message),
      bus,
      tools: { work: tool({ task: 'required', run: () => 'done' }) },
    });
    const call = inProcess(server, { capabilities: { extensions: { [TASKS]: {} } } });
    try {
      const { taskId: id } = (await call('tools/call', { name: 'work' })) as unknown as { taskId: string };
      await until(
        'the task is over',
        async () => (await call('tasks/get', { taskId: id }))['status'] === 'completed',
      );
      const ending = new AbortController();
      const acknowledged = new Promise<void>((resolve) => {
        void call(
          'subscriptions/listen',
          { notifications: { taskIds: [id] } },
          { signal: ending.signal, onNotification: () => resolve() },
        );
      });
      await acknowledged;
      away = true;
      await bus.publish('tasks', { id });
      await until('it is logged', () => logged.some((line) => line.includes('could not be read')));
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).not.toHaveBeenCalled();
      ending.abort();
    } finally {
      process.off('unhandledRejection', unhandled);
    }
  });
});

describe('a server with the option user that does not know who is calling', () => {
  const KEY = 'fullmcp/idempotencyKey';
  function build(options: object = {}) {
    const logged: string[] = [];
    const server = createServer({
      ...quiet,
      logger: (_, message) => void logged.push(message),
      user: ({ request }) => ({ name: request?.header('x-account') ?? 'nobody' }),
      tools: {
        pay: tool({ idempotency: true, run: (_, ctx) => `paid by ${(ctx.user as { name: string }).name}` }),
        asks: tool({
          run: (_, ctx) => ctx.ask('name', { message: 'Name?', schema: z.object({ name: z.string() }) }),
        }),
        long: tool({ task: 'required', run: () => 'done' }),
      },
      ...options,
    });
    return { server, logged };
  }
  const keyed = { name: 'pay', arguments: {}, _meta: { [KEY]: 'k' } };
  const asking = { elicitation: {}, extensions: { [TASKS]: {} } };
  const meta = { 'io.modelcontextprotocol/clientCapabilities': asking };
  const send = async (handle: (request: Request) => Promise<Response>, name: string, key?: string) => {
    const { headers, body } = modernExchange(
      'tools/call',
      { name, arguments: {} },
      { meta: { ...meta, ...(key && { [KEY]: key }) } },
    );
    const response = await handle(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: headers as Record<string, string>,
        body: body as string,
      }),
    );
    return JSON.parse(await response.text());
  };

  it('rejects idempotency keys over HTTP, with the remedy', async () => {
    const { error } = await send(createHandler(build().server), 'pay', 'k');
    expect(error.message).toContain('does not accept idempotency keys from unknown callers');
    expect(error.message).toContain('pass the option "auth" to serve, createHandler or createNodeHandler');
  });

  it('accepts calls without a key, keys with auth, keys in-process, and keys where there is no option user', async () => {
    const { server } = build();
    expect((await send(createHandler(server), 'pay')).result.content[0].text).toBe('paid by nobody');
    const withAuth = createHandler(server, { auth: () => ({ subject: 'ann' }) });
    expect((await send(withAuth, 'pay', 'k')).result.content[0].text).toBe('paid by nobody');
    expect((await inProcess(server)('tools/call', keyed))['isError']).toBeUndefined();
    const plain = createServer({ ...quiet, tools: { pay: tool({ idempotency: true, run: () => 'paid' }) } });
    expect((await send(createHandler(plain), 'pay', 'k')).result.content[0].text).toBe('paid');
  });

  it.each(['asks', 'long'])(
    'warns once in its log, unless it has auth, when "%s" stores something for later',
    async (name) => {
      const { server, logged } = build();
      const handle = createHandler(server);
      await send(handle, 'pay');
      expect(logged).toEqual([]);
      await send(handle, name);
      await send(handle, name);
      expect(logged).toEqual([expect.stringContaining('This server has "user" and no "auth"')]);
      const withAuth = build();
      await send(createHandler(withAuth.server, { auth: () => ({ subject: 'ann' }) }), name);
      expect(withAuth.logged).toEqual([]);
    },
  );
});
