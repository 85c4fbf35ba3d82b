import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Lifetime } from '../../../src/async/lifetime.js';
import { Retries } from '../../../src/async/retries.js';
import { withRetries } from '../../../src/async/with-retries.js';
import { failureOf } from '../../support/failure.js';

// Without jitter: pauses of 100, 200, 400 and 400 ms.
const PAUSES = { baseMs: 100, maxMs: 400, jitter: [1, 1] } as const;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => {
  // First the spies on the fake timers, which bring these back.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** The times at which attempts begin that all fail, until there is none left. */
async function attemptTimes(retries: Retries, most = 10): Promise<number[]> {
  const startedAt = performance.now();
  const times: number[] = [];
  const loop = (async () => {
    while (times.length < most && (await retries.next())) times.push(performance.now() - startedAt);
  })();
  await vi.runAllTimersAsync();
  await loop;
  return times;
}

describe('Retries', () => {
  it('the first attempt is made at once, and the others after longer and longer pauses', async () => {
    const retries = new Retries(PAUSES);
    expect(await attemptTimes(retries, 5)).toEqual([0, 100, 300, 700, 1100]);
    expect(retries.failures).toBe(4);
  });

  it('no more attempts are made than allowed', async () => {
    expect(await attemptTimes(new Retries({ ...PAUSES, maxAttempts: 3 }))).toEqual([0, 100, 300]);
  });

  it('no attempt begins after the time for all of them, and nobody waits for one that will not begin', async () => {
    const startedAt = performance.now();
    expect(await attemptTimes(new Retries({ ...PAUSES, forMs: 699 }))).toEqual([0, 100, 300]);
    expect(performance.now() - startedAt).toBe(300);
    expect(await attemptTimes(new Retries({ ...PAUSES, forMs: 700 }))).toEqual([0, 100, 300, 700]);
  });

  it('pauses are as short as at first after a success', async () => {
    const retries = new Retries(PAUSES);
    expect(await attemptTimes(retries, 3)).toEqual([0, 100, 300]);
    retries.failures = 0;
    expect(await attemptTimes(retries, 2)).toEqual([100, 300]);
  });

  it('attempts and the pause between them end with what they belong to, and leave nothing behind', async () => {
    const controller = new AbortController();
    const retries = new Retries({ ...PAUSES, until: controller });
    expect(await retries.next()).toBe(true);
    const next = retries.next();
    controller.abort();
    expect(await next).toBe(false);
    expect(await retries.next()).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('no attempt is made for a lifetime that has ended, and no signal for one whose first attempt succeeds', async () => {
    const lifetime = new Lifetime();
    const signal = vi.spyOn(lifetime, 'signal', 'get');
    expect(await new Retries({ ...PAUSES, until: lifetime }).next()).toBe(true);
    expect(signal).not.toHaveBeenCalled();
    lifetime.end('over');
    expect(await new Retries({ ...PAUSES, until: lifetime }).next()).toBe(false);
  });

  it('the process may end during a pause between attempts only with unref', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    for (const options of [PAUSES, { ...PAUSES, unref: true }]) {
      const retries = new Retries(options);
      await retries.next();
      void retries.next();
    }
    const refs = timers.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef());
    expect(refs).toEqual([true, false]);
  });
});

describe('withRetries', () => {
  function failing(times: number) {
    let attempts = 0;
    return vi.fn(async () => {
      if (++attempts <= times) throw new Error(`attempt ${attempts}`);
      return `attempt ${attempts}`;
    });
  }

  it('work that is retried resolves with the first success', async () => {
    const work = failing(2);
    const result = withRetries(work, PAUSES);
    await vi.runAllTimersAsync();
    expect(await result).toBe('attempt 3');
  });

  it('work that is retried rejects with the last error when no further attempt may be made', async () => {
    const failure = failureOf(Error, withRetries(failing(9), { ...PAUSES, maxAttempts: 2 }));
    await vi.runAllTimersAsync();
    expect(await failure).toEqual(new Error('attempt 2'));
  });

  it('work is not retried after a final error', async () => {
    const work = failing(9);
    const isFinal = (_: unknown, failures: number): boolean => failures === 1;
    const failure = failureOf(Error, withRetries(work, { ...PAUSES, isFinal }));
    await vi.runAllTimersAsync();
    expect(await failure).toEqual(new Error('attempt 2'));
    expect(work).toHaveBeenCalledTimes(2);
  });

  it('work that is retried rejects with the error that takes the place of a final one', async () => {
    const isFinal = (): never => {
      throw new Error('another');
    };
    await expect(withRetries(failing(1), { ...PAUSES, isFinal })).rejects.toThrow('another');
  });

  it('work that is retried rejects with the reason of a signal that ends the attempts', async () => {
    const controller = new AbortController();
    const failure = failureOf(Error, withRetries(failing(9), { ...PAUSES, until: controller }));
    await vi.advanceTimersByTimeAsync(50);
    controller.abort(new Error('closed'));
    expect(await failure).toEqual(new Error('closed'));
  });
});
