// Errors of tasks that cannot be saved.

import { McpError, UNKNOWN_OUTCOME } from '../../../protocol/errors.js';

/** Thrown by a write that can never succeed, so that it is not retried. */
export class Unsaveable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'Unsaveable';
  }
}

/** The error for a client whose request could not be saved. */
export function savingError(problem: string, cause: unknown): McpError {
  if (McpError.is(cause)) return cause;
  if (cause instanceof Unsaveable || cause instanceof RangeError)
    return new McpError('invalid_params', `${problem}. ${cause.message}`, { cause });
  return new McpError('overloaded', `${problem}. Try again later.`, { cause });
}

/** The error for a client whose request may have been saved. A call with an idempotency key does not run again after it. */
export function unknownOutcome(problem: string, cause: unknown): McpError {
  return new McpError('overloaded', problem, { cause, data: { reason: UNKNOWN_OUTCOME } });
}

/** The error for a client whose request comes during the shutdown. */
export function shutdownError(): McpError {
  return new McpError('overloaded', 'The server is shutting down. Try again later.');
}

/** The reason of a run whose task another process may have taken over. */
export function leaseLost(): McpError {
  return new McpError(
    'cancelled',
    'This process no longer holds the task, and another one continues it. Nothing that happens here is saved.',
  );
}
