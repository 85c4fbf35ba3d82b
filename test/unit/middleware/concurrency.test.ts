import { type Call, createServer, type Dispatch, type McpError, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { type ConcurrencyOptions, concurrency, timing } from 'fullmcp/middleware';
import { serve } from 'fullmcp/node';
import { buildCall, toolResult } from 'fullmcp/testing';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { modern } from '../../support/http/modern.js';
import { until } from '../../support/until.js';

afterEach(() => void vi.useRealTimers());

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Calls through one limit, which end when the test says so. */
function limited(options: ConcurrencyOptions) {
  const limit = concurrency(options);
  const started: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const failures = new Map<string, McpError>();
  const next: Dispatch = ({ params }) =>
    new Promise((resolve, reject) => {
      const name = String(params['name']);
      started.push(name);
      ends.set(name, (error) => (error === undefined ? resolve(toolResult(name)) : reject(error)));
    });
  const start = (name: string, parts: Partial<Call> = {}) => {
    const call = buildCall('tools/call', { name }, parts as never);
    let promise: Promise<unknown>;
    try {
      promise = limit(call, next);
    } catch (error) {
      promise = Promise.reject(error);
    }
    void promise.catch((error: McpError) => failures.set(name, error));
  };
  const end = async (name: string, error?: Error) => {
    ends.get(name)?.(error);
    await turn();
  };
  return { limit, start, end, started, failures };
}

describe('concurrency', () => {
  it('runs as many calls as the limit allows, and the others in the order in which they came', async () => {
    const { start, end, started } = limited({ limit: 2 });
    for (const name of ['a', 'b', 'c', 'd', 'e']) start(name);
    expect(started).toEqual(['a', 'b']);
    await end('b');
    expect(started).toEqual(['a', 'b', 'c']);
    await end('a', new Error('failed'));
    await end('c');
    expect(started).toEqual(['a', 'b', 'c', 'd', 'e']);
    for (const name of ['d', 'e']) await end(name);
    start('f');
    expect(started.at(-1)).toBe('f');
  });

  it('lets no call pass those that wait', async () => {
    const { start, end, started } = limited({ limit: 1 });
    start('a');
    start('b');
    const ended = end('a');
    start('c');
    await ended;
    expect(started).toEqual(['a', 'b']);
    await end('b');
    expect(started).toEqual(['a', 'b', 'c']);
  });

  it('refuses a call with 503 if the queue is full', async () => {
    const { start, end, started, failures } = limited({ limit: 1, queue: 1 });
    for (const name of ['a', 'b', 'c']) start(name);
    await turn();
    expect(failures.get('c')).toMatchObject({ code: 'overloaded', status: 503 });
    expect(failures.get('c')?.message).toBe('The server is busy: too many calls are waiting. Retry later.');
    await end('a');
    expect(started).toEqual(['a', 'b']);
  });

  it('takes a cancelled call out of the queue, whose place another one gets', async () => {
    const { start, end, started, failures } = limited({ limit: 1, queue: 1 });
    const controller = new AbortController();
    start('a');
    start('b', { signal: controller.signal });
    controller.abort('gone');
    await turn();
    expect(failures.get('b')?.code).toBe('cancelled');
    start('c');
    await end('a');
    expect(started).toEqual(['a', 'c']);
    start('d', { signal: controller.signal });
    await turn();
    expect(failures.get('d')?.code).toBe('cancelled');
  });

  it('keeps the place of a cancelled call whose handler still runs', async () => {
    const { start, end, started } = limited({ limit: 1 });
    const controller = new AbortController();
    start('a', { signal: controller.signal });
    start('b');
    controller.abort();
    await turn();
    expect(started).toEqual(['a']);
    await end('a');
    expect(started).toEqual(['a', 'b']);
  });

  it('refuses a call that has waited too long, and leaves no timer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { start, end, failures } = limited({ limit: 1, maxWaitMs: 100 });
    start('a');
    start('b');
    await vi.advanceTimersByTimeAsync(101);
    expect(failures.get('b')?.message).toBe(
      'The server is busy: the call has waited for 100 ms. Retry later.',
    );
    start('c');
    await end('a');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('never runs more than the limit with a thousand calls that come in waves, of which a third is cancelled', async () => {
    let running = 0;
    let most = 0;
    let done = 0;
    const limit = concurrency({ limit: 7, queue: 1000 });
    const start = (n: number, signal: AbortSignal) =>
      limit(buildCall('tools/call', { n }, { signal }), async () => {
        most = Math.max(most, ++running);
        for (let turns = n % 4; turns >= 0; turns--) await turn();
        running--;
        done++;
        return toolResult('done');
      }).catch(() => undefined);
    const calls: Promise<unknown>[] = [];
    for (let n = 0; n < 1000; n++) {
      const controller = new AbortController();
      calls.push(start(n, controller.signal));
      if (n % 3 === 0) controller.abort();
      if (n % 20 === 0) for (let turns = n % 7; turns >= 0; turns--) await turn();
    }
    await Promise.all(calls);
    expect([most, running]).toEqual([7, 0]);
    expect(done).toBeGreaterThanOrEqual(666);
    // All places are free again, and no more than those.
    const again = Array.from({ length: 20 }, (_, n) => start(n, new AbortController().signal));
    expect(running).toBe(7);
    await Promise.all(again);
    expect(most).toBe(7);
  });

  it.each(['ping', 'server/discover', 'subscriptions/listen', 'tasks/result', 'tasks/get'])(
    'lets %s pass',
    async (method) => {
      const { limit, start } = limited({ limit: 1, queue: 0 });
      start('a');
      expect(await limit(buildCall(method), async () => toolResult('done'))).toEqual(toolResult('done'));
    },
  );

  it('counts only the calls that `when` selects', async () => {
    const { start, started } = limited({ limit: 1, when: ({ params }) => params['name'] !== 'free' });
    for (const name of ['a', 'b', 'free']) start(name);
    expect(started).toEqual(['a', 'free']);
  });

  it('has a limit and a queue for each caller', async () => {
    const { start, started, failures } = limited({ limit: 1, queue: 0, by: 'caller' });
    const as = (subject: string) => ({ auth: { subject, scopes: [], claims: {} } });
    start('a', as('ada'));
    start('b', as('ada'));
    start('c', as('bob'));
    await turn();
    expect(started).toEqual(['a', 'c']);
    expect([...failures.keys()]).toEqual(['b']);
  });

  it('replies with 503 over HTTP, and takes a call whose client disconnects out of the queue', async () => {
    let release = (): void => undefined;
    const started: string[] = [];
    const came: string[] = [];
    const ended: unknown[] = [];
    const hold = new Promise<void>((resolve) => {
      release = resolve;
    });
    const server = createServer({
      name: 'busy',
      version: '1.0.0',
      use: [
        timing(({ call }) => void ended.push(call.params['arguments'])),
        (call, next) => {
          came.push(JSON.stringify(call.params['arguments']));
          return next(call);
        },
        concurrency({ limit: 1, queue: 1 }),
      ],
      tools: {
        work: tool({
          input: z.object({ name: z.string() }),
          run: async ({ name }) => {
            started.push(name);
            await hold;
            return name;
          },
        }),
      },
    });
    const running = await serve(server, { port: 0 });
    onTestFinished(() => running.close());
    const post = (name: string) => modern(running.url, 'tools/call', { name: 'work', arguments: { name } });
    const first = post('first');
    await until('the first call runs', () => started.length === 1);
    await using client = await connect(running.url, { maxRetries: 0 });
    const leaving = new AbortController();
    const left = client.callTool('work', { name: 'left' }, { signal: leaving.signal }).catch(() => 'left');
    await until('the queue is full', () => came.includes('{"name":"left"}'));
    expect((await post('refused')).status).toBe(503);
    leaving.abort();
    expect(await left).toBe('left');
    await until('the server notices', () => JSON.stringify(ended).includes('left'));
    const next = post('next');
    release();
    expect((await first).status).toBe(200);
    await next;
    expect(started).not.toContain('left');
  });

  it.each<[unknown, string]>([
    [{}, 'concurrency: "limit" must be an integer, 1 or more, not'],
    [{ limit: 0 }, 'concurrency: "limit" must be an integer, 1 or more, not'],
    [{ limit: 1.5 }, 'concurrency: "limit" must be an integer, 1 or more, not'],
    [{ limit: 1, queue: -1 }, 'concurrency: "queue" must be an integer, 0 or more, not -1.'],
    [
      { limit: 1, maxWaitMs: Number.NaN },
      '"maxWaitMs" must be a number of milliseconds, 0 or more, not NaN.',
    ],
    [
      { limit: 1, by: 'constructor' },
      '"by" must be "caller", "address", "tool", "everyone" or a function, not ',
    ],
    [{ limits: 1 }, 'concurrency has no option "limits". Did you mean "limit"?'],
  ])('rejects the options %j', (options, message) => {
    expect(() => concurrency(options as ConcurrencyOptions)).toThrow(message);
  });
});
