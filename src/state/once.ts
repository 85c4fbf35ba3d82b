// Work that one process does for all of them, such as a refresh whose token can be used only once.

import { type BackoffOptions, backoff } from '../async/delay.js';
import { Retries } from '../async/retries.js';
import type { Lease, Store, StoreChange } from './store.js';

/** The parts of `Once`. */
export interface OnceParts {
  readonly store: Pick<Store, 'write' | 'claim'>;
  /** The queue of the work that is under way. */
  readonly queue: string;
  /** Longer than the work takes. If it takes longer all the same, or its process has died, another process does it. */
  readonly leaseMs: number;
  /** The time for which a process waits for the work of another one. */
  readonly waitMs: number;
}

/** Work that only one process does at a time. */
export interface SharedWork<T> {
  /** The name of the work: `group` or `group:rest`, with the group of the entries that are written under the lease. */
  readonly key: string;
  /** Finds the result if the work is done; undefined if it is not. */
  readonly find: () => Promise<T | undefined>;
  /** Does the work. A write that `lease` guards is refused as soon as another process does the work. */
  readonly work: (lease: Lease) => Promise<T>;
}

const POLLING: BackoffOptions = { baseMs: 100, maxMs: 1000 };
/** The time for which nobody tries again after a failure. It grows with each failure in a row, whichever process tries. */
const REST: BackoffOptions = { baseMs: 250, maxMs: 10_000 };
const MAX_CLAIMED = 100;

/** Does work once among all processes: while one does it under a lease, the others wait for the result. */
export class Once {
  readonly #parts: OnceParts;
  readonly #owner: string = crypto.randomUUID();

  constructor(parts: OnceParts) {
    this.#parts = parts;
  }

  /** The result of the work, done here or elsewhere; undefined if it was not there in time. Rejects if the work fails here. */
  async run<T>({ key, find, work }: SharedWork<T>): Promise<T | undefined> {
    const retries = new Retries({ ...POLLING, forMs: this.#parts.waitMs });
    while (await retries.next()) {
      const found = retries.failures > 0 ? await find() : undefined;
      if (found !== undefined) return found;
      const lease = await this.#take(key);
      if (lease !== undefined) return this.#do(lease, { find, work });
    }
    return undefined;
  }

  async #do<T>(lease: Lease, { find, work }: Omit<SharedWork<T>, 'key'>): Promise<T> {
    try {
      // Another process may have been faster than the lease.
      const result = (await find()) ?? (await work(lease));
      await this.#end(lease);
      return result;
    } catch (error) {
      await this.#rest(lease);
      throw error;
    }
  }

  async #take(key: string): Promise<Lease | undefined> {
    const { store, queue, leaseMs } = this.#parts;
    const hold = { owner: this.#owner, ms: leaseMs };
    const written = await store.write([{ do: 'enqueue', queue, key, hold }]);
    return written.ok ? written.lease : this.#claim(key);
  }

  /** Takes over the work that is due: nobody does it any more, because its process has died, or has failed and rested since. */
  async #claim(key?: string): Promise<Lease | undefined> {
    const { store, queue, leaseMs } = this.#parts;
    const leases = await store.claim(queue, { owner: this.#owner, limit: MAX_CLAIMED, ms: leaseMs });
    // Other work is forgotten: a process that needs it takes it anew.
    for (const lease of leases) if (lease.key !== key) await this.#end(lease);
    return leases.find((lease) => lease.key === key);
  }

  #end(lease: Lease): Promise<void> {
    const { queue, key } = lease;
    return this.#release(lease, { do: 'dequeue', queue, key });
  }

  async #rest(lease: Lease): Promise<void> {
    const inMs = Math.ceil(backoff(lease.attempt - 1, REST));
    await this.#release(lease, { do: 'release', inMs, keepAttempt: true });
    // So that failed work which nobody needs again does not stay in the queue.
    await this.#claim().catch(() => undefined);
  }

  /** The lease ends by itself, so that a failure here only delays the next attempt. */
  async #release(guard: Lease, change: StoreChange): Promise<void> {
    await this.#parts.store.write([change], { guard }).catch(() => undefined);
  }
}
