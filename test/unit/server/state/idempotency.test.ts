import {
  type Bus,
  createServer,
  inProcess,
  McpError,
  memoryBus,
  memoryStore,
  type Store,
  type StoreChange,
  tool,
} from 'fullmcp';
import { everyWire } from 'fullmcp/testing';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { signal } from '../../../support/signal.js';

const TASKS = 'io.modelcontextprotocol/tasks';
const KEY = 'fullmcp/idempotencyKey';
const quiet = { name: 'test', version: '1.0.0', secret: 'x'.repeat(32) };
const input = z.object({ n: z.number() });
const unknownOutcome = { code: 'internal_error', data: { reason: 'unknown_outcome' } };
const accept = (content: object) => ({ action: 'accept', content });

function build(options: { store?: Store; bus?: Bus; idempotency?: boolean | { windowMs: number } } = {}) {
  const runs: string[] = [];
  const logged: string[] = [];
  const gate = { opens: Promise.resolve() };
  const server = createServer({
    ...quiet,
    ...options,
    logger: (_, message) => void logged.push(message),
    tools: {
      pay: tool({ idempotency: true, input, run: ({ n }) => `${n} paid as ${runs.push(`pay ${n}`)}` }),
      slow: tool({
        idempotency: true,
        input,
        run: async ({ n }) => {
          runs.push(`slow ${n}`);
          await gate.opens;
          return n;
        },
      }),
      fails: tool({
        idempotency: true,
        run: async () => {
          const attempt = runs.push('fails');
          await gate.opens;
          if (attempt === 1) throw new McpError('invalid_params', 'not now');
          return `worked at attempt ${attempt}`;
        },
      }),
      waits: tool({
        idempotency: true,
        run: async (_, { signal: ends }) => {
          runs.push('waits');
          await new Promise((_resolve, reject) => ends.addEventListener('abort', () => reject(ends.reason)));
        },
      }),
      errs: tool({
        idempotency: true,
        run: () => {
          throw new Error(`bug ${runs.push('errs')}`);
        },
      }),
      asks: tool({
        idempotency: true,
        run: async (_, ctx) => {
          const answer = await ctx.ask('name', { message: 'name', schema: z.object({ name: z.string() }) });
          return `${answer.name} ${runs.push('asks')}`;
        },
      }),
      task: tool({ task: 'optional', idempotency: true, run: () => runs.push('task') }),
      plain: tool({ run: () => runs.push('plain') }),
      off: tool({ idempotency: false, run: () => runs.push('off') }),
    },
  });
  const call = inProcess(server, { capabilities: { elicitation: {}, extensions: { [TASKS]: {} } } });
  const as = (subject: string) => inProcess(server, { caller: { subject, scopes: [], claims: {} } });
  return { server, call, as, runs, logged, gate };
}

const keyed = (name: string, key: unknown, args: object = {}) => ({
  name,
  arguments: args as Record<string, unknown>,
  _meta: { [KEY]: key },
});

// A lease that ends at once, as if the process that holds it were paused.
function shortLease(change: StoreChange): StoreChange {
  return change.do === 'enqueue' && change.hold ? { ...change, hold: { ...change.hold, ms: 0 } } : change;
}

