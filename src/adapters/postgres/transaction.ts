// Transactions that run the user's own statements, and end with a write of the store.

import { TransactionFailed } from '../../state/transaction.js';
import { ConnectionLimit } from './database/connection-limit.js';
import type { PostgresDatabase } from './database/database.js';
import { isBusy, isConnectionLost } from './database/failures.js';
import type { PgClient } from './database/pg.js';
import { StepConnection } from './step-connection.js';

/** The longest time that a transaction waits while none of the open ones ends. */
const WAIT_MS = 30_000;

/** The largest time limit that Postgres accepts. */
const MAX_TIMEOUT_MS = 0x7fffffff;

class NoRoom extends Error {}

/** Limits the transactions that are open at a time: the user's own code runs in them, for as long as it wants. */
export function transactionLimit(most: number, waitMs: number = WAIT_MS): ConnectionLimit {
  return new ConnectionLimit(
    most,
    waitMs,
    () =>
      new NoRoom(
        `${most} transactions are open, and none of them ended within ${waitMs} ms. Raise "poolSize", or make the steps shorter.`,
      ),
    { waitsWhileOthersEnd: true },
  );
}

/** A transaction: what the user does in it, and how it ends. */
export interface TransactionParts<T, R extends { readonly ok: boolean }> {
  readonly leaseMs: number;
  readonly work: (client: PgClient) => Promise<T>;
  /** Makes the last changes. The transaction is committed if the result is `ok`, and rolled back otherwise. */
  readonly finish: (client: PgClient, result: T) => Promise<R>;
}

/**
 * Runs a transaction. An error of `work` rolls everything back and is thrown as it is, unless the database or the connection had ended
 * the transaction.
 */
export async function inTransaction<T, R extends { readonly ok: boolean }>(
  database: PostgresDatabase,
  limit: ConnectionLimit,
  parts: TransactionParts<T, R>,
): Promise<R> {
  const attempt = new Attempt(database, parts);
  try {
    await database.ready();
    return await limit.run(() => database.withClient((client) => attempt.run(client)));
  } catch (error) {
    throw attempt.reasonOf(error);
  }
}

/** One transaction, and how far it has come. */
class Attempt<T, R extends { readonly ok: boolean }> {
  readonly #database: PostgresDatabase;
  readonly #parts: TransactionParts<T, R>;
  #phase: 'begin' | 'work' | 'finish' | 'commit' = 'begin';
  #connection: StepConnection | undefined;
  #thrown: { readonly error: unknown } | undefined;
  /** The error of the server or of its client, before it was explained. */
  #failure: unknown;

  constructor(database: PostgresDatabase, parts: TransactionParts<T, R>) {
    this.#database = database;
    this.#parts = parts;
  }

  async run(client: PgClient): Promise<R> {
    const { leaseMs, work, finish } = this.#parts;
    const connection = new StepConnection(client, this.#database);
    this.#connection = connection;
    try {
      const mark = await this.#begin(client, leaseMs);
      this.#phase = 'work';
      const result = await (async () => work(connection))().catch((error: unknown) => {
        this.#thrown = { error };
        throw error;
      });
      await connection.end();
      this.#phase = 'finish';
      await this.#checkOpen(client, mark);
      const written = await finish(client, result);
      this.#phase = 'commit';
      await this.#query(client, written.ok ? 'COMMIT' : 'ROLLBACK');
      return written;
    } catch (error) {
      this.#failure ??= error;
      await connection.end();
      // If this fails too, the connection is closed, which also rolls back.
      await this.#query(client, 'ROLLBACK');
      throw error;
    } finally {
      connection.leave();
    }
  }

  /** The error for the caller. */
  reasonOf(error: unknown): unknown {
    if (error instanceof NoRoom) return error;
    const lost = this.#connection?.lost;
    const failure = this.#failure ?? error;
    const isFinal =
      this.#phase === 'begin'
        ? error instanceof RangeError || error instanceof TypeError
        : lost === undefined && !isConnectionLost(failure) && !(this.#phase !== 'work' && isBusy(failure));
    // The user's own error is the reason, whatever happened to the connection after it.
    if (isFinal) return this.#thrown === undefined ? error : this.#thrown.error;
    const { message } = this.#database.explain(lost ?? failure);
    return new TransactionFailed(message, {
      hasBegun: this.#phase !== 'begin',
      mayBeCommitted: this.#phase === 'commit' && isConnectionLost(failure),
      cause: error,
    });
  }

  async #begin(client: PgClient, leaseMs: number): Promise<string> {
    const mark = crypto.randomUUID();
    const settings = [
      'BEGIN ISOLATION LEVEL READ COMMITTED',
      `SET LOCAL idle_in_transaction_session_timeout = ${Math.min(MAX_TIMEOUT_MS, Math.max(1, Math.ceil(leaseMs)))}`,
      `SET LOCAL statement_timeout = ${this.#database.statementTimeoutMs}`,
      `SELECT set_config('fullmcp.transaction', '${mark}', true)`,
    ];
    await this.#query(client, settings.join('; '));
    return mark;
  }

  // The setting lasts as long as the transaction. After a COMMIT of the user's own, the changes could not be rolled back together.
  async #checkOpen(client: PgClient, mark: string): Promise<void> {
    const { rows } = await this.#query(client, `SELECT current_setting('fullmcp.transaction', true) AS mark`);
    const [row] = rows as { readonly mark: string | null }[];
    if (row?.mark === mark) return;
    throw new TypeError(
      'The transaction ended before its step did. Do not use COMMIT or ROLLBACK in a step: its writes and its journal are committed together when it returns.',
    );
  }

  #query(client: PgClient, text: string): ReturnType<PgClient['query']> {
    return client.query({ text, query_timeout: this.#database.patienceMs });
  }
}
