// Work that one process of a server does at a time, again and again: each chore is a key in a queue that is never empty.

import { type BackoffOptions, backoff, delay } from '../../../async/delay.js';
import { Lifetime } from '../../../async/lifetime.js';
import { Retries } from '../../../async/retries.js';
import type { Logger } from '../../../server/state/log.js';
import { ClaimedWork } from '../../../state/claimed-work.js';
import { LeaseKeeper } from '../../../state/lease-keeper.js';
import type { Lease, Store } from '../../../state/store.js';

/** Works while this process holds the lease. Resolves with the time until the chore is due again. */
type Chore = (lease: Lease, signal: AbortSignal) => Promise<number>;

/** The parts of a `Chores`. */
export interface ChoresParts {
  readonly store: Store;
  readonly queue: string;
  /** Finds a chore by its key; undefined if this process does not know it. */
  readonly find: (key: string) => Promise<Chore | undefined>;
  readonly leaseMs: number | undefined;
  readonly log: Logger;
}

const MAX_RUNNING = 16;
const RETRY: BackoffOptions = { baseMs: 250, maxMs: 60_000, jitter: [0.75, 1] };
/** The number of processes in a row that do not know a chore, before it is forgotten: a new version may be on its way for an hour. */
const MAX_UNKNOWN = 100;

/** The chores of a server, as one of its processes does them. */
export class Chores {
  readonly #parts: ChoresParts;
  readonly #leases: LeaseKeeper;
  readonly #claimed: ClaimedWork;
  readonly #added = new Set<string>();
  readonly #lifetime = new Lifetime();

  constructor(parts: ChoresParts) {
    const { store, queue, leaseMs, log } = parts;
    this.#parts = parts;
    this.#leases = new LeaseKeeper(store, {
      ...(leaseMs !== undefined && { leaseMs }),
      onFailure: (error) =>
        log(
          'warning',
          'The leases of the sources of events could not be renewed. The server retries.',
          error,
        ),
    });
    this.#claimed = new ClaimedWork({
      ...{ store, queue, log, leases: this.#leases, owner: crypto.randomUUID(), maxRunning: MAX_RUNNING },
      subject: 'the sources of events',
      work: (lease, signal) => this.#work(lease, signal),
    });
  }

  /** Begins with a chore, unless a process has done so. It stays in the queue from then on. */
  add(key: string): void {
    if (this.#added.has(key)) return;
    this.#added.add(key);
    void this.#enqueue(key);
    this.#claimed.start();
  }

  /** Makes a chore due now: there is news for it. */
  async hurry(key: string): Promise<void> {
    const { store, queue } = this.#parts;
    await store.write([{ do: 'enqueue', queue, key }]);
    this.#claimed.wake();
  }

  /** Leaves the chores to other processes. Work that is under way may end within `drainMs`. */
  async close(drainMs: number): Promise<void> {
    this.#lifetime.end('closed');
    const controller = new AbortController();
    await this.#claimed.close(delay(drainMs, { signal: controller.signal }).catch(() => undefined));
    controller.abort();
    this.#leases.close();
  }

  async #enqueue(key: string): Promise<void> {
    const retries = new Retries({ ...RETRY, until: this.#lifetime, unref: true });
    while (await retries.next()) {
      try {
        return await this.hurry(key);
      } catch (error) {
        if (retries.failures === 0)
          this.#parts.log('error', 'The sources of events could not be started. The server retries.', error);
      }
    }
  }

  async #work(lease: Lease, signal: AbortSignal): Promise<void> {
    const chore = await this.#parts.find(lease.key);
    if (chore === undefined) return this.#leave(lease);
    try {
      const restMs = await chore(lease, signal);
      await this.#release(lease, signal.aborted ? 0 : restMs, false);
    } catch (error) {
      if (!signal.aborted) await this.#release(lease, backoff(lease.attempt - 1, RETRY), true);
      else await this.#release(lease, 0, false);
      throw error;
    }
  }

  async #leave(lease: Lease): Promise<void> {
    const { store } = this.#parts;
    if (lease.attempt < MAX_UNKNOWN) return this.#release(lease, backoff(lease.attempt - 1, RETRY), true);
    this.#added.delete(lease.key);
    await store.write([{ do: 'dequeue', queue: lease.queue, key: lease.key }], { guard: lease });
  }

  async #release(lease: Lease, restMs: number, keepAttempt: boolean): Promise<void> {
    const inMs = Math.max(0, Math.ceil(restMs));
    await this.#parts.store.write([{ do: 'release', inMs, ...(keepAttempt && { keepAttempt }) }], {
      guard: lease,
    });
    this.#claimed.wake(inMs);
  }
}