describe('a call that is sent again with the same key', () => {
  it('gets the outcome of the first and does not run again', async () => {
    const { call, runs } = build();
    const first = await call('tools/call', keyed('pay', 'k1', { n: 1 }));
    expect(first).toMatchObject({ content: [{ text: '1 paid as 1' }] });
    expect(await call('tools/call', keyed('pay', 'k1', { n: 1 }))).toEqual(first);
    expect(await call('tools/call', keyed('pay', 'k2', { n: 1 }))).toMatchObject({
      content: [{ text: '1 paid as 2' }],
    });
    await call('tools/call', { name: 'pay', arguments: { n: 1 } });
    await call('tools/call', { name: 'pay', arguments: { n: 1 } });
    expect(runs).toHaveLength(4);
  });

  it('must be the same call: other arguments are rejected, but another order is not', async () => {
    const { call, runs, server } = build();
    server.tool('two', { idempotency: true, input: z.object({ a: z.number(), b: z.number() }) }, () =>
      runs.push('two'),
    );
    await call('tools/call', keyed('two', 'k', { a: 1, b: 2 }));
    await call('tools/call', keyed('two', 'k', { b: 2, a: 1 }));
    await expect(call('tools/call', keyed('two', 'k', { a: 1, b: 3 }))).rejects.toMatchObject({
      code: 'invalid_params',
      message: `params._meta["${KEY}"] was already used with other arguments. Use a new key.`,
    });
    // The key belongs to the tool: for another tool it is another key.
    await call('tools/call', keyed('pay', 'k', { n: 1 }));
    expect(runs).toEqual(['two', 'pay 1']);
  });

  it('runs if it comes from another principal', async () => {
    const { as, call, runs } = build();
    await as('ann')('tools/call', keyed('pay', 'k', { n: 1 }));
    await as('bob')('tools/call', keyed('pay', 'k', { n: 2 }));
    await call('tools/call', keyed('pay', 'k', { n: 3 }));
    await as('ann')('tools/call', keyed('pay', 'k', { n: 1 }));
    expect(runs).toEqual(['pay 1', 'pay 2', 'pay 3']);
  });

  it('waits while the first runs, and gets its outcome', async () => {
    const { call, runs, gate } = build();
    const open = signal();
    gate.opens = open.promise;
    const calls = Array.from({ length: 5 }, () => call('tools/call', keyed('slow', 'k', { n: 7 })));
    const other = call('tools/call', keyed('slow', 'k', { n: 8 }));
    other.catch(() => undefined);
    await vi.waitFor(() => expect(runs).toHaveLength(1));
    open.give();
    for (const outcome of await Promise.all(calls))
      expect(outcome).toMatchObject({ content: [{ text: '7' }] });
    await expect(other).rejects.toMatchObject({ code: 'invalid_params' });
    expect(runs).toEqual(['slow 7']);
  });

  it('runs if the first ended with a protocol error, but only one of those that waited runs', async () => {
    const { call, runs, gate } = build();
    const open = signal();
    gate.opens = open.promise;
    const calls = Array.from({ length: 4 }, () => call('tools/call', keyed('fails', 'k')));
    await vi.waitFor(() => expect(runs).toHaveLength(1));
    open.give();
    const ended = await Promise.allSettled(calls);
    expect(ended.map(({ status }) => status).sort()).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
    ]);
    expect(runs).toHaveLength(2);
  });

  it('gets a result that is an error, too, because the tool has run', async () => {
    const { call, runs } = build();
    expect(await call('tools/call', keyed('errs', 'k'))).toMatchObject({ isError: true });
    expect(await call('tools/call', keyed('errs', 'k'))).toMatchObject({ isError: true });
    expect(runs).toEqual(['errs']);
  });

  it('is asked until it is answered, and then no more', async () => {
    const { call, runs } = build();
    const asked = await call('tools/call', keyed('asks', 'k'));
    expect(asked.resultType).toBe('input_required');
    expect((await call('tools/call', keyed('asks', 'k'))).resultType).toBe('input_required');
    const answered = await call('tools/call', {
      ...keyed('asks', 'k'),
      requestState: asked['requestState'],
      inputResponses: { name: accept({ name: 'Ann' }) },
    });
    expect(answered).toMatchObject({ content: [{ text: 'Ann 1' }] });
    expect(await call('tools/call', keyed('asks', 'k'))).toEqual(answered);
    expect(runs).toEqual(['asks']);
  });

  it('gets the task that the first created', async () => {
    const { call, runs } = build();
    const first = await call('tools/call', keyed('task', 'k'));
    expect(first.resultType).toBe('task');
    expect((await call('tools/call', keyed('task', 'k')))['taskId']).toBe(first['taskId']);
    await vi.waitFor(() => expect(runs).toEqual(['task']));
  });

  it('runs again after the window', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    try {
      const { call, runs, server } = build();
      server.tool('brief', { idempotency: { windowMs: 1000 } }, () => runs.push('brief'));
      const pay = () => call('tools/call', keyed('pay', 'k', { n: 1 }));
      const brief = () => call('tools/call', keyed('brief', 'k'));
      await Promise.all([pay(), brief()]);
      vi.advanceTimersByTime(999);
      await Promise.all([pay(), brief()]);
      expect(runs.sort()).toEqual(['brief', 'pay 1']);
      vi.advanceTimersByTime(2);
      await Promise.all([pay(), brief()]);
      expect(runs.sort()).toEqual(['brief', 'brief', 'pay 1']);
      vi.advanceTimersByTime(600_000);
      await pay();
      expect(runs.filter((name) => name === 'pay 1')).toHaveLength(2);
    } finally {
      vi.useRealTimers();
    }
  });

  it('gets the outcome that an earlier process stored', async () => {
    const store = { ...memoryStore(), close: async () => undefined };
    const first = build({ store });
    const outcome = await first.call('tools/call', keyed('pay', 'k', { n: 1 }));
    await first.server.close();
    const second = build({ store });
    expect(await second.call('tools/call', keyed('pay', 'k', { n: 1 }))).toEqual(outcome);
    expect(second.runs).toEqual([]);
  });

  it('does not run again if its outcome could not be stored', async () => {
    const inner = memoryStore();
    const write: Store['write'] = async (changes, options) => {
      if (JSON.stringify(changes).includes('paid as')) throw new Error('full');
      return inner.write(changes, options);
    };
    const { call, runs, logged } = build({ store: { ...inner, write } });
    expect(await call('tools/call', keyed('pay', 'k', { n: 1 }))).toMatchObject({
      content: [{ text: '1 paid as 1' }],
    });
    await expect(call('tools/call', keyed('pay', 'k', { n: 1 }))).rejects.toMatchObject(unknownOutcome);
    expect(runs).toEqual(['pay 1']);
    expect(logged).toContain(
      'An outcome could not be saved. A repeated call gets the error that the outcome is unknown.',
    );
  });

  it('runs after an error of the first whose key could not be freed only if the tool is annotated as idempotent', async () => {
    const inner = memoryStore();
    // The key cannot be freed, and the lease on it ends at once.
    const write: Store['write'] = async (changes, options) => {
      if (changes.some((change) => change.do === 'delete')) throw new Error('away');
      return inner.write(changes.map(shortLease), options);
    };
    const { call, runs, server } = build({ store: { ...inner, write } });
    server.tool('harmless', { idempotency: true, annotations: { idempotent: true } }, () => {
      if (runs.push('harmless') === 2) throw new McpError('invalid_params', 'not now');
      return 'done';
    });
    await expect(call('tools/call', keyed('fails', 'k'))).rejects.toMatchObject({ code: 'invalid_params' });
    await expect(call('tools/call', keyed('fails', 'k'))).rejects.toMatchObject(unknownOutcome);
    await expect(call('tools/call', keyed('harmless', 'k'))).rejects.toMatchObject({
      code: 'invalid_params',
    });
    expect(await call('tools/call', keyed('harmless', 'k'))).toMatchObject({ content: [{ text: 'done' }] });
    expect(runs).toEqual(['fails', 'harmless', 'harmless']);
  });

  describe('waits for the first while another process runs it, and then gets its outcome', () => {
    it.each(['with a bus', 'without a bus'])('%s', async (name) => {
      const store = { ...memoryStore(), close: async () => undefined };
      const bus = name === 'with a bus' ? { bus: { ...memoryBus(), close: async () => undefined } } : {};
      const [first, second] = [build({ store, ...bus }), build({ store, ...bus })];
      const open = signal();
      first.gate.opens = open.promise;
      const running = first.call('tools/call', keyed('slow', 'k', { n: 1 }));
      await vi.waitFor(() => expect(first.runs).toHaveLength(1));
      const repeated = second.call('tools/call', keyed('slow', 'k', { n: 1 }));
      await expect(second.call('tools/call', keyed('slow', 'k', { n: 2 }))).rejects.toMatchObject({
        code: 'invalid_params',
      });
      open.give();
      expect(await repeated).toEqual(await running);
      expect(second.runs).toEqual([]);
    });
  });

  it('has an unknown outcome if the process that ran the first is lost, and runs if the tool is annotated as idempotent', async () => {
    const inner = memoryStore();
    const store: Store = {
      ...inner,
      write: (changes, options) => inner.write(changes.map(shortLease), options),
      renew: async () => {
        throw new Error('The process is paused');
      },
      close: async () => undefined,
    };
    const [lost, second] = [build({ store }), build({ store })];
    const never = signal();
    for (const { server, runs } of [lost, second])
      server.tool('harmless', { idempotency: true, annotations: { idempotent: true } }, async () => {
        runs.push('harmless');
        if (server === lost.server) await never.promise;
        return 'done';
      });
    lost.gate.opens = never.promise;
    const stale = [
      lost.call('tools/call', keyed('slow', 'k', { n: 1 })),
      lost.call('tools/call', keyed('harmless', 'k')),
    ];
    await vi.waitFor(() => expect(lost.runs).toHaveLength(2));
    await expect(second.call('tools/call', keyed('slow', 'k', { n: 1 }))).rejects.toMatchObject(
      unknownOutcome,
    );
    expect(await second.call('tools/call', keyed('harmless', 'k'))).toMatchObject({
      content: [{ text: 'done' }],
    });
    expect(second.runs).toEqual(['harmless']);
    // The lost process continues, but it cannot replace what others know by now.
    never.give();
    await Promise.all(stale);
    await expect(second.call('tools/call', keyed('slow', 'k', { n: 1 }))).rejects.toMatchObject(
      unknownOutcome,
    );
  });

  it('has an unknown outcome after a cancellation, as the progress of the handler is unknown', async () => {
    const { call, runs } = build();
    const ending = new AbortController();
    const cancelled = call('tools/call', keyed('waits', 'k'), { signal: ending.signal });
    await vi.waitFor(() => expect(runs).toEqual(['waits']));
    ending.abort();
    await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' });
    await expect(call('tools/call', keyed('waits', 'k'))).rejects.toMatchObject({
      ...unknownOutcome,
      message: expect.stringContaining('was started and interrupted'),
    });
    expect(runs).toEqual(['waits']);
  });
});

