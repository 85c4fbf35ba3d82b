import { afterEach, expect, test, vi } from 'vitest';
import { Clock } from '../../../../src/client/calls/open-call.js';

afterEach(() => {
  vi.useRealTimers();
});

test('a clock has one timer, however often a call with a shorter deadline is added', () => {
  vi.useFakeTimers();
  const clock = new Clock(() => []);
  for (const ms of [60_000, 30_000, 10_000, 1000]) clock.add(ms, performance.now());
  expect(vi.getTimerCount()).toBe(1);
  for (let call = 0; call < 4; call++) clock.remove();
  clock.close();
  expect(vi.getTimerCount()).toBe(0);
});
