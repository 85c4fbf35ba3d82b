import { McpError } from 'fullmcp';
import { type CircuitBreakerOptions, circuitBreaker } from 'fullmcp/middleware';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { call, outcome } from './call.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const down = () => Promise.reject(new McpError('connection_closed', 'down'));
const up = async () => outcome;

function breaker(options: CircuitBreakerOptions = {}) {
  const changes: string[] = [];
  const middleware = circuitBreaker({
    failures: 3,
    openMs: 10_000,
    onChange: (state, name) => changes.push(`${name}: ${state}`),
    ...options,
  });
  const end = (next: () => Promise<typeof outcome>, made = call()) =>
    middleware(made, next).then(
      () => 'ok',
      (error: McpError) => error.code,
    );
  return { middleware, changes, end };
}

describe('circuitBreaker', () => {
  it('refuses calls after failures in a row, says when to retry, and lets one call try then', async () => {
    const { middleware, changes, end } = breaker();
    expect([await end(down), await end(down), await end(up), await end(down), await end(down)]).not.toContain(
      'overloaded',
    );
    expect(changes).toEqual([]);
    expect(await end(down)).toBe('connection_closed');
    expect(changes).toEqual(['everyone: open']);
    const next = vi.fn(up);
    vi.advanceTimersByTime(4000);
    await expect(middleware(call(), next)).rejects.toMatchObject({
      code: 'overloaded',
      status: 503,
      data: { retryAfterMs: 6000 },
      message: 'The call was not made, because the last 3 have failed. Retry in 6.0 s.',
    });
    vi.advanceTimersByTime(5999);
    expect(await end(next)).toBe('overloaded');
    expect(next).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    // Only one of them tries.
    expect(await Promise.all([end(next), end(next), end(next)])).toEqual(['ok', 'overloaded', 'overloaded']);
    expect(next).toHaveBeenCalledTimes(1);
    expect(changes.slice(1)).toEqual(['everyone: half-open', 'everyone: closed']);
    expect(await end(next)).toBe('ok');
  });

  it('refuses calls for 10 s after 5 failures by default, as a gateway does', async () => {
    const middleware = circuitBreaker();
    for (let count = 0; count < 5; count++)
      await expect(middleware(call(), down)).rejects.toMatchObject({ code: 'connection_closed' });
    await expect(middleware(call(), up)).rejects.toMatchObject({ data: { retryAfterMs: 10_000 } });
    vi.advanceTimersByTime(10_000);
    expect(await middleware(call(), up)).toBe(outcome);
  });

  it('asks `isFailure` which errors count, with the call, in place of its own choice', async () => {
    const asked: string[] = [];
    const { end } = breaker({
      failures: 1,
      isFailure: (error, { method }) => {
        asked.push(`${method} ${(error as McpError).code}`);
        return (error as McpError).code === 'forbidden';
      },
    });
    expect([await end(down), await end(up)]).toEqual(['connection_closed', 'ok']);
    expect(await end(() => Promise.reject(new McpError('forbidden', 'x')))).toBe('forbidden');
    expect(await end(up)).toBe('overloaded');
    expect(asked).toEqual(['tools/call connection_closed', 'tools/call forbidden']);
  });

  it('opens again if the call that tries fails, and lets the next one try if it is cancelled', async () => {
    const { changes, end } = breaker({ failures: 1 });
    await end(down);
    vi.advanceTimersByTime(10_000);
    expect(await end(down)).toBe('connection_closed');
    vi.advanceTimersByTime(9999);
    expect(await end(up)).toBe('overloaded');
    vi.advanceTimersByTime(1);
    expect(await end(() => Promise.reject(new McpError('cancelled', 'x')))).toBe('cancelled');
    expect(await end(up)).toBe('ok');
    expect(changes.at(-1)).toBe('everyone: closed');
  });

  it.each<[string, unknown, boolean]>([
    ['invalid_params', new McpError('invalid_params', 'x'), false],
    ['forbidden', new McpError('forbidden', 'x'), false],
    ['cancelled', new McpError('cancelled', 'x'), false],
    ['a rate limit', new McpError('overloaded', 'x', { status: 429 }), false],
    ['overload', new McpError('overloaded', 'x'), true],
    ['timeout', new McpError('timeout', 'x'), true],
    ['internal_error', new McpError('internal_error', 'x'), true],
    ['a bug', new Error('x'), true],
  ])('decides whether %s is a failure of the other end', async (_, error, isFailure) => {
    const { end } = breaker();
    for (let n = 0; n < 3; n++) await end(() => Promise.reject(error));
    expect(await end(up)).toBe(isFailure ? 'overloaded' : 'ok');
  });

  it('is not closed by a call from before it opened', async () => {
    const { end } = breaker();
    let finish!: () => void;
    const early = end(
      () =>
        new Promise((resolve) => {
          finish = () => resolve(outcome);
        }),
    );
    for (let n = 0; n < 3; n++) await end(down);
    finish();
    expect(await early).toBe('ok');
    expect(await end(up)).toBe('overloaded');
  });

  it('has a circuit for each tool, counts results with isError if asked to, and passes subscriptions', async () => {
    const { end } = breaker({ by: 'tool', toolErrors: true, failures: 1 });
    expect(await end(async () => ({ ...outcome, isError: true }))).toBe('ok');
    expect(await end(up)).toBe('overloaded');
    expect(await end(up, call('tools/call', { name: 'other' }))).toBe('ok');
    expect(await end(up, call('tools/list', {}))).toBe('ok');
    const all = breaker({ failures: 1 });
    await all.end(down);
    expect(await all.end(up, call('subscriptions/listen', {}))).toBe('ok');
  });

  it.each<[object, string]>([
    [{ failures: 0 }, 'circuitBreaker: "failures" must be an integer, 1 or more, not 0.'],
    [{ openMs: -1 }, 'circuitBreaker: "openMs" must be an integer, 1 or more, not -1.'],
    [{ by: 'toString' }, 'circuitBreaker: "by" must be'],
    [{ threshold: 5 }, 'circuitBreaker has no option "threshold"'],
  ])('rejects the options %j', (options, message) => {
    expect(() => circuitBreaker(options)).toThrow(message);
  });
});
