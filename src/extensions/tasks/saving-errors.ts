import { McpError } from '../../protocol/errors.js';

/** Thrown by a write that would fail however often it is tried. */
export class NeverKept extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'NeverKept';
  }
}

/** What a client is told whose request could not be saved. */
export function unsaved(what: string, cause: unknown): McpError {
  if (McpError.is(cause)) return cause;
  if (cause instanceof NeverKept)
    return new McpError('invalid_params', `${what}. ${cause.message}`, { cause });
  return new McpError('overloaded', `${what}: try again later`, { cause });
}

export function shuttingDown(): McpError {
  return new McpError('overloaded', 'The server is shutting down: try again later');
}
