import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { callAt } from '../../../src/async/call-at.js';

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

test('A listener is called once, at its time and not before', () => {
  const listener = vi.fn();
  callAt(1_000_000 + 3_600_000, listener);
  vi.advanceTimersByTime(3_599_999);
  expect(listener).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(listener).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(3_600_000);
  expect(listener).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBe(0);
});

test.each([Number.MAX_SAFE_INTEGER, 1_000_000 + 2 ** 31, 8.64e15, Number.MAX_VALUE])(
  'A time that no timer can wait for, %d, does not come at once',
  (time) => {
    const listener = vi.fn();
    const stop = callAt(time, listener);
    vi.advanceTimersByTime(86_400_000);
    expect(listener).not.toHaveBeenCalled();
    stop();
    expect(vi.getTimerCount()).toBe(0);
  },
);

test.each([0, -1, 999_999])(
  'A time in the past, %d, comes in the next turn, after the function has returned',
  (time) => {
    const listener = vi.fn();
    callAt(time, listener);
    expect(listener).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(listener).toHaveBeenCalledOnce();
  },
);

test('A clock that is set forward is noticed within a minute, and one that is set back delays the call', () => {
  const [forward, back] = [vi.fn(), vi.fn()];
  callAt(1_000_000 + 86_400_000, forward);
  vi.setSystemTime(1_000_000 + 90_000_000);
  vi.advanceTimersByTime(60_000);
  expect(forward).toHaveBeenCalledOnce();
  const now = Date.now();
  callAt(now + 1000, back);
  vi.setSystemTime(now - 5000);
  vi.advanceTimersByTime(5999);
  expect(back).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(back).toHaveBeenCalledOnce();
});
