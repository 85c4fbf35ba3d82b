import { pausedMsOf } from '../../async/lifetime.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { staysOpen } from '../../protocol/standing-calls.js';

export { targetOf } from '../../protocol/telemetry/call-target.js';

// The facts about a call that several kinds of middleware use.

/** Whether a call may stay open for as long as the client likes, or belongs to a task, so that its time says nothing. */
export function isLongLived({ method }: Call): boolean {
  return staysOpen(method) || method.startsWith('tasks/');
}

/** The end of a call that has an outcome: `asks` if the client is asked, `tool_error` for a result with `isError`, otherwise `ok`. */
export function endOf(outcome: Outcome): 'ok' | 'tool_error' | 'asks' {
  if (outcome.resultType === 'input_required') return 'asks';
  return outcome['isError'] === true ? 'tool_error' : 'ok';
}

/**
 * Whether an error ends a handler that asks the client. Only middleware of a tool that another handler has called sees it; all other
 * middleware gets the questions as an outcome.
 */
export function asks(error: unknown): boolean {
  return error instanceof Error && error.name === 'Suspension';
}

/** The end of a call that failed: the code of its error, or `asks` if the client is asked. */
export function failureOf(error: unknown): string {
  if (asks(error)) return 'asks';
  return McpError.is(error) ? error.code : 'internal_error';
}

/** Starts to measure a call. The returned function has the milliseconds since then, without those in which the user was asked. */
export function stopwatch(call: Call): () => number {
  const from = performance.now();
  const paused = pausedMsOf(call);
  return () => performance.now() - from - (pausedMsOf(call) - paused);
}

/** Calls a function of the program that only looks at calls: neither its error nor a rejected promise changes anything. */
export function tell<Args extends readonly unknown[]>(
  listener: (...args: Args) => unknown,
  ...args: Args
): void {
  try {
    const promise = listener(...args);
    if (promise instanceof Promise) promise.catch(() => undefined);
  } catch {
    // The call has had its effects, so an error here must not fail it.
  }
}
