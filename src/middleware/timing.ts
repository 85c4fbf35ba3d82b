import type { Call, Middleware } from '../protocol/call.js';
import { endOf, failureOf, stopwatch, targetOf, tell } from './facts/call-facts.js';

/** A call that has ended. */
export interface TimedCall {
  /** The method of the call. */
  readonly method: string;
  /** The tool, the prompt or the URI of the resource, as the client sent it; undefined for other methods. */
  readonly target: string | undefined;
  /** `ok`, `asks` if the client is asked for input, `tool_error` for a result with `isError`, or the code of the error. */
  readonly end: string;
  /** The milliseconds that the call took, without those in which the user was asked. */
  readonly ms: number;
  /** The error, if the call failed. */
  readonly error?: unknown;
  /** The call itself. */
  readonly call: Call;
}

/**
 * Measures every call, from the moment it reaches this middleware until its outcome is known: `timing(({ method, target, ms }) => …)`.
 * An error of `report` does not change the outcome.
 */
export function timing(report: (timed: TimedCall) => void): Middleware {
  if (typeof report !== 'function')
    throw new TypeError('timing needs a function that gets each measured call.');
  return async function timing(call, next) {
    const { method } = call;
    const target = targetOf(call);
    const elapsed = stopwatch(call);
    try {
      const outcome = await next(call);
      tell(report, { method, target, end: endOf(outcome), ms: elapsed(), call });
      return outcome;
    } catch (error) {
      tell(report, { method, target, end: failureOf(error), ms: elapsed(), error, call });
      throw error;
    }
  };
}
