import { expect, test } from 'vitest';
import { retryInMs } from '../../../../../../src/extensions/events/webhooks/outgoing/schedule.js';

test('a message is sent five times in about three minutes', () => {
  const bounds = [
    [1000, 1250],
    [5000, 6250],
    [30_000, 37_500],
    [120_000, 150_000],
  ] as const;
  for (const [at, [least, most]] of bounds.entries())
    for (let round = 0; round < 50; round++) {
      const delay = retryInMs(at + 1);
      expect(delay).toBeGreaterThanOrEqual(least);
      expect(delay).toBeLessThanOrEqual(most);
    }
  expect(retryInMs(5)).toBeUndefined();
});

test('a receiver may ask for more time, up to five minutes, but not for less', () => {
  expect(retryInMs(1, 60_000)).toBe(60_000);
  expect(retryInMs(1, 86_400_000)).toBe(300_000);
  expect(retryInMs(2, 0)).toBeGreaterThanOrEqual(5000);
});
