import { vi } from 'vitest';

/**
 * Puts the test in control of time, so that a user may take long and a busy machine is not mistaken for a slow user. Timers
 * run as usual. Returns a function that lets the user's time pass.
 */
export function slowUser(): (ms: number) => Promise<void> {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
    shouldAdvanceTime: true,
  });
  return async (ms) => void (await vi.advanceTimersByTimeAsync(ms));
}
