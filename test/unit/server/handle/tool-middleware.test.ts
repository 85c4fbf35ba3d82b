import {
  createServer,
  inProcess,
  type Middleware,
  memoryBus,
  memoryStore,
  type Outcome,
  tool,
} from 'fullmcp';
import { policy, rateLimit } from 'fullmcp/middleware';
import { testClient, wires } from 'fullmcp/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { HostedMiddleware } from '../../../../src/state/hosted-middleware.js';
import { able, accept, lastingStore, waitForStatus } from '../../../support/tasks.js';

const base = { name: 'test', version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };
const textOf = (outcome: Outcome): string => (outcome['content'] as { text: string }[])[0]?.text ?? '';

/** Middleware that writes down what it sees. */
function spy(seen: string[], name = 'use'): Middleware {
  return async function spy(call, next) {
    seen.push(`${name} ${call.method} ${String(call.params['name'])}`);
    const outcome = await next(call);
    seen.push(`${name} ${outcome.resultType}`);
    return outcome;
  };
}

describe('the middleware of a tool', () => {
  it('wraps the calls of that tool, inside the middleware of the server, the first outermost', async () => {
    const seen: string[] = [];
    const server = createServer({
      ...base,
      use: [spy(seen, 'server')],
      tools: {
        a: tool({ use: [spy(seen, 'first'), spy(seen, 'second')], run: () => void seen.push('run') }),
        b: tool({ use: [], run: () => 'b' }),
      },
    });
    const call = inProcess(server);
    await call('tools/call', { name: 'a' });
    expect(seen).toEqual([
      'server tools/call a',
      'first tools/call a',
      'second tools/call a',
      'run',
      'second complete',
      'first complete',
      'server complete',
    ]);
    seen.length = 0;
    await call('tools/call', { name: 'b' });
    await call('tools/list');
    expect(seen.filter((line) => !line.startsWith('server'))).toEqual([]);
  });

  it('may answer by itself, fail, and change the outcome and its _meta', async () => {
    const server = createServer({
      ...base,
      tools: {
        answers: tool({
          use: [async () => ({ resultType: 'complete', content: [{ type: 'text', text: 'mine' }] })],
          run: () => 'not mine',
        }),
        fails: tool({
          use: [
            async () => {
              throw new Error('secret');
            },
          ],
          run: () => 'x',
        }),
        changes: tool({
          use: [
            async (call, next) => {
              const outcome = await next(call);
              (outcome['_meta'] as Record<string, unknown>)['seen'] = true;
              outcome['content'] = [{ type: 'text', text: 'changed' }];
              return outcome;
            },
          ],
          run: () => 'x',
        }),
        outer: tool({ run: async (_, ctx) => (await ctx.call('changes')).content }),
      },
    });
    const call = inProcess(server);
    expect(textOf(await call('tools/call', { name: 'answers' }))).toBe('mine');
    await expect(call('tools/call', { name: 'fails' })).rejects.toThrow(/^Internal error \(ref /);
    expect(await call('tools/call', { name: 'changes' })).toMatchObject({
      _meta: { seen: true, 'io.modelcontextprotocol/serverInfo': { name: 'test' } },
      content: [{ text: 'changed' }],
    });
    expect(textOf(await call('tools/call', { name: 'outer' }))).toBe('changed');
    // The next outcome is not affected.
    expect((await call('tools/call', { name: 'outer' }))['_meta']).not.toHaveProperty('seen');
  });

  it('wraps calls from other handlers, which get the same value as without it', async () => {
    const seen: string[] = [];
    const options = { input: z.object({ n: z.number() }), run: ({ n }: { n: number }) => n * 2 };
    const server = createServer({
      ...base,
      tools: {
        with_use: tool({ ...options, use: [spy(seen)] }),
        without: tool(options),
        outer: tool({
          input: z.object({ name: z.string() }),
          run: async ({ name }, ctx) => {
            const { structuredContent, content } = await ctx.call(name, { n: 21 });
            return JSON.stringify({ structuredContent, content });
          },
        }),
      },
    });
    const call = inProcess(server);
    const [one, other] = await Promise.all(
      ['with_use', 'without'].map((name) => call('tools/call', { name: 'outer', arguments: { name } })),
    );
    expect(textOf(one as Outcome)).toBe(textOf(other as Outcome));
    expect(textOf(one as Outcome)).toContain('"structuredContent":42');
    expect(seen).toEqual(['use tools/call with_use', 'use complete']);
  });

  it('runs after the rules of access and the policy, and after the arguments are checked', async () => {
    const seen: string[] = [];
    const server = createServer({
      ...base,
      access: policy({
        default: 'allow',
        rules: [{ effect: 'deny', tools: 'a', input: ({ n }) => n === 0 }],
      }),
      tools: {
        a: tool({
          allow: (auth) => auth?.subject === 'ann',
          use: [spy(seen)],
          input: z.object({ n: z.number() }),
          run: () => 'a',
        }),
      },
    });
    const bob = inProcess(server, { caller: { subject: 'bob' } });
    await expect(bob('tools/call', { name: 'a', arguments: { n: 1 } })).rejects.toThrow('Unknown tool');
    const ann = inProcess(server, { caller: { subject: 'ann' } });
    for (const args of [{ n: 0 }, { n: 'x' }])
      expect(await ann('tools/call', { name: 'a', arguments: args })).toMatchObject({ isError: true });
    expect(seen).toEqual([]);
    await ann('tools/call', { name: 'a', arguments: { n: 1 } });
    expect(seen).toEqual(['use tools/call a', 'use complete']);
  });

  it('cannot pass on arguments or a caller that the schema or the rules refuse', async () => {
    const ran: unknown[] = [];
    let change: object = {};
    const server = createServer({
      ...base,
      access: policy({
        default: 'allow',
        rules: [{ effect: 'deny', tools: 'a', input: ({ n }) => n === 0 }],
      }),
      tools: {
        a: tool({
          allow: (auth) => auth?.subject === 'ann',
          use: [(call, next) => next({ ...call, ...change })],
          input: z.object({ n: z.number() }),
          run: ({ n }) => void ran.push(n),
        }),
        outer: tool({ run: async (_, ctx) => JSON.stringify(await ctx.call('a', { n: 1 })) }),
      },
    });
    const ann = inProcess(server, { caller: { subject: 'ann' } });
    const params = (n: unknown) => ({ params: { name: 'a', arguments: { n } } });
    for (const [changed, text] of [
      [params(0), /does not allow it/],
      [params('x'), /Invalid arguments for a/],
      [{ auth: { subject: 'bob', scopes: [], claims: {} } }, /Unknown tool: a/],
    ] as const) {
      change = changed;
      for (const name of ['a', 'outer']) {
        const outcome = await ann('tools/call', { name, arguments: name === 'a' ? { n: 1 } : {} }).then(
          (result) => JSON.stringify(result),
          (error: Error) => error.message,
        );
        expect(outcome).toMatch(text);
      }
    }
    expect(ran).toEqual([]);
    change = params(7);
    await ann('tools/call', { name: 'a', arguments: { n: 1 } });
    expect(ran).toEqual([7]);
  });

  it('runs for each request of a call that asks, and for each repetition with an idempotency key', async () => {
    const seen: string[] = [];
    const server = createServer({
      ...base,
      tools: {
        asks: tool({
          use: [spy(seen)],
          run: async (_, ctx) =>
            (await ctx.ask('n', { message: 'n?', schema: z.object({ n: z.number() }) })).n,
        }),
        kept: tool({ idempotency: true, use: [spy(seen)], run: () => 'kept' }),
        outer: tool({ run: async (_, ctx) => (await ctx.call('asks')).structuredContent }),
      },
    });
    const call = inProcess(server, { ...able, caller: { subject: 'ann' } });
    const { requestState } = await call('tools/call', { name: 'asks' });
    await call('tools/call', { name: 'asks', requestState, inputResponses: { n: accept({ n: 5 }) } });
    expect(seen).toEqual([
      'use tools/call asks',
      'use input_required',
      'use tools/call asks',
      'use complete',
    ]);

    seen.length = 0;
    const key = { name: 'kept', _meta: { 'fullmcp/idempotencyKey': 'k' } };
    for (let n = 0; n < 2; n++) await call('tools/call', key);
    expect(seen.filter((line) => line === 'use complete')).toHaveLength(2);

    seen.length = 0;
    const nested = await call('tools/call', { name: 'outer' });
    const answer = { inputResponses: { 'asks#1/n': accept({ n: 6 }) }, requestState: nested['requestState'] };
    expect(textOf(await call('tools/call', { name: 'outer', ...answer }))).toBe('6');
    expect(seen).toEqual(['use tools/call asks', 'use tools/call asks', 'use complete']);
  });

  it('wraps the request that creates a task, and not the run of the task', async () => {
    const seen: string[] = [];
    const lasting = lastingStore();
    const build = () =>
      createServer({
        ...base,
        store: lasting.store,
        tools: {
          job: tool({
            task: 'required',
            use: [spy(seen)],
            run: async (_, ctx) =>
              (await ctx.ask('n', { message: 'n?', schema: z.object({ n: z.number() }) })).n,
          }),
        },
      });
    const first = build();
    const { taskId } = await inProcess(first, able)('tools/call', { name: 'job' });
    await waitForStatus(inProcess(first, able), taskId, 'input_required');
    await first.close();
    const second = build();
    await second.start();
    const call = inProcess(second, able);
    await call('tasks/update', { taskId, inputResponses: { n: accept({ n: 5 }) } });
    await waitForStatus(call, taskId, 'completed');
    expect(seen).toEqual(['use tools/call job', 'use task']);
    await second.close();
  });

  it('belongs to tools that are added later, too', async () => {
    const seen: string[] = [];
    const server = createServer(base);
    server.tool('late', { use: [spy(seen)] }, () => 'late');
    await inProcess(server)('tools/call', { name: 'late' });
    expect(seen).toHaveLength(2);
  });

  it.each([['x'], [[1]], [{}]])('must be an array of functions, and not %j', (use) => {
    expect(() => createServer({ ...base, tools: { a: tool({ use, run: () => 'a' } as never) } })).toThrow(
      'tool "a": "use" must be an array of functions',
    );
  });
});

describe.each(wires)('over $name', ({ over, revision }) => {
  it('the middleware of a tool may spread its call, and gets all of it', async () => {
    const seen: unknown[] = [];
    const server = createServer({
      ...base,
      tools: {
        a: tool({
          use: [
            (call, next) => {
              const copy = { ...call };
              seen.push(copy.signal instanceof AbortSignal, typeof copy.notify);
              return next(copy);
            },
          ],
          run: (_, { signal }) => `${signal.aborted}`,
        }),
      },
    });
    await using client = await testClient(server, { over, revision });
    expect((await client.callTool('a')).text).toBe('false');
    expect(seen).toEqual([true, 'function']);
  });
});

describe('rateLimit on one tool', () => {
  const limited = (options: object = {}) => {
    const shared = rateLimit({ calls: { limit: 2, perMs: 3_600_000 } });
    return createServer({
      ...base,
      ...options,
      tools: {
        a: tool({ use: [shared], run: () => 'a' }),
        b: tool({ use: [shared], run: () => 'b' }),
        outer: tool({ run: async (_, ctx) => (await ctx.call('a')).content }),
      },
    });
  };

  it('counts direct and nested calls of that tool, and those of another tool apart', async () => {
    const call = inProcess(limited());
    await call('tools/call', { name: 'a' });
    expect(textOf(await call('tools/call', { name: 'outer' }))).toBe('a');
    for (const name of ['a', 'outer'])
      await expect(call('tools/call', { name })).rejects.toMatchObject({
        code: 'overloaded',
        data: { retryAfterMs: expect.any(Number) },
      });
    expect(textOf(await call('tools/call', { name: 'b' }))).toBe('b');
  });

  it('counts for all processes that share a store, by the name of the tool', async () => {
    const store = memoryStore();
    const bus = memoryBus();
    const processes = [1, 2, 3].map(() => inProcess(limited({ store, bus })));
    const admitted = await Promise.allSettled(
      Array.from({ length: 30 }, (_, n) => processes[n % 3]?.('tools/call', { name: n < 15 ? 'a' : 'b' })),
    );
    const count = (from: number) =>
      admitted.slice(from, from + 15).filter(({ status }) => status === 'fulfilled').length;
    expect([count(0), count(15)]).toEqual([2, 2]);
  });

  it('is bound to the server once, with the name of the tool as its place', async () => {
    const places: string[] = [];
    const hosted = Object.assign(
      (async () => ({ resultType: 'complete' })) as Middleware,
      {
        forServer: ({ place }) => {
          places.push(place);
          return (call, next) => next(call);
        },
      } as Pick<HostedMiddleware, 'forServer'>,
    );
    const server = createServer({
      ...base,
      use: [hosted],
      tools: { a: tool({ use: [(call, next) => next(call), hosted], run: () => 'a' }) },
    });
    expect(places.sort()).toEqual(['tools.a.use.1', 'use.0']);
    for (let n = 0; n < 3; n++) await inProcess(server)('tools/call', { name: 'a' });
    expect(places).toHaveLength(2);
  });
});
