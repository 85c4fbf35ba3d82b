// The transactions of a task's steps.

import { type BackoffOptions, backoff, delay } from '../../../async/delay.js';
import type { Lifetime } from '../../../async/lifetime.js';
import { McpError } from '../../../protocol/errors.js';
import { type PendingTransaction, refusedTransaction } from '../../../server/asking/step-transaction.js';
import type { Logger } from '../../../server/state/log.js';
import type { Lease, Store } from '../../../state/store.js';
import { TransactionFailed, transactionsOf } from '../../../state/transaction.js';
import { Unsaveable } from '../stored/saving-errors.js';
import { LazyTransaction } from './lazy-transaction.js';
import type { SavedTask } from './saved-task.js';

/** The parts of a `TaskTransactions`. */
export interface TaskTransactionsParts {
  readonly store: Store;
  readonly saved: SavedTask;
  readonly lease: Lease;
  readonly leaseMs: number;
  readonly lifetime: Lifetime;
  readonly log: Logger;
}

const RETRY: BackoffOptions = { baseMs: 100, maxMs: 10_000, jitter: [0.75, 1] };
/** The number of times that a step runs whose transaction the database ends after it has begun. */
const MAX_RUNS = 5;

/**
 * The transactions of a task's steps. If the database or the connection ends a transaction, its step runs again, as it would after a
 * crash of the process. When the task ends in any way, open transactions are rolled back.
 */
export class TaskTransactions {
  readonly #parts: TaskTransactionsParts;
  readonly #open = new Set<LazyTransaction>();
  /** How often transactions of a step have failed: all of them, and those that had begun. */
  readonly #failures = new Map<string, { all: number; begun: number }>();
  #ended: Error | undefined;
  #stopListening: (() => void) | undefined;

  constructor(parts: TaskTransactionsParts) {
    this.#parts = parts;
  }

  make(step: string): PendingTransaction {
    const { store, lease, leaseMs, lifetime, saved } = this.#parts;
    if (this.#ended !== undefined) return refusedTransaction(this.#ended.message);
    const run = transactionsOf(store);
    if (run === undefined) return refusedTransaction(noTransactions(step));
    const transaction = new LazyTransaction({ run, lease, leaseMs });
    this.#open.add(transaction);
    this.#stopListening ??= lifetime.onEnd(() => this.close(lifetime.signal.reason as Error));
    return {
      transaction: {
        query: (statement, values) => transaction.query(statement, values),
        client: () => transaction.client(),
      },
      get isUsed() {
        return transaction.isUsed;
      },
      commit: async (key, result) => {
        try {
          const failure = await saved.saveStep([key, result], transaction);
          if (failure !== undefined) await this.#waitToRunAgain(step, failure);
          return failure === undefined;
        } catch (error) {
          await transaction.rollBack(error);
          if (!(error instanceof Unsaveable)) throw error;
          throw new McpError('internal_error', `The result of a step cannot be saved. ${error.message}`);
        } finally {
          this.#open.delete(transaction);
        }
      },
      rollBack: async (error) => {
        const reason = await transaction.rollBack(error);
        this.#open.delete(transaction);
        if (!TransactionFailed.is(reason)) return false;
        await this.#waitToRunAgain(step, reason);
        return true;
      },
    };
  }

  /** Rolls back the open transactions. */
  close(reason: Error): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#stopListening?.();
    for (const transaction of this.#open) void transaction.rollBack(reason);
    this.#open.clear();
  }

  /** Waits until the step can run again. Throws if its transactions have failed too often. */
  async #waitToRunAgain(step: string, failure: TransactionFailed): Promise<void> {
    const { lifetime, log, saved } = this.#parts;
    const failures = this.#failures.get(step) ?? { all: 0, begun: 0 };
    this.#failures.set(step, failures);
    if (failure.hasBegun) failures.begun++;
    if (failures.begun >= MAX_RUNS) throw failure;
    const what = `The transaction of the step "${step}" of task ${saved.place.id} failed. The step runs again.`;
    if (failures.all === 0) log('warning', what, failure);
    const ms = backoff(failures.all++, RETRY);
    await delay(ms, { signal: lifetime.signal, unref: true }).catch(() => undefined);
  }
}

function noTransactions(step: string): string {
  return `The step "${step}" has no transaction, because this server does not keep its tasks in Postgres. Pass cluster: postgres({ url }) to createServer.`;
}
