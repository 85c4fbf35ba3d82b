// Writes under a lease, one write at a time.

import { type BackoffOptions, backoff, delay } from '../../../async/delay.js';
import { Lifetime } from '../../../async/lifetime.js';
import type { Lease, Store, StoreChange } from '../../../state/store.js';
import { Unsaveable } from '../stored/saving-errors.js';

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

const RETRY: BackoffOptions = { baseMs: 100, maxMs: 10_000, jitter: [0.75, 1] };

/** Writes under a lease. A write that fails is retried as it is until its end is known, and the next one waits for it. */
export class LeaseWriter {
  readonly #parts: LeaseWriterParts;
  readonly #lifetime = new Lifetime();
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: LeaseWriterParts) {
    this.#parts = parts;
  }

  /** Runs `work` when all earlier work has ended. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Makes a write. Call it only in turn. Throws `Unsaveable` if the write can never be made. */
  async write(changes: readonly StoreChange[]): Promise<WriteEnd> {
    const { store, lease, onFailure } = this.#parts;
    for (let failures = 0; !this.#lifetime.ended; failures++) {
      try {
        const written = await store.write(changes, { guard: lease });
        if (written.ok) return 'made';
        if (written.refusedBy === 'guard') return 'lost';
        const refused = changes[written.refusedBy] as StoreChange;
        // Nobody else appends to the list, so the write that was reported as failed was made.
        return failures > 0 && refused.do === 'append' ? 'made' : refused;
      } catch (error) {
        if (error instanceof RangeError) throw new Unsaveable(error.message, error);
        if (failures === 0) onFailure(error);
      }
      const ms = backoff(failures, RETRY);
      await delay(ms, { signal: this.#lifetime.signal, unref: true }).catch(() => undefined);
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
