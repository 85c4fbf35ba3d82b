// Writes under a lease, one write at a time.

import { Lifetime } from '../../../async/lifetime.js';
import { Retries, type RetriesOptions } from '../../../async/retries.js';
import { Turns } from '../../../async/turns.js';
import type { Append, Lease, Store, StoreChange } from '../../../state/store.js';
import { TransactionFailed } from '../../../state/transaction.js';
import { Unsaveable } from '../stored/saving-errors.js';
import type { LazyTransaction } from './lazy-transaction.js';

/** The parts of a `LeaseWriter`. */
export interface LeaseWriterParts {
  readonly store: Store;
  readonly lease: Lease;
  /** Called with the first of several failures in a row. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * The end of a write: it was made; the lease is held by somebody else; the writer was closed before the end was known; or the
 * condition of this change was not met.
 */
export type WriteEnd = 'made' | 'lost' | 'closed' | StoreChange;

/** The end of a commit that was rolled back. */
export interface Undone {
  readonly failure: TransactionFailed;
  /** Whether an empty item took the place of the item that was to be appended. */
  readonly isVoided: boolean;
}

const RETRY: RetriesOptions = { baseMs: 100, maxMs: 10_000, jitter: [0.75, 1], unref: true };

/** Writes under a lease. A write that fails is retried as it is until its end is known, and the next one waits for it. */
export class LeaseWriter {
  readonly #parts: LeaseWriterParts;
  readonly #lifetime = new Lifetime();
  readonly #turns = new Turns();

  constructor(parts: LeaseWriterParts) {
    this.#parts = parts;
  }

  /** Runs `work` when all earlier work has ended. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.take(work);
  }

  /** Makes a write. Call it only in turn. Throws `Unsaveable` if the write can never be made. */
  async write(changes: readonly StoreChange[]): Promise<WriteEnd> {
    const { store, lease, onFailure } = this.#parts;
    const retries = new Retries({ ...RETRY, until: this.#lifetime });
    while (await retries.next()) {
      try {
        const written = await store.write(changes, { guard: lease });
        if (written.ok) return 'made';
        if (written.refusedBy === 'guard') return 'lost';
        const refused = changes[written.refusedBy] as StoreChange;
        // Nobody else appends to the list, so the write that was reported as failed was made.
        return retries.failures > 0 && refused.do === 'append' ? 'made' : refused;
      } catch (error) {
        if (error instanceof RangeError) throw new Unsaveable(error.message, error);
        if (retries.failures === 0) onFailure(error);
      }
    }
    return 'closed';
  }

  /**
   * Commits a transaction together with changes, of which the first one appends an item. Call it only in turn. Throws `Unsaveable` if
   * the changes can never be made, and the transaction's own error if it cannot be committed.
   */
  async commit(changes: readonly StoreChange[], transaction: LazyTransaction): Promise<WriteEnd | Undone> {
    try {
      const written = await transaction.commit(changes);
      if (written.ok) return 'made';
      return written.refusedBy === 'guard' ? 'lost' : (changes[written.refusedBy] as StoreChange);
    } catch (error) {
      if (error instanceof RangeError) throw new Unsaveable(error.message, error);
      if (!TransactionFailed.is(error)) throw error;
      if (!error.mayBeCommitted) return { failure: error, isVoided: false };
      const end = await this.#void(changes[0] as Append);
      return end === 'voided' ? { failure: error, isVoided: true } : end;
    }
  }

  /**
   * Finds out whether a transaction was committed whose reply was lost. An empty item in the place of its own keeps it from being
   * committed later. If the place is taken, it was committed.
   */
  async #void({ list, name }: Append): Promise<'voided' | 'made' | 'lost' | 'closed'> {
    const { store, lease } = this.#parts;
    const retries = new Retries({ ...RETRY, until: this.#lifetime });
    while (await retries.next()) {
      try {
        const written = await store.write([{ do: 'append', list, name, value: {} }], { guard: lease });
        if (written.ok) return 'voided';
        if (written.refusedBy === 'guard') return 'lost';
        // The reply to an earlier attempt at this write may have been lost, too.
        const item = (await store.items(list)).find((each) => each.name === name);
        if (item !== undefined) return Object.keys(item.value).length === 0 ? 'voided' : 'made';
      } catch {
        // The database is still unavailable.
      }
    }
    return 'closed';
  }

  /** Stops retrying. */
  close(): void {
    this.#lifetime.end('closed');
  }

  /** Resolves when no write is under way. */
  idle(): Promise<void> {
    return this.inTurn(async () => undefined);
  }
}
