import { onAbort } from '../../async/on-abort.js';
import { cancelledBy } from '../../protocol/errors.js';

/** Waits, or rejects with the signal's reason. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(cancelledBy(signal.reason));
    const forget = onAbort(signal, () => {
      clearTimeout(timer);
      reject(cancelledBy(signal.reason));
    });
    const timer = setTimeout(() => {
      forget();
      resolve();
    }, ms);
  });
}

/** The pause before a further attempt: doubled each time up to `maxMs`, and cut by chance, so that many do not come back at once. */
export function backoff(
  attempt: number,
  { baseMs, maxMs }: { readonly baseMs: number; readonly maxMs: number },
): number {
  const whole = Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30));
  return whole / 2 + Math.random() * (whole / 2);
}
