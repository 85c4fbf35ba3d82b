// Runs work that is claimed from a queue, a part of it at a time.

import { settlesWithin } from '../async/deadline.js';
import { Claims } from './claims.js';
import type { LeaseKeeper } from './lease-keeper.js';
import type { Lease, Store } from './store.js';

/** Waits for something. The work that waits takes no room in the meantime. */
export type Aside = <T>(something: Promise<T>) => Promise<T>;

/** The parts of a `ClaimedWork`. */
export interface ClaimedWorkParts {
  readonly store: Pick<Store, 'claim' | 'write'>;
  readonly queue: string;
  /** The name of the work, for messages: `webhooks`. */
  readonly subject: string;
  readonly leases: LeaseKeeper;
  /** The name of this process, for people who look into the store. */
  readonly owner: string;
  readonly maxRunning: number;
  /** Works under a lease, which is kept until the work has ended. The signal aborts when the lease is lost, and at the shutdown. */
  readonly work: (lease: Lease, signal: AbortSignal, aside: Aside) => Promise<void>;
  readonly log: (level: 'error', message: string, error: unknown) => void;
}

const LOOK_MS = 2000;
/** The time for work that was aborted to note how far it is. */
const ABORTED_MS = 1000;

/** Claims work from a queue and runs it, from `start` on. */
export class ClaimedWork {
  readonly #parts: ClaimedWorkParts;
  readonly #claims: Claims;
  readonly #running = new Map<Promise<void>, AbortController>();
  /** The number of those that only wait. */
  #aside = 0;

  constructor(parts: ClaimedWorkParts) {
    const { store, queue, subject, leases, owner, maxRunning, log } = parts;
    this.#parts = parts;
    this.#claims = new Claims({
      ...{ store, queue, leases },
      owner: () => owner,
      room: () => maxRunning + this.#aside - this.#running.size,
      take: (lease, requestedAt) => this.#run(lease, requestedAt),
      pauseMs: () => LOOK_MS,
      onFailure: (error) =>
        log('error', `The work of ${subject} could not be read from the store. The server retries.`, error),
    });
  }

  /** Begins to claim. */
  start(): void {
    void this.#claims.start();
  }

  /** Claims now, or after a time, because there is work. */
  wake(inMs = 0): void {
    this.#claims.wake(inMs);
  }

  /** Claims nothing more. Work that runs may end until the deadline, and is aborted then. */
  async close(deadline: Promise<void>): Promise<void> {
    await Promise.race([this.#claims.close(), deadline]);
    const ended = Promise.allSettled(this.#running.keys());
    await Promise.race([ended, deadline]);
    for (const controller of this.#running.values())
      controller.abort(new Error('The server is shutting down'));
    // A store that does not respond must not hold up the shutdown.
    await settlesWithin(ended, ABORTED_MS);
  }

  readonly #waitAside: Aside = async (something) => {
    this.#aside++;
    this.#claims.onRoom();
    try {
      return await something;
    } finally {
      this.#aside--;
    }
  };

  #run(lease: Lease, requestedAt: number): void {
    const { leases, work, subject, log } = this.#parts;
    const controller = new AbortController();
    leases.keep(lease, () => controller.abort(new Error('Another process does this work')), requestedAt);
    const running = work(lease, controller.signal, this.#waitAside)
      .catch((error: unknown) => {
        // The work is claimed again when its lease has ended.
        if (!controller.signal.aborted)
          log('error', `The work of ${subject} failed. The server tries again later.`, error);
      })
      .finally(() => {
        leases.drop(lease);
        this.#running.delete(running);
        this.#claims.onRoom();
      });
    this.#running.set(running, controller);
  }
}
