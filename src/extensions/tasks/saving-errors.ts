// Errors of tasks that cannot be saved.

import { McpError } from '../../protocol/errors.js';

/** Thrown by a write that can never succeed. */
export class Unsaveable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'Unsaveable';
  }
}

/** The error for a client whose request could not be saved. */
export function unsaved(what: string, cause: unknown): McpError {
  if (McpError.is(cause)) return cause;
  if (cause instanceof Unsaveable)
    return new McpError('invalid_params', `${what}. ${cause.message}`, { cause });
  return new McpError('overloaded', `${what}. Try again later.`, { cause });
}

export function shuttingDown(): McpError {
  return new McpError('overloaded', 'The server is shutting down. Try again later.');
}