describe('a call with an idempotency key', () => {
  it('does not run if its key cannot be recorded', async () => {
    const { call, runs, logged } = build({ store: memoryStore({ maxEntries: 0 }) });
    await expect(call('tools/call', keyed('pay', 'k', { n: 1 }))).rejects.toMatchObject({
      code: 'overloaded',
      message: 'The call did not run: its idempotency key could not be recorded. Retry later.',
    });
    expect(runs).toEqual([]);
    expect(logged).toContain(
      'A call with an idempotency key was rejected: the store could not record the key',
    );
    // A call without a key needs no store.
    await call('tools/call', { name: 'pay', arguments: { n: 1 } });
    expect(runs).toEqual(['pay 1']);
  });

  it('does not run if it is cancelled before, and its key stays free', async () => {
    const { call, runs } = build();
    const aborted = { signal: AbortSignal.abort() };
    await expect(call('tools/call', keyed('pay', 'k', { n: 1 }), aborted)).rejects.toMatchObject({
      code: 'cancelled',
    });
    expect(runs).toEqual([]);
    await call('tools/call', keyed('pay', 'k', { n: 1 }));
    expect(runs).toEqual(['pay 1']);
  });

  it('has the same step keys in every process, and other calls have other step keys', async () => {
    const keys: string[] = [];
    const make = () => {
      const built = build();
      built.server.tool('steps', { idempotency: { windowMs: 1 }, input }, (_, ctx) =>
        ctx.step('a', ({ idempotencyKey }) => keys.push(idempotencyKey)),
      );
      return built;
    };
    const [one, two] = [make(), make()];
    await one.call('tools/call', keyed('steps', 'k', { n: 1 }));
    await two.call('tools/call', keyed('steps', 'k', { n: 1 }));
    await two.call('tools/call', keyed('steps', 'other', { n: 1 }));
    await two.as('ann')('tools/call', keyed('steps', 'k', { n: 1 }));
    await two.call('tools/call', { name: 'steps', arguments: { n: 1 } });
    expect(keys).toHaveLength(5);
    expect(keys[1]).toBe(keys[0]);
    expect(new Set(keys).size).toBe(4);
  });

  it.each([
    ['a number', 1],
    ['an empty string', ''],
    ['null', null],
    ['an object', {}],
    ['a string of 257 characters', 'x'.repeat(257)],
  ])('is rejected if the key is %s', async (_, key) => {
    const { call, runs } = build();
    await expect(call('tools/call', keyed('pay', key, { n: 1 }))).rejects.toMatchObject({
      code: 'invalid_params',
      message: `params._meta["${KEY}"] must be a string of 1 to 256 characters`,
    });
    await call('tools/call', keyed('pay', 'x'.repeat(256), { n: 1 }));
    expect(runs).toEqual(['pay 1']);
  });
});

