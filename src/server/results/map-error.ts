// Lets the server's `onError` replace unexpected errors.

import type { Call } from '../../protocol/call.js';
import { copyCall } from '../../protocol/direct.js';
import { McpError } from '../../protocol/errors.js';
import type { Logger } from '../state/log.js';
import { ToolError } from './tool-error.js';

/** The result of `onError`: an error for the client, or nothing, so that the unexpected error is masked. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that only looks at errors returns nothing.
type ErrorAnswer = ToolError | McpError | undefined | void;

/** Called with every error that is neither a `ToolError` nor an `McpError`. It may return or throw one of those instead. */
export type OnError = (error: unknown, call: Call) => ErrorAnswer | Promise<ErrorAnswer>;

/** Returns the error that `onError` gave for an unexpected error, or undefined if the error must be masked. */
export type MapError = (error: unknown, call: Call) => Promise<ToolError | McpError | undefined>;

/** Makes the function that passes unexpected errors to `onError`. */
export function mapErrors(onError: OnError | undefined, log: Logger): MapError {
  if (onError === undefined) return async () => undefined;
  return async function mapError(error, call) {
    try {
      // A copy, because the program may spread the call.
      const replacement = await onError(error, copyCall(call));
      return isForPeer(replacement) ? replacement : undefined;
    } catch (thrown) {
      if (isForPeer(thrown)) return thrown;
      // Throwing the same error again means the same as returning nothing.
      if (thrown !== error) log('error', 'onError failed', thrown);
      return undefined;
    }
  };
}

function isForPeer(error: unknown): error is ToolError | McpError {
  return ToolError.is(error) || McpError.is(error);
}
