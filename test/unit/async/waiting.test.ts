import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { onAbort, unlessAborted } from '../../../src/async/abort.js';
import { settlesWithin, withDeadline } from '../../../src/async/deadline.js';
import { backoff, delay } from '../../../src/async/delay.js';
import { PausableTimeout } from '../../../src/async/pausable-timeout.js';

const reason = new Error('the reason of the signal');

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  // A spy on a fake timer, restored later, would bring the fake one back.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

function abortedSignal(): AbortSignal {
  const controller = new AbortController();
  controller.abort(reason);
  return controller.signal;
}

function expectNothingLeft(signal: AbortSignal): void {
  expect(vi.getTimerCount()).toBe(0);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
}

describe('delay', () => {
  it('resolves after its time and not before, and leaves no timer and no listener behind', async () => {
    const { signal } = new AbortController();
    let isOver = false;
    const waiting = delay(100, { signal }).then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(99);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await waiting;
    expectNothingLeft(signal);
  });

  it('rejects with the reason of a signal that aborted before, and sets no timer', async () => {
    const signal = abortedSignal();
    await expect(delay(100, { signal })).rejects.toBe(reason);
    expectNothingLeft(signal);
  });

  it('rejects with the reason of a signal that aborts meanwhile, and clears its timer', async () => {
    const controller = new AbortController();
    const waiting = delay(100, { signal: controller.signal });
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expectNothingLeft(controller.signal);
  });

  it('stays resolved when the signal aborts after it', async () => {
    const controller = new AbortController();
    const waiting = delay(100, { signal: controller.signal });
    await vi.advanceTimersByTimeAsync(100);
    controller.abort(reason);
    await expect(waiting).resolves.toBeUndefined();
  });

  it('lets the process end only with unref', () => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    void delay(100);
    void delay(100, { unref: true });
    const [plain, unrefed] = timers.mock.results.map(({ value }) => value as NodeJS.Timeout);
    expect([plain?.hasRef(), unrefed?.hasRef()]).toEqual([true, false]);
  });
});

describe('backoff', () => {
  it.each([
    [undefined, 0.5, 1],
    [[0.75, 1] as const, 0.75, 1],
    [[0.75, 1.25] as const, 0.75, 1.25],
    [[1, 1] as const, 1, 1],
  ])('doubles up to its limit, and stays between its factors (%s)', (jitter, least, most) => {
    for (let attempt = 0; attempt < 100; attempt++) {
      const whole = Math.min(30_000, 200 * 2 ** attempt);
      const ms = backoff(attempt, { baseMs: 200, maxMs: 30_000, ...(jitter && { jitter }) });
      expect(ms).toBeGreaterThanOrEqual(whole * least);
      expect(ms).toBeLessThanOrEqual(whole * most);
    }
  });
});

describe('unlessAborted', () => {
  it('settles as the promise does, and leaves no listener behind', async () => {
    const { signal } = new AbortController();
    const error = new Error('of the promise');
    await expect(unlessAborted(Promise.resolve(7), signal)).resolves.toBe(7);
    await expect(unlessAborted(Promise.reject(error), signal)).rejects.toBe(error);
    await Promise.resolve();
    expectNothingLeft(signal);
  });

  it('rejects with the reason of a signal that aborted before, also when the promise has settled', async () => {
    const signal = abortedSignal();
    await expect(unlessAborted(Promise.resolve(7), signal)).rejects.toBe(reason);
    // A later rejection is handled: otherwise this test run would report it.
    await expect(unlessAborted(Promise.reject(new Error('too late')), signal)).rejects.toBe(reason);
    expectNothingLeft(signal);
  });

  it('rejects when the signal aborts meanwhile, and ignores a later rejection of the promise', async () => {
    const controller = new AbortController();
    let fail!: (error: Error) => void;
    const promise = new Promise<never>((_, reject) => {
      fail = reject;
    });
    const waiting = unlessAborted(promise, controller.signal);
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    fail(new Error('too late'));
    await vi.advanceTimersByTimeAsync(0);
    expectNothingLeft(controller.signal);
  });

  it('shares one listener among all waiters of a signal', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const forever = new Promise<never>(() => undefined);
    const waiters = Array.from({ length: 50 }, () => unlessAborted(forever, signal));
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    controller.abort(reason);
    const ends = await Promise.allSettled(waiters);
    expect(ends.every((end) => end.status === 'rejected' && end.reason === reason)).toBe(true);
    expectNothingLeft(signal);
  });
});

describe('onAbort', () => {
  it('does not call a listener that another listener of the same abort has removed', () => {
    const controller = new AbortController();
    const calls: string[] = [];
    onAbort(controller.signal, () => {
      calls.push('first');
      forget();
    });
    const forget = onAbort(controller.signal, () => calls.push('second'));
    controller.abort();
    forget();
    expect(calls).toEqual(['first']);
  });
});

