import { onAbort } from './abort.js';
import { unref } from './unref.js';

// Time limits for work and promises.

export interface Deadline {
  readonly ms: number;
  /** Aborts the work before the deadline. */
  readonly signal?: AbortSignal | undefined;
  /** Makes the reason that the work's signal aborts with at the deadline. */
  readonly reason: () => unknown;
}

/**
 * Runs `work` with a signal that aborts at the deadline, or earlier, when `deadline.signal` aborts. Settles as the work does:
 * work that ignores its signal is waited for. The work can call `met` to stop the clock before it ends.
 */
export async function withDeadline<T>(
  { ms, signal, reason }: Deadline,
  work: (signal: AbortSignal, met: () => void) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  const timer = setTimeout(() => own.abort(reason()), ms);
  const met = (): void => clearTimeout(timer);
  const stop = (): void => own.abort(signal?.reason);
  if (signal?.aborted) stop();
  const forget = signal === undefined || signal.aborted ? undefined : onAbort(signal, stop);
  try {
    return await work(own.signal, met);
  } finally {
    met();
    forget?.();
  }
}

/** Whether a promise resolves or rejects within `ms`. The caller reads the outcome from the promise itself. */
export function settlesWithin(
  promise: Promise<unknown>,
  ms: number,
  { unref: mayExit = false }: { readonly unref?: boolean } = {},
): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, false);
    if (mayExit) unref(timer);
    const settled = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    promise.then(settled, settled);
  });
}
