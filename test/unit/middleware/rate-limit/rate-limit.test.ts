import { createServer, McpError, type Middleware, memoryStore, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { type RateLimitOptions, rateLimit } from 'fullmcp/middleware';
import { serve } from 'fullmcp/node';
import { testClient } from 'fullmcp/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Call, Outcome } from '../../../../src/protocol/call.js';
import { memoryBus } from '../../../../src/state/bus.js';
import { modern } from '../../../support/http/modern.js';

const outcome: Outcome = { resultType: 'complete' };

function call(method: string, parts: Partial<Call> = {}): Call {
  return {
    id: 1,
    method,
    params: { name: 'add' },
    peer: { revision: '2026-07-28', client: undefined, capabilities: {}, logLevel: undefined },
    signal: new AbortController().signal,
    notify: () => undefined,
    ...parts,
  };
}

const from = (remoteAddress: string): Partial<Call> => ({ http: { header: () => undefined, remoteAddress } });
const as = (subject: string, issuer?: string): Partial<Call> => ({
  auth: { subject, issuer, scopes: [], claims: {} },
});

/** The number of calls that are admitted. */
async function admitted(options: string | RateLimitOptions, calls: readonly Call[]): Promise<number> {
  const limit = rateLimit(options);
  const ends = await Promise.allSettled(calls.map((each) => limit(each, async () => outcome)));
  return ends.filter(({ status }) => status === 'fulfilled').length;
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

describe('rateLimit', () => {
  it('refuses a call that is one too many with 429, and says when to retry', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const limit = rateLimit('2/min');
    const next = vi.fn(async () => outcome);
    await limit(call('tools/call'), next);
    await limit(call('tools/call'), next);
    const refused = await limit(call('tools/call'), next).catch((error: unknown) => error);
    expect(McpError.is(refused)).toBe(true);
    const { code, status, data, message } = refused as McpError;
    expect([code, status]).toEqual(['overloaded', 429]);
    expect(message).toBe('Too many calls: the limit is 2/min. Retry in 30 s.');
    expect(data).toMatchObject({ retryAfterMs: 30_000 });
    expect(next).toHaveBeenCalledTimes(2);
  });

  it('has rates for tool calls, reads and prompts', async () => {
    const options = { tools: '3/min', reads: '5/min', prompts: '1/min' };
    const calls = ['tools/call', 'resources/read', 'prompts/get', 'tools/list'].flatMap((method) =>
      times(10, call(method)),
    );
    expect(await admitted(options, calls)).toBe(3 + 5 + 1 + 10);
  });

  it('counts calls for the rate of all calls, too, except those that their own rate refuses', async () => {
    const limit = rateLimit({ calls: '4/min', tools: '1/min' });
    const run = async (method: string) =>
      limit(call(method), async () => outcome).then(
        () => true,
        () => false,
      );
    expect([await run('tools/call'), await run('tools/call')]).toEqual([true, false]);
    const lists = [];
    for (let n = 0; n < 4; n++) lists.push(await run('tools/list'));
    expect(lists).toEqual([true, true, true, false]);
  });

  it('never refuses a ping', async () => {
    expect(await admitted('1/min', times(5, call('ping')))).toBe(5);
  });

  it.each([
    ['callers', 'caller', [as('ada'), as('bob')]],
    ['callers of two issuers with the same name', 'caller', [as('ada', 'https://a.example'), as('ada')]],
    ['addresses of anonymous callers', 'caller', [from('192.0.2.1'), from('192.0.2.2')]],
    ['a caller and an address of the same name', 'caller', [as('192.0.2.1'), from('192.0.2.1')]],
    ['addresses', 'address', [from('192.0.2.1'), { ...as('ada'), ...from('192.0.2.2') }]],
    ['networks of IPv6', 'address', [from('2001:db8:0:1::1'), from('2001:db8:0:2::1')]],
    ['IPv4 addresses in their mapped form', 'address', [from('::ffff:192.0.2.1'), from('::ffff:192.0.2.2')]],
    ['tools', 'tool', [{ params: { name: 'a' } }, { params: { name: 'b' } }]],
    [
      'names of its own',
      ({ params }: Call) => String(params['name']),
      [{ params: { name: 'a' } }, { params: { name: 'b' } }],
    ],
  ] as const)('counts %s apart', async (_, by, [one, other]) => {
    const calls = [...times(5, call('tools/call', one)), ...times(5, call('tools/call', other))];
    expect(await admitted({ calls: '2/min', by }, calls)).toBe(4);
  });

  it.each([
    ['2001:db8:0:1::1', '2001:db8:0:1:ffff:ffff:ffff:fffe'],
    ['2001:db8:0:1::1', '2001:0DB8::1:0:0:0:2'],
    ['fe80::1%eth0', 'fe80::2%eth1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
  ])('counts %s and %s together, since one client can have both', async (one, other) => {
    const calls = [one, other].flatMap((address) => times(5, call('tools/call', from(address))));
    expect(await admitted({ calls: '2/min' }, calls)).toBe(2);
  });

  it('counts everybody together', async () => {
    const calls = [call('tools/call', as('ada')), call('tools/call', from('192.0.2.1')), call('tools/call')];
    expect(await admitted({ calls: '2/min', by: 'everyone' }, calls)).toBe(2);
  });

  it('does not limit calls for which its function has no name', async () => {
    expect(await admitted({ calls: '1/min', by: () => undefined }, times(5, call('tools/call')))).toBe(5);
  });

  it.each<[unknown, string]>([
    [{}, 'rateLimit needs a rate'],
    [{ tool: '1/min' }, 'rateLimit has no option "tool"'],
    [{ tools: 'often' }, '`tools` must be a rate'],
    [
      { calls: '1/min', by: 'user' },
      '"by" must be "caller", "address", "tool", "everyone" or a function, not ',
    ],
    [{ calls: '1/min', maxKeys: 0 }, 'rateLimit: "maxKeys" must be an integer, 1 or more, not 0.'],
    [undefined, 'the options must be an object'],
  ])('rejects the options %j', (options, message) => {
    expect(() => rateLimit(options as string)).toThrow(message);
  });
});

function build(use: Middleware | readonly Middleware[], shared: object = {}) {
  const warnings: string[] = [];
  const server = createServer({
    name: 'limited',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: (level, message) => void (level === 'warning' && warnings.push(message)),
    use: [use].flat(),
    tools: { add: tool({ description: 'Adds', run: () => 'added' }) },
    ...shared,
  });
  onTestFinished(() => server.close());
  return { server, warnings };
}

describe('rateLimit in a server', () => {
  it('counts the calls of each server apart, although they share the middleware', async () => {
    const use = rateLimit({ tools: '1/h' });
    for (const { server } of [build(use), build(use)]) {
      await using client = await connect(server, { maxRetries: 0 });
      await expect(client.callTool('add')).resolves.toBeDefined();
      await expect(client.callTool('add')).rejects.toMatchObject({ status: 429 });
    }
  });

  it('replies with 429 and Retry-After over HTTP, and a client waits exactly as long as the error says', async () => {
    const waits: number[] = [];
    const seen: Middleware = (each, next) =>
      next(each).catch((error: { readonly data: { readonly retryAfterMs: number } }) => {
        waits.push(error.data.retryAfterMs);
        throw error;
      });
    const { server } = build([seen, rateLimit({ tools: { limit: 1, perMs: 1500 } })]);
    const running = await serve(server, { port: 0 });
    onTestFinished(() => running.close());
    await using client = await connect(running.url);
    // On a busy machine, a call may grow back before the next one arrives.
    let waited = 0;
    while (waits.length === 0) {
      const started = performance.now();
      await client.callTool('add');
      waited = performance.now() - started;
    }
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeLessThanOrEqual(1500);
    expect(waited).toBeGreaterThanOrEqual((waits[0] as number) - 2);
    const add = () => modern(running.url, 'tools/call', { name: 'add' });
    let refused = await add();
    while (refused.status === 200) refused = await add();
    const { retryAfterMs } = JSON.parse(refused.text).error.data;
    expect([refused.status, refused.headers['retry-after']]).toEqual([
      429,
      String(Math.ceil(retryAfterMs / 1000)),
    ]);
  });

  it.each([
    ['http', '2026-07-28'],
    ['http', '2025-11-25'],
    ['http+sse', '2024-11-05'],
    ['stdio', '2026-07-28'],
    ['websocket', '2025-11-25'],
  ] as const)(
    'makes a client over %s %s wait and retry, although the tool is not safe to repeat',
    async (over, revision) => {
      const waits: number[] = [];
      const seen: Middleware = (each, next) =>
        next(each).catch((error: McpError) => {
          waits.push((error.data as { retryAfterMs: number }).retryAfterMs);
          throw error;
        });
      const { server } = build([seen, rateLimit({ tools: { limit: 1, perMs: 300 } })]);
      await using client = await testClient(server, { over, revision });
      let waited = 0;
      while (waits.length === 0) {
        const started = performance.now();
        expect((await client.callTool('add')).text).toBe('added');
        waited = performance.now() - started;
      }
      expect(waits).toHaveLength(1);
      expect(waited).toBeGreaterThanOrEqual((waits[0] as number) - 2);
    },
  );

  it('is called again by a client exactly when the error said, neither earlier nor later', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const calls: number[] = [];
    const told: number[] = [];
    const seen: Middleware = async (each, next) => {
      if (each.method === 'tools/call') calls.push(performance.now());
      return next(each).catch((error: McpError) => {
        told.push((error.data as { retryAfterMs: number }).retryAfterMs);
        throw error;
      });
    };
    const { server } = build([seen, rateLimit({ tools: { limit: 7, perMs: 9999 } })]);
    await using client = await connect(server);
    for (let n = 0; n < 7; n++) {
      await client.callTool('add');
      await vi.advanceTimersByTimeAsync(13);
    }
    for (let n = 0; n < 5; n++) {
      calls.length = told.length = 0;
      const ended = client.callTool('add');
      await vi.advanceTimersByTimeAsync(0);
      expect([calls.length, told.length]).toEqual([1, 1]);
      const [waitMs] = told as [number];
      expect(waitMs).toBeGreaterThan(1);
      await vi.advanceTimersByTimeAsync(waitMs - 1);
      expect(calls).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(1);
      expect((await ended).text).toBe('added');
      expect(calls).toHaveLength(2);
    }
  });

  it('shares the rate of processes that have a bus, and counts alone while the store fails', async () => {
    const [inner, bus] = [memoryStore(), memoryBus()];
    let isAway = false;
    const store = {
      ...inner,
      get: (key: string) => (isAway ? Promise.reject(new Error('away')) : inner.get(key)),
      close: async () => undefined,
    };
    const use = rateLimit({ tools: '5/h' });
    const servers = [build(use, { store, bus }), build(use, { store, bus })];
    const clients = await Promise.all(servers.map(({ server }) => connect(server, { maxRetries: 0 })));
    const run = async (count: number) => {
      const calls = clients.flatMap((client) => times(count, client)).map((client) => client.callTool('add'));
      const ends = await Promise.allSettled(calls);
      return ends.filter(({ status }) => status === 'fulfilled').length;
    };
    expect(await run(10)).toBe(5);
    isAway = true;
    // Each process knows which of the first five calls were its own: together they admit what two processes may, and no more.
    expect(await run(10)).toBe(5);
    expect(servers.map(({ warnings }) => warnings)).toEqual(
      times(2, ['The store failed, so each process limits the rate of its own calls for now']),
    );
    isAway = false;
    expect(await run(1)).toBe(0);
  });
});
