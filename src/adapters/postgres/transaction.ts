// Transactions that run the user's own statements, and end with a write of the store.

import { settlesWithin } from '../../async/deadline.js';
import type { PostgresDatabase } from './database/database.js';
import type { PgClient } from './database/pg.js';

/** Limits the transactions that are open at a time, so that connections are left for everything else. */
export class TransactionLimit {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #open = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Resolves when there is room for one more. Rejects if that takes too long. */
  async enter(): Promise<void> {
    if (this.#open < this.#most) {
      this.#open++;
      return;
    }
    let admit: () => void = () => undefined;
    const admitted = new Promise<void>((resolve) => {
      admit = resolve;
    });
    this.#waiting.push(admit);
    if (await settlesWithin(admitted, WAIT_MS)) return;
    const at = this.#waiting.indexOf(admit);
    if (at === -1) return;
    this.#waiting.splice(at, 1);
    throw new Error(
      `${this.#most} transactions are open, and none of them ended within ${WAIT_MS} ms. Raise "poolSize", or make the steps shorter.`,
    );
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#open--;
    else next();
  }
}

/** The longest time that a transaction waits for others to end. */
const WAIT_MS = 30_000;

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
  limit: TransactionLimit,
  { leaseMs, work, finish }: TransactionParts<T, R>,
): Promise<R> {
  await database.ready();
  await limit.enter();
  let thrown: { readonly error: unknown } | undefined;
  try {
    return await database.withClient(async (client) => {
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
    });
  } catch (error) {
    // The user's own error is the reason, whatever happened to the connection after it.
    throw thrown === undefined ? error : thrown.error;
  } finally {
    limit.leave();
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
