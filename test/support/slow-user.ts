import { vi } from 'vitest';

/**
 * Makes time something that the test gives, so that a user may take long and a busy machine is not taken for a slow one. Timers
 * run as they would otherwise. Returns what lets the time pass that a user takes.
 */
export function slowUser(): (ms: number) => Promise<void> {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
    shouldAdvanceTime: true,
  });
  return async (ms) => void (await vi.advanceTimersByTimeAsync(ms));
}