describe('withDeadline', () => {
  const deadline = { ms: 100, reason: () => reason };

  it('settles as the work does, and leaves no timer and no listener behind', async () => {
    const { signal } = new AbortController();
    const error = new Error('of the work');
    await expect(withDeadline({ ...deadline, signal }, async () => 7)).resolves.toBe(7);
    await expect(withDeadline({ ...deadline, signal }, () => Promise.reject(error))).rejects.toBe(error);
    await expect(
      withDeadline({ ...deadline, signal }, () => {
        throw error;
      }),
    ).rejects.toBe(error);
    expectNothingLeft(signal);
  });

  it('aborts the signal of the work at the deadline, with a reason that is created only then', async () => {
    const makeReason = vi.fn(() => reason);
    const { signal } = new AbortController();
    const waiting = withDeadline({ ms: 100, signal, reason: makeReason }, (own) =>
      delay(1000, { signal: own }),
    );
    const failed = expect(waiting).rejects.toBe(reason);
    await vi.advanceTimersByTimeAsync(99);
    expect(makeReason).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await failed;
    expectNothingLeft(signal);
  });

  it('aborts the signal of the work with the reason of its own signal, before and during the work', async () => {
    const before = abortedSignal();
    await expect(
      withDeadline({ ...deadline, signal: before }, async (own) => own.throwIfAborted()),
    ).rejects.toBe(reason);
    expectNothingLeft(before);
    const controller = new AbortController();
    const waiting = withDeadline({ ...deadline, signal: controller.signal }, (own) =>
      delay(1000, { signal: own }),
    );
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expectNothingLeft(controller.signal);
  });

  it('waits for work that ignores its signal', async () => {
    const waiting = withDeadline(deadline, () => delay(150).then(() => 7));
    await vi.advanceTimersByTimeAsync(150);
    await expect(waiting).resolves.toBe(7);
  });

  it('does not abort work that has met the deadline and continues', async () => {
    const waiting = withDeadline(deadline, async (own, met) => {
      met();
      await delay(150);
      return own.aborted;
    });
    await vi.advanceTimersByTimeAsync(150);
    await expect(waiting).resolves.toBe(false);
  });
});

describe('settlesWithin', () => {
  it('is true for a promise that settles in time, in either way, and clears its timer', async () => {
    await expect(settlesWithin(Promise.resolve(), 100)).resolves.toBe(true);
    await expect(settlesWithin(Promise.reject(new Error('no')), 100)).resolves.toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is false for a promise that settles later, and ignores its rejection', async () => {
    const late = delay(200).then(() => Promise.reject(new Error('too late')));
    const settled = settlesWithin(late, 100);
    await vi.advanceTimersByTimeAsync(100);
    await expect(settled).resolves.toBe(false);
    await vi.advanceTimersByTimeAsync(100);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('lets the process end only with unref', () => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const forever = new Promise<never>(() => undefined);
    void settlesWithin(forever, 100);
    void settlesWithin(forever, 100, { unref: true });
    const [plain, unrefed] = timers.mock.results.map(({ value }) => value as NodeJS.Timeout);
    expect([plain?.hasRef(), unrefed?.hasRef()]).toEqual([true, false]);
  });
});

describe('PausableTimeout', () => {
  it('aborts with its reason when the time is over', async () => {
    const timeout = new PausableTimeout(100, () => reason);
    await vi.advanceTimersByTimeAsync(98);
    expect(timeout.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(2);
    expect(timeout.signal.reason).toBe(reason);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not count the time of pauses, however they overlap, nor of work that fails', async () => {
    const timeout = new PausableTimeout(100, () => reason);
    await vi.advanceTimersByTimeAsync(50);
    const long = timeout.pauseFor(() => delay(1000));
    const failing = expect(
      timeout.pauseFor(() => delay(300).then(() => Promise.reject(new Error('no')))),
    ).rejects.toThrow('no');
    await vi.advanceTimersByTimeAsync(1000);
    await Promise.all([long, failing]);
    await vi.advanceTimersByTimeAsync(48);
    expect(timeout.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(2);
    expect(timeout.signal.aborted).toBe(true);
  });

  it('never aborts after its end, also if a pause ends later', async () => {
    const timeout = new PausableTimeout(100, () => reason);
    const paused = timeout.pauseFor(() => delay(10));
    timeout.end();
    await vi.advanceTimersByTimeAsync(10);
    await paused;
    expect(vi.getTimerCount()).toBe(0);
    expect(timeout.signal.aborted).toBe(false);
  });

  it('can wait longer than a timer can, and without a limit', async () => {
    const weeks = new PausableTimeout(2 ** 32, () => reason);
    new PausableTimeout(Number.POSITIVE_INFINITY, () => reason);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(2 ** 32 - 1000);
    expect(weeks.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1000);
    expect(weeks.signal.aborted).toBe(true);
  });
});
