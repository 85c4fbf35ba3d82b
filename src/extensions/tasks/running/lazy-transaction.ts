// A transaction that begins with its first statement.

import type { StepTransaction } from '../../../server/asking/step-transaction.js';
import type { Lease, StoreChange } from '../../../state/store.js';
import type {
  Committed,
  RunTransaction,
  TransactionClient,
  TransactionQuery,
  TransactionResult,
} from '../../../state/transaction.js';

/** The parts of a `LazyTransaction`. */
export interface LazyTransactionParts {
  readonly run: RunTransaction;
  /** The lease under which the transaction is committed. */
  readonly lease: Lease;
  /** The longest time between two statements. */
  readonly leaseMs: number;
}

type Changes = readonly StoreChange[];

/** A transaction that begins with its first statement, and ends with `commit` or `rollBack`. */
export class LazyTransaction implements StepTransaction {
  readonly #parts: LazyTransactionParts;
  readonly #statements = new Set<Promise<unknown>>();
  readonly #connection = new StatementConnection((statement, values) => this.query(statement, values));
  /** The changes to commit. If it rejects, the transaction is rolled back. */
  readonly #changes = deferred<Changes>();
  readonly #client = deferred<TransactionClient>();
  #running: Promise<Committed<Changes>> | undefined;
  /** The reason why no statement is run any more. */
  #ended: Error | undefined;

  constructor(parts: LazyTransactionParts) {
    this.#parts = parts;
  }

  /** Whether the transaction has begun, or tried to. */
  get isUsed(): boolean {
    return this.#running !== undefined;
  }

  async query<Row>(
    statement: string | TransactionQuery,
    values?: readonly unknown[],
  ): Promise<TransactionResult<Row>> {
    if (this.#ended !== undefined) throw this.#ended;
    this.#begin();
    const result = this.#run(statement, values);
    this.#statements.add(result);
    try {
      return (await Promise.race([result, this.#changes.failed])) as TransactionResult<Row>;
    } finally {
      this.#statements.delete(result);
    }
  }

  client<Client>(): Client {
    return this.#connection as Client;
  }

  async #run(
    statement: string | TransactionQuery,
    values: readonly unknown[] | undefined,
  ): Promise<TransactionResult> {
    const client = await this.#client.promise;
    return client.query(statement, values);
  }

  #begin(): void {
    if (this.#running !== undefined) return;
    const { run, lease, leaseMs } = this.#parts;
    this.#running = run(
      (client) => {
        this.#client.resolve(client);
        return this.#changes.promise;
      },
      (changes) => ({ changes, guard: lease }),
      { leaseMs },
    );
    // A transaction that never begins fails its first statement.
    this.#running.catch((error) => this.#client.reject(error));
  }

  /** Commits the transaction together with these changes, after all statements. */
  async commit(changes: Changes): Promise<Committed<Changes>> {
    this.#ended ??= tooLate();
    await Promise.allSettled(this.#statements);
    this.#changes.resolve(changes);
    return this.#running as Promise<Committed<Changes>>;
  }

  /** Rolls back. Statements that are still waiting fail with this reason. Resolves with the error of the transaction. */
  async rollBack(reason: unknown): Promise<unknown> {
    this.#ended ??= reason instanceof Error ? reason : tooLate();
    this.#changes.reject(reason);
    return this.#running?.then(
      () => reason,
      (error: unknown) => error,
    );
  }
}

type Query = (
  statement: string | TransactionQuery,
  values?: readonly unknown[],
) => Promise<TransactionResult>;

/** The transaction in the shape of a pool and of a connection of `pg`, for libraries that take either. */
class StatementConnection {
  readonly #query: Query;

  constructor(query: Query) {
    this.#query = query;
  }

  query(statement: string | TransactionQuery, values?: readonly unknown[]): Promise<TransactionResult> {
    return this.#query(statement, values);
  }

  async connect(): Promise<this> {
    return this;
  }

  // The connection is returned when the step has ended.
  release(): void {}
  async end(): Promise<void> {}

  // A connection that breaks rejects the statements, and the step runs again.
  on(): this {
    return this;
  }
  off(): this {
    return this;
  }
}

interface Deferred<T> {
  readonly promise: Promise<T>;
  /** Never resolves; rejects with the promise. */
  readonly failed: Promise<never>;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: unknown) => void;
}

function deferred<T>(): Deferred<T> {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  const failed = new Promise<never>((_, onReject) => promise.catch(onReject));
  failed.catch(() => undefined);
  return { promise, failed, resolve, reject };
}

function tooLate(): Error {
  return new Error(
    'The step has ended, so this statement was not run. Await every statement before the step returns.',
  );
}
