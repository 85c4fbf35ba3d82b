// Transactions that run the user's own statements, and end with a write of the store.

import type { Lease, StoreChange } from '../../state/store.js';
import { ConnectionLimit } from './database/connection-limit.js';
import type { PostgresDatabase } from './database/database.js';
import type { PgClient } from './database/pg.js';

/** Changes, and the lease under which they are made. */
export interface GuardedChanges {
  /** The changes, which are made or refused together. */
  readonly changes: readonly StoreChange[];
  /** The lease that must be held. Default: none. */
  readonly guard?: Lease;
}

/** The options of `transaction`. */
export interface TransactionOptions {
  /**
   * The longest time for which the transaction may wait for its process between two statements. The server then ends it, so that a
   * process that is paused does not hold its rows any longer. Set it to the length of the lease. Default: 15 s.
   */
  readonly leaseMs?: number;
}

/** The result of a transaction, or the condition that refused it. */
export type Committed<T> = CommittedResult<T> | RefusedTransaction;

/** The result of a transaction that was committed. */
export interface CommittedResult<T> {
  /** Whether the transaction was committed. */
  readonly ok: true;
  /** The result of the work. */
  readonly result: T;
  /** The lease of the change `enqueue` with `hold`. */
  readonly lease?: Lease;
}

/** A transaction that was rolled back. */
export interface RefusedTransaction {
  /** Whether the transaction was committed. */
  readonly ok: false;
  /** The lease that is no longer held, or the index of the first change whose condition is not met. */
  readonly refusedBy: 'guard' | number;
}

/** The longest time that a transaction waits for others to end. */
const WAIT_MS = 30_000;

/** Limits the transactions that are open at a time: the user's own code runs in them, for as long as it wants. */
export function transactionLimit(most: number): ConnectionLimit {
  return new ConnectionLimit(
    most,
    WAIT_MS,
    () =>
      new Error(
        `${most} transactions are open, and none of them ended within ${WAIT_MS} ms. Raise "poolSize", or make the steps shorter.`,
      ),
  );
}

/** A transaction: what the user does in it, and how it ends. */
export interface TransactionParts<T, R extends { readonly ok: boolean }> {
  readonly leaseMs: number;
  readonly work: (client: PgClient) => Promise<T>;
  /** Makes the last changes. The transaction is committed if the result is `ok`, and rolled back otherwise. */
  readonly finish: (client: PgClient, result: T) => Promise<R>;
}

/** Runs a transaction. An error of `work` rolls everything back and is thrown as it is. */
export async function inTransaction<T, R extends { readonly ok: boolean }>(
  database: PostgresDatabase,
  limit: ConnectionLimit,
  { leaseMs, work, finish }: TransactionParts<T, R>,
): Promise<R> {
  await database.ready();
  let thrown: { readonly error: unknown } | undefined;
  try {
    return await limit.run(() =>
      database.withClient(async (client) => {
        const query = (text: string): Promise<unknown> =>
          client.query({ text, query_timeout: database.statementTimeoutMs });
        try {
          const mark = crypto.randomUUID();
          await query(
            `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = ${Math.max(1, Math.ceil(leaseMs))}; SELECT set_config('fullmcp.transaction', '${mark}', true)`,
          );
          const result = await (async () => work(client))().catch((error: unknown) => {
            thrown = { error };
            throw error;
          });
          await checkOpen(database, client, mark);
          const written = await finish(client, result);
          await query(written.ok ? 'COMMIT' : 'ROLLBACK');
          return written;
        } catch (error) {
          // If this fails too, the connection is closed, which also rolls back.
          await query('ROLLBACK');
          throw error;
        }
      }),
    );
  } catch (error) {
    // The user's own error is the reason, whatever happened to the connection after it.
    throw thrown === undefined ? error : thrown.error;
  }
}

// The setting lasts as long as the transaction. After a COMMIT of the user's own, the changes could not be rolled back together.
async function checkOpen(database: PostgresDatabase, client: PgClient, mark: string): Promise<void> {
  const { rows } = await client.query({
    text: `SELECT current_setting('fullmcp.transaction', true) AS mark`,
    query_timeout: database.statementTimeoutMs,
  });
  const [row] = rows as { readonly mark: string | null }[];
  if (row?.mark === mark) return;
  throw new TypeError(
    'The transaction ended before its step did. Do not use COMMIT or ROLLBACK in a step: its writes and its journal are committed together when it returns.',
  );
}