describe('a caller with idempotency keys', () => {
  it('can have at most 1,000 keyed calls that run or wait, while other callers are served', async () => {
    const { as, runs, gate } = build();
    const open = signal();
    gate.opens = open.promise;
    const [ann, bob] = [as('ann'), as('bob')];
    const waiting = Array.from({ length: 1000 }, (_, n) =>
      ann('tools/call', keyed('slow', `k${n % 2}`, { n: n % 2 })),
    );
    await expect(ann('tools/call', keyed('slow', 'k0', { n: 0 }))).rejects.toMatchObject({
      code: 'overloaded',
    });
    await bob('tools/call', keyed('pay', 'k0', { n: 0 }));
    open.give();
    await Promise.all(waiting);
    await ann('tools/call', keyed('slow', 'k0', { n: 0 }));
    expect(runs.filter((call) => call.startsWith('slow')).sort()).toEqual(['slow 0', 'slow 1']);
  });

  it('gets an error if its arguments are too deep for a digest', async () => {
    const { server, call } = build();
    server.tool('any', { idempotency: true, input: { type: 'object' } }, () => 'runs');
    let deep: unknown = 1;
    for (let level = 0; level < 20_000; level++) deep = [deep];
    await expect(call('tools/call', keyed('any', 'k', { deep }))).rejects.toMatchObject({
      code: 'invalid_params',
      message: 'The arguments have more than 1000 levels of arrays and objects',
    });
  });

  it('cannot fill the store for other callers', async () => {
    const { as, runs } = build({ store: memoryStore({ maxEntries: 40 }) });
    const [ann, bob] = [as('ann'), as('bob')];
    for (let n = 0; n < 4; n++) await ann('tools/call', keyed('pay', `k${n}`, { n }));
    await expect(ann('tools/call', keyed('pay', 'k4', { n: 4 }))).rejects.toMatchObject({
      code: 'overloaded',
    });
    await bob('tools/call', keyed('pay', 'k', { n: 5 }));
    // The entries of ann are kept.
    await ann('tools/call', keyed('pay', 'k0', { n: 0 }));
    expect(runs).toEqual(['pay 0', 'pay 1', 'pay 2', 'pay 3', 'pay 5']);
  });
});

