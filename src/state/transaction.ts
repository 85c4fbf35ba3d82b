// Transactions in which a program's own statements are committed together with the changes of a store.

import type { JsonObject } from '../jsonrpc/message.js';
import type { Lease, Store, StoreChange } from './store.js';

/** A store in a database with transactions. */
export interface TransactionalStore extends Store {
  /** Runs transactions. A store that stands for others may not know before its first use whether they have any. */
  readonly transaction: RunTransaction | undefined;
  /**
   * Writes an entry that does not exist yet, in the transaction that is open on a connection of the program. Without it, events cannot be
   * emitted in transactions.
   */
  readonly putIn?: PutIn | undefined;
}

/** The transactions of a store; undefined if it has none. */
export function transactionsOf(store: Store): RunTransaction | undefined {
  const { transaction } = store as Partial<TransactionalStore>;
  return transaction?.bind(store);
}

/** Writes entries in transactions of the program; undefined if the store cannot. */
export function putInOf(store: Store): PutIn | undefined {
  const { putIn } = store as Partial<TransactionalStore>;
  return putIn?.bind(store);
}

/** Writes a new entry as a part of a transaction: it is there when the transaction is committed, and never if it is rolled back. */
export type PutIn = (client: TransactionClient, key: string, value: JsonObject) => Promise<void>;

/**
 * Runs `work` in a transaction, then makes the changes that belong to its result in the same transaction: both are committed, or
 * neither. An error of `work` rolls back and is thrown as it is. Rejects with `TransactionFailed` if the database or the connection
 * ended the transaction.
 */
export type RunTransaction = <T>(
  work: (client: TransactionClient) => Promise<T>,
  changesOf: (result: T) => GuardedChanges,
  options?: TransactionOptions,
) => Promise<Committed<T>>;

/** A connection that runs statements in a transaction. */
export interface TransactionClient {
  /** Runs a statement. */
  query(statement: string | TransactionQuery, values?: readonly unknown[]): Promise<TransactionResult>;
}

/** A statement with its parameters. */
export interface TransactionQuery {
  /** The statement, with `$1`, `$2` and so on for its parameters. */
  readonly text: string;
  /** The parameters. */
  readonly values?: unknown[];
}

/** The result of a statement. */
// biome-ignore lint/suspicious/noExplicitAny: the type of a row is known only to the author of its statement, as in pg itself.
export interface TransactionResult<Row = any> {
  /** The rows, by the names of their columns. */
  readonly rows: Row[];
  /** The number of rows that were read or changed; null if the statement has no such number. */
  readonly rowCount: number | null;
}

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
   * The longest time for which the transaction may wait for its process between two statements. The database then ends it, so that a
   * process that is paused does not hold its rows any longer. Set it to the length of the lease. Default: 15 s.
   */
  readonly leaseMs?: number;
}

/** The result of a transaction, or the condition that refused it. */
export type Committed<T> = CommittedResult<T> | RefusedTransaction;

/** The result of a transaction that was committed. */
type CommittedResult<T> = {
  /** Whether the transaction was committed. */
  readonly ok: true;
  /** The result of the work. */
  readonly result: T;
  /** The lease of the change `enqueue` with `hold`. */
  readonly lease?: Lease;
};

/** A transaction that was rolled back. */
type RefusedTransaction = {
  /** Whether the transaction was committed. */
  readonly ok: false;
  /** The lease that is no longer held, or the index of the first change whose condition is not met. */
  readonly refusedBy: 'guard' | number;
};

/** The state of a transaction that failed. */
export interface TransactionFailure {
  /** Whether a statement may have run. */
  readonly hasBegun: boolean;
  /** Whether the reply to its commit was lost, so that it may have been committed. Otherwise it was rolled back. */
  readonly mayBeCommitted: boolean;
  /** The error of the database. */
  readonly cause?: unknown;
}

const brand = Symbol.for('fullmcp.TransactionFailed');

/** The error of a transaction that the database or the connection ended, and that is likely to succeed if it is made again. */
export class TransactionFailed extends Error {
  /** Whether a statement may have run. */
  readonly hasBegun: boolean;
  /** Whether the reply to its commit was lost, so that it may have been committed. Otherwise it was rolled back. */
  readonly mayBeCommitted: boolean;

  constructor(message: string, { hasBegun, mayBeCommitted, cause }: TransactionFailure) {
    super(message, { cause });
    this.name = 'TransactionFailed';
    this.hasBegun = hasBegun;
    this.mayBeCommitted = mayBeCommitted;
    Object.defineProperty(this, brand, { value: true });
  }

  /** Whether a value is a `TransactionFailed`, of whichever copy of the package. */
  static is(value: unknown): value is TransactionFailed {
    return typeof value === 'object' && value !== null && brand in value;
  }
}
