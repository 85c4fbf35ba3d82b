import { retrying } from '../../client/calls/retrying.js';
import type { Call, Middleware } from '../../protocol/call.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { Repeatable, type RepeatableToolNames, repeatableTools } from './repeatable.js';

/** The options of `retry`. */
export interface RetryOptions {
  /** The number of retries after the first attempt, from 0 to 100. Default: 2. */
  readonly maxRetries?: number | undefined;
  /** The tools that have the same effect if they are called twice, besides those whose annotations say so. Default: none. */
  readonly tools?: RepeatableToolNames | undefined;
  /** Whether a call may be retried. Default: all that are safe to repeat. */
  readonly when?: ((call: Call) => boolean) | undefined;
  /** Called before each wait for a server that is overloaded. Default: nothing. */
  readonly onWait?: ((message: string) => void) | undefined;
}

const optionTable = {
  maxRetries: { is: 'count', min: 0, max: 100, default: 2 },
  tools: repeatableTools,
  when: 'function',
  onWait: 'function',
} as const satisfies OptionTable<RetryOptions>;

const nothing = (): void => undefined;
const activity = { heard: nothing, refused: nothing };

/**
 * Retries calls that failed because the connection was lost or the other end was overloaded: lists, reads, other calls without effects, tools
 * that `tools/list` declares read-only or idempotent, and calls with an idempotency key. Waits as long as the error says, up to 30 s,
 * or else a growing, random time. A client does the same by itself (`maxRetries`); `retry` is for a `Dispatch` in front of another one.
 */
export function retry(options: RetryOptions = {}): Middleware {
  const { maxRetries, tools, when, onWait = nothing } = readOptions('retry', options, optionTable);
  const repeatable = new Repeatable(tools);
  const { isRepeatable, keepsKeys } = repeatable;
  const inner = retrying({ maxRetries, isRepeatable, keepsKeys, problem: onWait, activity });

  return async function retry(call, next) {
    const isTried = when?.(call) === false;
    return repeatable.learn(call, await (isTried ? next(call) : inner(call, next)));
  };
}
