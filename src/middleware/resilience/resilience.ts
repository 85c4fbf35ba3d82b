import { withSignal } from '../../async/lifetime.js';
import type { Call, Dispatch, Middleware, Outcome } from '../../protocol/call.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { copyCall } from '../../protocol/direct.js';
import { isLongLived } from '../facts/call-facts.js';
import { Repeatable, type RepeatableToolNames, repeatableTools } from './repeatable.js';

/** A policy of another library, such as `cockatiel`: it runs a function, perhaps several times, later, or not at all. */
export interface ResiliencePolicy {
  /** Runs `work`. A policy that ends it early passes a signal of its own, which follows `signal`. */
  readonly execute: (
    work: (context?: {
      /** Ends the work early. Default: that of the call. */
      readonly signal?: AbortSignal;
    }) => Promise<Outcome>,
    signal?: AbortSignal,
  ) => PromiseLike<Outcome>;
}

/** The options of `resilience`. */
export interface ResilienceOptions {
  /** The tools that have the same effect if they are called twice, besides those whose annotations say so. Default: none. */
  readonly tools?: RepeatableToolNames | undefined;
  /** Translates an error of the policy into one that the caller sees, such as an `McpError`. Default: the error as it is. */
  readonly mapError?: ((error: unknown) => unknown) | undefined;
}

const optionTable = {
  tools: repeatableTools,
  mapError: 'function',
} as const satisfies OptionTable<ResilienceOptions>;

/**
 * Runs calls through a policy of your choice: retries, timeouts, bulkheads, circuit breakers. A call that is not safe to repeat runs
 * once, with any policy: a second attempt fails with the error of the first. Subscriptions and tasks pass.
 */
export function resilience(policy: ResiliencePolicy, options: ResilienceOptions = {}): Middleware {
  if (typeof (policy as Partial<ResiliencePolicy> | undefined)?.execute !== 'function')
    throw new TypeError('resilience: the policy must be an object with a function "execute".');
  const { tools, mapError } = readOptions('resilience', options, optionTable);
  const repeatable = new Repeatable(tools);

  function attempts(
    call: Call,
    next: Dispatch,
  ): (context?: { readonly signal?: AbortSignal }) => Promise<Outcome> {
    let isFirst = true;
    let last: unknown;
    return async (context) => {
      if (!isFirst && !repeatable.mayRepeat(call, last)) throw last;
      isFirst = false;
      // An attempt that has not failed yet, as when a policy makes two at once.
      last = new Error('The call is not safe to repeat, and its first attempt has not ended.');
      const signal = context?.signal;
      try {
        return await next(
          signal === undefined || signal === call.signal ? call : withSignal(copyCall(call), { signal }),
        );
      } catch (error) {
        last = error;
        throw error;
      }
    };
  }

  return async function resilience(call, next) {
    if (isLongLived(call)) return next(call);
    try {
      return repeatable.learn(call, await policy.execute(attempts(call, next), call.signal));
    } catch (error) {
      throw mapError === undefined ? error : mapError(error);
    }
  };
}
