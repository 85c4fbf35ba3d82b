// Stores the answer of a client, although the store may fail at first.

import { backoff, delay } from '../../../async/delay.js';
import { McpError } from '../../../protocol/errors.js';

const TRIES = 5;

/** Retries `work`, which stores an answer: its user should not have to give it again. */
export async function storeAnswer<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (McpError.is(error)) throw error;
      if (attempt >= TRIES || error instanceof RangeError)
        throw new McpError('overloaded', 'The answer could not be stored. Send it again.', {
          cause: error,
        });
      await delay(backoff(attempt, { baseMs: 100, maxMs: 2000 }));
    }
  }
}
