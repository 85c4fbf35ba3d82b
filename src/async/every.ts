import { unref } from './unref.js';

/** The options of `every`. */
export interface EveryOptions {
  /** Called with an error of the work, which is repeated all the same. Without it, the error is unhandled, as that of any timer. */
  readonly onError?: (error: unknown) => void;
  /** Whether the first call is made now. Default: after the interval. */
  readonly atOnce?: boolean;
  /** Whether the process may end while the timer is set. Default: true. */
  readonly unref?: boolean;
}

/** The longest time that a timer can wait. One that is set to more, such as Infinity, fires again and again at once. */
const LONGEST_MS = 0x7fffffff;

/**
 * Calls `work` every `ms`. While the promise that it returned is pending, it is not called again. Returns the function that stops it.
 */
export function every(
  ms: number,
  work: () => unknown,
  { onError, atOnce = false, unref: mayExit = true }: EveryOptions = {},
): () => void {
  let isWorking = false;
  function turn(): void {
    if (isWorking) return;
    const working = work();
    if (!(working instanceof Promise)) return;
    isWorking = true;
    const ended = working.finally(() => {
      isWorking = false;
    });
    if (onError !== undefined) ended.catch(onError);
  }

  if (atOnce) turn();
  const timer = setInterval(turn, Math.min(ms, LONGEST_MS));
  if (mayExit) unref(timer);
  return () => clearInterval(timer);
}
