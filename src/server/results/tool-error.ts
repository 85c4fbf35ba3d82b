// Errors for the model, and the masking of all others.

import { McpError } from '../../protocol/errors.js';
import { MASKED } from '../../protocol/tables/failure-texts.js';
import type { Logger } from '../state/log.js';

const brand = Symbol.for('fullmcp.ToolError');

/** A failure that the model should read and act on. The message of any other error stays on the server. */
export class ToolError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    if (typeof message !== 'string')
      throw new TypeError(
        "A ToolError needs a string that the model can read: new ToolError('Order 7 does not exist.')",
      );
    super(message, options);
    this.name = 'ToolError';
    Object.defineProperty(this, brand, { value: true });
  }

  /** Whether a value is a `ToolError`, of any copy of this package. */
  static is(value: unknown): value is ToolError {
    return typeof value === 'object' && value !== null && brand in value;
  }
}

/** Lets the client read the message of a `ToolError` in the response of a method whose results have no errors for the model. */
export async function withToolErrors<T>(value: T | Promise<T>): Promise<T> {
  try {
    return await value;
  } catch (error) {
    throw ToolError.is(error) ? new McpError('internal_error', error.message, { cause: error }) : error;
  }
}

/** Logs an unexpected error in full. Returns the message that a peer may see. */
export function mask(error: unknown, where: string, log: Logger): string {
  const ref = Array.from(crypto.getRandomValues(new Uint8Array(4)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
  log('error', `${where} failed (ref ${ref})`, error);
  return `${MASKED}${ref})`;
}
