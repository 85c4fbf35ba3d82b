import { hasEnded, Lifetime, onEnd, pausedMsOf, withSignal } from '../async/lifetime.js';
import type { Call, Dispatch, Middleware, Outcome } from '../protocol/call.js';
import { timerMs } from '../protocol/checks/options.js';
import { copyCall } from '../protocol/direct.js';
import { cancelledBy, McpError } from '../protocol/errors.js';
import { isLongLived, stopwatch } from './facts/call-facts.js';

/**
 * Ends calls that take too long: `timeout(10_000)`, or `timeout((call) => …)` for a time of its own for each call, where undefined
 * means no limit. The signal of the call aborts, and the caller gets an error with the code `timeout` at once, even if the handler
 * ignores the signal. Subscriptions and the methods of tasks are not limited, and time in which the user is asked does not count.
 */
export function timeout(limit: number | ((call: Call) => number | undefined)): Middleware {
  const fixedMs = typeof limit === 'function' ? undefined : checkedMs(limit);
  return function timeout(call, next) {
    if (isLongLived(call)) return next(call);
    const ms = typeof limit === 'function' ? limit(call) : fixedMs;
    return ms === undefined ? next(call) : within(checkedMs(ms), call, next);
  };
}

/** A lifetime of its own, in which the pauses of the outer call count as pauses. */
class LimitedLifetime extends Lifetime {
  readonly #outer: Call;

  constructor(outer: Call) {
    super();
    this.#outer = outer;
  }

  get pausedMs(): number {
    return pausedMsOf(this.#outer);
  }
}

/** A timer may fire a little early, and the time may have been paused. Then the rest is waited for, and not in tiny steps. */
const MIN_REST_MS = 20;

function within(ms: number, call: Call, next: Dispatch): Promise<Outcome> {
  const elapsed = stopwatch(call);
  const lifetime = new LimitedLifetime(call);
  return new Promise((resolve, reject) => {
    const end = (error: McpError): void => {
      stop();
      lifetime.end(error);
      reject(error);
    };
    const check = (): void => {
      const restMs = ms - elapsed();
      if (restMs > 1) timer = setTimeout(check, Math.max(restMs, MIN_REST_MS));
      else end(new McpError('timeout', `The call took longer than ${ms} ms, so it was ended.`));
    };
    const cancel = (): void => end(cancelledBy(call.signal.reason));
    const stop = (): void => {
      clearTimeout(timer);
      forget?.();
    };
    let timer = setTimeout(check, ms);
    const forget = hasEnded(call) ? undefined : onEnd(call, cancel);
    if (forget === undefined) return cancel();
    // Work that ignores its signal continues, but its outcome is ignored.
    next(withSignal(copyCall(call), lifetime))
      .then(resolve, reject)
      .finally(stop);
  });
}

function checkedMs(ms: unknown): number {
  if (typeof ms !== 'number' || !(ms > 0))
    throw new TypeError('timeout needs a number of milliseconds above 0, or a function that returns one.');
  return timerMs(ms);
}
