// Stores the answer of a client, although the store may fail at first.

import { withRetries } from '../../../async/retries.js';
import { McpError } from '../../../protocol/errors.js';

const RETRY = {
  baseMs: 100,
  maxMs: 2000,
  maxAttempts: 6,
  isFinal: (error: unknown) => McpError.is(error) || error instanceof RangeError,
};

/** Retries `work`, which stores an answer: its user should not have to give it again. */
export async function storeAnswer<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await withRetries(work, RETRY);
  } catch (cause) {
    if (McpError.is(cause)) throw cause;
    throw new McpError('overloaded', 'The answer could not be stored. Send it again.', { cause });
  }
}