describe('idempotency', () => {
  it('is off unless the tool or the server turns it on', async () => {
    const twice = async (name: string, options = {}): Promise<number> => {
      const { call, runs } = build(options);
      await call('tools/call', keyed(name, 'k'));
      await call('tools/call', keyed(name, 'k'));
      return runs.length;
    };
    expect(await twice('plain')).toBe(2);
    expect(await twice('plain', { idempotency: true })).toBe(1);
    expect(await twice('plain', { idempotency: { windowMs: 1000 } })).toBe(1);
    expect(await twice('off', { idempotency: true })).toBe(2);
    // If it is off, the key is not read.
    const { call } = build();
    await call('tools/call', keyed('plain', 17));
  });

  it('needs a window that is an integer, 1 or more', () => {
    const message = 'tool "t": "idempotency.windowMs" must be an integer, 1 or more, not ';
    for (const windowMs of [0, -1, 1.5, Number.NaN])
      expect(() =>
        createServer({ ...quiet, tools: { t: tool({ idempotency: { windowMs }, run: () => 1 }) } }),
      ).toThrow(message);
  });
});

it('idempotency is declared in the list of tools, on every wire, so that clients know which calls they may repeat', async () => {
  const run = () => 1;
  const server = createServer({
    ...quiet,
    tools: {
      own: tool({ idempotency: { windowMs: 5000 }, meta: { 'example.com/kept': 1 }, run }),
      without: tool({ meta: { 'example.com/kept': 2 }, run }),
      byDefault: tool({ idempotency: true, run }),
    },
  });
  await everyWire(server, async (client) => {
    const listed = await client.tools().all();
    expect(Object.fromEntries(listed.map(({ name, _meta }) => [name, _meta]))).toEqual({
      own: { 'example.com/kept': 1, 'fullmcp/idempotency': { windowMs: 5000 } },
      without: { 'example.com/kept': 2 },
      byDefault: { 'fullmcp/idempotency': { windowMs: 600_000 } },
    });
  });
});

it('holds a key for tasks.leaseMs, after which a call of a process that died counts as lost', async () => {
  const inner = memoryStore();
  const holds: number[] = [];
  const store: Store = {
    ...inner,
    write: (changes, options) => {
      for (const change of changes)
        if (change.do === 'enqueue' && change.hold !== undefined) holds.push(change.hold.ms);
      return inner.write(changes, options);
    },
  };
  const server = createServer({
    ...quiet,
    store,
    tasks: { leaseMs: 3000 },
    tools: { pay: tool({ idempotency: true, run: () => 'paid' }) },
  });
  await inProcess(server)('tools/call', { name: 'pay', _meta: { [KEY]: 'one' } });
  expect(holds).toEqual([3000]);
  await server.close();
});
