// The connection that a step's statements run on: it cannot end the transaction, and cannot be used after it.

import { Turns } from '../../async/turns.js';
import type { PostgresDatabase } from './database/database.js';
import { isConnectionLost, isTransient } from './database/failures.js';
import type { PgClient, PgQuery, PgResult } from './database/pg.js';

/** Statements that would begin or end a transaction. A savepoint is allowed, and so is rolling back to it. */
const CONTROL =
  /^(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:(?:work|transaction)\s+)?to\b))\b/i;
/** Settings that would outlive the transaction, on a connection that others use after it. */
const SETTING = /^set\s+(?!local\b|transaction\b|constraints\b)/i;
const LEADING_COMMENTS = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/;

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
  readonly #turns = new Turns();
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
    check(statement.text);
    // The time limit of a statement begins when it is sent, so it must not wait for others in the client.
    return this.#turns.take(async () => {
      try {
        return await this.#client.query({
          query_timeout: this.#database.patienceMs,
          ...statement,
          ...(values !== undefined && { values: [...values] }),
        });
      } catch (error) {
        if (isTransient(error) || isConnectionLost(error)) this.#lost ??= error;
        throw error;
      }
    });
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

  /** Rejects further statements. Resolves when those before have ended. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#turns.idle;
  }

  /** Stops listening to the connection, which is used by others from now on. */
  leave(): void {
    this.#client.removeListener('error', this.#onError);
  }
}

// Of several statements in one string, only the first is looked at. An end that is hidden behind it is found when the transaction is to be committed.
function check(text: string): void {
  const bare = text.replace(LEADING_COMMENTS, '');
  if (SETTING.test(bare))
    throw new TypeError('Use SET LOCAL in a step: a setting without LOCAL would stay on the connection.');
  if (!CONTROL.test(bare)) return;
  const [word = ''] = /^\w+/.exec(bare) ?? [];
  throw new TypeError(
    `Do not use ${word.toUpperCase()} in a step: the step is a transaction already, and is committed with its record when it returns. Use SAVEPOINT to undo a part of it.`,
  );
}
