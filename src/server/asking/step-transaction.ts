// The transaction of a step, as its function sees it.

import { McpError } from '../../protocol/errors.js';
import type { TransactionQuery, TransactionResult } from '../../state/transaction.js';

/**
 * The transaction of a step. Its statements and the record of the step are committed together when the step's function returns, and
 * rolled back together when it throws. The transaction begins with the first statement; a step without one costs nothing.
 */
export interface StepTransaction {
  /** Runs a statement in the transaction. */
  // biome-ignore lint/suspicious/noExplicitAny: the type of a row is known only to the author of its statement, as in pg itself.
  query<Row = any>(
    statement: string | TransactionQuery,
    values?: readonly unknown[],
  ): Promise<TransactionResult<Row>>;
  /**
   * The connection of the transaction, for a library that expects one of `pg`: `drizzle(transaction.client<PoolClient>())`, or
   * `new PostgresDialect({ pool: transaction.client<Pool>() })` with Kysely. It has `query`, `connect`, `release` and `end`.
   */
  client<Client>(): Client;
}

/** A transaction that a step may use, and how it ends. */
export interface PendingTransaction {
  /** The transaction, as the step's function sees it. */
  readonly transaction: StepTransaction;
  /** Whether it was used. Only then it must end. */
  readonly isUsed: boolean;
  /** Whether it rejects every statement. */
  readonly isRefused?: true;
  /**
   * Commits the transaction together with the record of the step. Returns false if the database ended the transaction instead: the
   * step must run again. Throws if the step cannot be saved.
   */
  readonly commit: (key: string, result: unknown) => Promise<boolean>;
  /**
   * Rolls back, because the step's function has failed with this error. Returns true if the database ended the transaction before:
   * the step must run again.
   */
  readonly rollBack: (error: unknown) => Promise<boolean>;
}

/** Makes a transaction that rejects every statement with this reason. */
export function refusedTransaction(reason: string): PendingTransaction {
  const refuse = (): never => {
    throw new McpError('internal_error', reason);
  };
  return {
    transaction: { query: async () => refuse(), client: refuse },
    isUsed: false,
    isRefused: true,
    commit: async () => true,
    rollBack: async () => false,
  };
}

/** The reason why the steps of an ordinary call have no transaction. */
export function noTask(key: string): string {
  return `The step "${key}" has no transaction, because this call is not a task: only the steps of tasks are recorded in the database. Give the tool task: 'required'.`;
}
