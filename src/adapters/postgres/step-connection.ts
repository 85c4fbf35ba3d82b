// The connection that a step's statements run on: it cannot end the transaction, and cannot be used after it.

import type { PostgresDatabase } from './database/database.js';
import { isConnectionLost, isTransient } from './database/failures.js';
import type { PgClient, PgQuery, PgResult } from './database/pg.js';

/** Statements that would begin or end a transaction. A savepoint is allowed, and so is rolling back to it. */
const CONTROL =
  /^\s*(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:(?:work|transaction)\s+)?to\b))\b/i;

const TOO_LATE =
  'The transaction of this step has ended, so the statement was not run. Await every statement before the step returns.';

/** A connection in a transaction, for the user's own statements. */
export class StepConnection implements PgClient {
  readonly #client: PgClient;
  readonly #database: PostgresDatabase;
  readonly #onError = (error: Error): void => {
    this.#lost ??= error;
  };
  #lost: unknown;
  #hasEnded = false;

  constructor(client: PgClient, database: PostgresDatabase) {
    this.#client = client;
    this.#database = database;
    client.on('error', this.#onError);
  }

  /** The error with which the database or the connection ended the transaction. */
  get lost(): unknown {
    return this.#lost;
  }

  async query(query: string | PgQuery, values?: readonly unknown[]): Promise<PgResult> {
    if (this.#hasEnded) throw new TypeError(TOO_LATE);
    const statement = typeof query === 'string' ? { text: query } : query;
    if (typeof statement?.text !== 'string')
      throw new TypeError(
        'A statement must be a string or an object with "text". A cursor or a stream cannot be used.',
      );
    if (CONTROL.test(statement.text)) throw endsTransaction(statement.text);
    const { patienceMs } = this.#database;
    try {
      return await this.#client.query({
        query_timeout: patienceMs,
        ...statement,
        ...(values !== undefined && { values: [...values] }),
      });
    } catch (error) {
      if (isTransient(error) || isConnectionLost(error)) this.#lost ??= error;
      throw error;
    }
  }

  /** Does nothing: the connection is returned when the transaction has ended. */
  release(): void {
    // Libraries release what they were given.
  }

  on(event: 'error' | 'end' | 'notification', listener: (value: never) => void): unknown {
    return this.#client.on(event as 'error', listener as (error: Error) => void);
  }

  removeListener(event: 'error' | 'end' | 'notification', listener: (value: never) => void): unknown {
    return this.#client.removeListener(event as 'error', listener as (error: Error) => void);
  }

  /** Rejects further statements. */
  end(): void {
    this.#hasEnded = true;
    this.#client.removeListener('error', this.#onError);
  }
}

function endsTransaction(text: string): TypeError {
  const [word = ''] = /\w+/.exec(text) ?? [];
  return new TypeError(
    `Do not use ${word.toUpperCase()} in a step: the step is a transaction already, and is committed with its record when it returns. Use SAVEPOINT to undo a part of it.`,
  );
}
