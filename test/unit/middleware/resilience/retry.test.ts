import { McpError } from 'fullmcp';
import { type RetryOptions, resilience, retry } from 'fullmcp/middleware';
import { describe, expect, it, vi } from 'vitest';
import type { Call, Dispatch } from '../../../../src/protocol/call.js';
import { IDEMPOTENCY_KEY, KEEPS_KEYS } from '../../../../src/protocol/tables/meta-keys.js';
import { call, list, outcome } from './call.js';

const lost = (data?: object) => new McpError('connection_closed', 'lost', { data });
const busy = (status = 503, retryAfterMs = 1) =>
  new McpError('overloaded', 'busy', { status, data: { retryAfterMs } });

/** Fails with the errors in turn, then succeeds; lists tools. */
function failing(...errors: unknown[]) {
  return vi.fn<Dispatch>(async ({ method }) => {
    if (method === 'tools/list')
      return {
        ...list,
        tools: [...(list['tools'] as object[]), { name: 'keyed', _meta: { [KEEPS_KEYS]: {} } }],
      };
    if (errors.length > 0) throw errors.shift();
    return outcome;
  });
}

describe('retry', () => {
  const cases: [string, Call, unknown, boolean, RetryOptions?][] = [
    ['a read after a lost connection', call('resources/read', { uri: 'a://b' }), lost(), true],
    ['a read that was refused for now', call('resources/read', { uri: 'a://b' }), busy(), true],
    ['a tool without annotations', call(), lost(), false],
    ['a tool that is busy', call(), busy(), false],
    ['a tool that did not run, because of its rate', call(), busy(429), true],
    ['a tool that was never sent', call(), lost({ unsent: true }), true],
    ['a read-only tool', call('tools/call', { name: 'read' }), lost(), true],
    ['an idempotent tool', call('tools/call', { name: 'set' }), lost(), true],
    ['a tool that the options name', call(), lost(), true, { tools: ['pay'] }],
    [
      'a tool with a key that it keeps',
      call('tools/call', { name: 'keyed', _meta: { [IDEMPOTENCY_KEY]: 'k' } }),
      lost(),
      true,
    ],
    [
      'a tool with a key that it ignores',
      call('tools/call', { name: 'pay', _meta: { [IDEMPOTENCY_KEY]: 'k' } }),
      lost(),
      false,
    ],
    ['a subscription', call('subscriptions/listen', {}), lost(), false],
    [
      'an error of the caller',
      call('resources/read', { uri: 'a://b' }),
      new McpError('invalid_params', 'x'),
      false,
    ],
    ['a bug', call('resources/read', { uri: 'a://b' }), new Error('bug'), false],
    ['a wait of an hour', call('resources/read', { uri: 'a://b' }), busy(429, 3_600_000), false],
    ['what `when` excludes', call('resources/read', { uri: 'a://b' }), lost(), false, { when: () => false }],
  ];
  it.each(cases)('decides about %s', async (_, made, error, isRetried, options) => {
    const next = failing(error);
    const middleware = retry(options);
    await middleware(call('tools/list', {}), next);
    next.mockClear();
    const result = middleware(made, next);
    if (isRetried) expect(await result).toBe(outcome);
    else await expect(result).rejects.toBe(error);
    expect(next).toHaveBeenCalledTimes(isRetried ? 2 : 1);
  });

  it('gives up after `maxRetries`, with the last error', async () => {
    const errors = [busy(), busy(), busy()];
    const next = failing(...errors);
    const onWait = vi.fn();
    const read = call('resources/read', { uri: 'a://b' });
    await expect(retry({ maxRetries: 2, onWait })(read, next)).rejects.toBe(errors.at(-1));
    expect(next).toHaveBeenCalledTimes(3);
    expect(onWait).toHaveBeenCalledTimes(2);
  });

  it('stops waiting when the call is cancelled', async () => {
    const controller = new AbortController();
    const next = failing(busy(429, 20_000));
    const result = retry()({ ...call(), signal: controller.signal }, next);
    await vi.waitFor(() => expect(next).toHaveBeenCalledTimes(1));
    controller.abort();
    await expect(result).rejects.toMatchObject({ code: 'cancelled' });
  });

  it.each([-1, 1.5, 101, 'x'])('rejects maxRetries: %j', (maxRetries) => {
    expect(() => retry({ maxRetries } as RetryOptions)).toThrow(
      'retry: "maxRetries" must be an integer from 0 to 100, not ',
    );
  });
});

/** A policy of the shape that cockatiel has: it makes attempts, each with a signal of its own. */
function policy(attempts: number) {
  return {
    async execute<T>(
      work: (context: { signal: AbortSignal }) => PromiseLike<T> | T,
      signal?: AbortSignal,
    ): Promise<T> {
      for (let attempt = 1; ; attempt++) {
        const controller = new AbortController();
        signal?.addEventListener('abort', () => controller.abort(signal.reason));
        try {
          return await work({ signal: controller.signal });
        } catch (error) {
          if (attempt === attempts) throw error;
        }
      }
    },
  };
}

describe('resilience', () => {
  it('lets a policy repeat what is safe to repeat, and nothing else', async () => {
    const middleware = resilience(policy(3), { tools: ['named'] });
    const next = failing();
    await middleware(call('tools/list', {}), next);
    for (const [made, error, times] of [
      [call('resources/read', { uri: 'a://b' }), new Error('bug'), 2],
      [call(), lost(), 1],
      [call(), busy(429), 2],
      [call('tools/call', { name: 'set' }), lost(), 2],
      [call('tools/call', { name: 'named' }), lost(), 2],
    ] as const) {
      const failingOnce = failing(error);
      const result = middleware(made, failingOnce);
      if (times === 1) await expect(result).rejects.toBe(error);
      else expect(await result).toBe(outcome);
      expect(failingOnce).toHaveBeenCalledTimes(times);
    }
  });

  it('never runs an unsafe call twice, even at the same time', async () => {
    const next = vi.fn<Dispatch>(async () => outcome);
    const twice = {
      execute: async (work: () => Promise<typeof outcome>) => {
        const [first] = await Promise.allSettled([work(), work()]);
        if (first.status === 'rejected') throw first.reason;
        return first.value;
      },
    };
    expect(await resilience(twice)(call(), next)).toBe(outcome);
    expect(next).toHaveBeenCalledTimes(1);
  });

  it('gives the call the signal of the policy, which follows that of the call', async () => {
    const controller = new AbortController();
    const next = vi.fn<Dispatch>(
      ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    );
    const made = { ...call(), signal: controller.signal };
    const result = resilience(policy(1), { mapError: (error) => new McpError('timeout', String(error)) })(
      made,
      next,
    );
    const [given] = next.mock.calls[0] as [Call];
    expect(given.signal).not.toBe(controller.signal);
    expect(given.params).toBe(made.params);
    controller.abort('over');
    await expect(result).rejects.toMatchObject({ code: 'timeout', message: 'over' });
  });

  it('passes subscriptions, and rejects what is not a policy', async () => {
    const execute = vi.fn();
    await resilience({ execute })(call('subscriptions/listen', {}), async () => outcome);
    expect(execute).not.toHaveBeenCalled();
    expect(() => resilience({} as never)).toThrow(
      'resilience: the policy must be an object with a function "execute".',
    );
  });
});
