import { onAbort } from './abort.js';
import { unref } from './unref.js';

// Delays, and the growing delays between attempts.

export interface DelayOptions {
  /** Ends the delay early: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Whether the process may end during the delay. */
  readonly unref?: boolean;
}

/** Resolves after `ms`. Rejects with the signal's reason if the signal aborts first. */
export function delay(ms: number, { signal, unref: mayExit = false }: DelayOptions = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const forget =
      signal &&
      onAbort(signal, () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    const timer = setTimeout(() => {
      forget?.();
      resolve();
    }, ms);
    if (mayExit) unref(timer);
  });
}

export interface BackoffOptions {
  /** The delay before attempt 0. */
  readonly baseMs: number;
  readonly maxMs: number;
  /** The delay is multiplied by a random factor between these two, so that many peers do not retry at the same time. */
  readonly jitter?: readonly [least: number, most: number];
}

/** The delay before a further attempt, counted from 0: it doubles each time, up to `maxMs`. */
export function backoff(
  attempt: number,
  { baseMs, maxMs, jitter: [least, most] = [0.5, 1] }: BackoffOptions,
): number {
  const whole = Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30));
  return whole * (least + Math.random() * (most - least));
}
