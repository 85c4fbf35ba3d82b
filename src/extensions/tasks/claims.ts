// Claims tasks that nobody works on, as many as this process has room for.

import { type BackoffOptions, backoff } from '../../async/delay.js';
import { unref } from '../../async/unref.js';
import type { Logger } from '../../server/state/log.js';
import type { LeaseKeeper } from '../../state/lease-keeper.js';
import type { Lease, Store } from '../../state/store.js';
import type { TaskKeys } from './stored/keys.js';
import { placeOfWork } from './stored/keys.js';
import { grown } from './stored/quota.js';

/** The parts of a `Claims`. */
export interface ClaimsParts {
  readonly store: Store;
  readonly keys: TaskKeys;
  readonly leases: LeaseKeeper;
  readonly leaseMs: number;
  /** The name of this process, for people who look into the store. */
  readonly owner: () => string;
  /** The number of tasks that this process can take up now. */
  readonly room: () => number;
  /** Takes up a task. `requestedAt` is the time of the claim, on a monotonic clock. */
  readonly takeUp: (lease: Lease, requestedAt: number) => void;
  /** Called with the number of unfinished tasks. */
  readonly onSize: (size: number) => void;
  readonly log: Logger;
}

// A claim is made when there may be work. The bus may lose a message, and a lease ends without one, so there is a claim now and
// then in any case.
const BUSY_MS = 1000;
const IDLE_MS = 5000;
const JITTER = [0.75, 1.25] as const;
const RETRY: BackoffOptions = { baseMs: 100, maxMs: 60_000, jitter: [0.75, 1] };
const SWEEP_MS = 60_000;
const SWEPT = 100;

/** Claims tasks from the queue, from `start` on. While the store is unavailable, it retries with growing delays. */
export class Claims {
  readonly #parts: ClaimsParts;
  #claiming: Promise<void> | undefined;
  #mustClaimAgain = false;
  #failures = 0;
  /** Whether there may be more work than this process had room for. */
  #isFull = false;
  #isStarted = false;
  #isClosed = false;
  /** Undefined until the first claim: reading the clock loads a part of Node that a server without tasks does not need. */
  #sweptAt: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: ClaimsParts) {
    this.#parts = parts;
  }

  /** Begins to claim tasks. Resolves when the first claim has been made, or has failed. */
  start(): Promise<void> {
    if (this.#isStarted || this.#isClosed) return this.#claiming ?? Promise.resolve();
    this.#isStarted = true;
    this.wake();
    return this.#claiming ?? Promise.resolve();
  }

  /** Claims tasks now, because there is work or room for it. */
  wake(): void {
    if (this.#isClosed || !this.#isStarted) return;
    if (this.#claiming !== undefined) {
      this.#mustClaimAgain = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#claiming = this.#claimAll().then((ms) => {
      this.#claiming = undefined;
      if (this.#isClosed) return;
      if (this.#mustClaimAgain && this.#failures === 0) {
        this.#mustClaimAgain = false;
        return this.wake();
      }
      this.#timer = setTimeout(() => this.wake(), ms);
      unref(this.#timer);
    });
  }

  /** Claims tasks if there was no room for all of them before. */
  onRoom(): void {
    if (this.#isFull) this.wake();
  }

  /** Claims nothing more. Resolves when the claim that is under way has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#claiming;
  }

  /** Claims as much as there is room for. Returns the time until the next claim. */
  async #claimAll(): Promise<number> {
    const { store, keys, onSize, log } = this.#parts;
    try {
      await this.#claim();
      const size = await store.size(keys.queue);
      onSize(size);
      this.#sweptAt ??= performance.now();
      if (performance.now() - this.#sweptAt >= SWEEP_MS) await this.sweep();
      this.#failures = 0;
      const [least, most] = JITTER;
      return (size > 0 ? BUSY_MS : IDLE_MS) * (least + Math.random() * (most - least));
    } catch (error) {
      if (this.#failures++ === 0 && !this.#isClosed)
        log('error', 'Unfinished tasks could not be read from the store. The server retries.', error);
      return backoff(this.#failures - 1, RETRY);
    }
  }

  async #claim(): Promise<void> {
    const { store, keys, leases, leaseMs, owner, room, takeUp } = this.#parts;
    // A process that was paused must not claim what it holds itself.
    if (leases.hasDoubt) await leases.renew();
    this.#isFull = true;
    for (let limit = room(); limit > 0 && !this.#isClosed; limit = room()) {
      const requestedAt = performance.now();
      const claimed = await store.claim(keys.queue, { owner: owner(), limit, ms: leaseMs });
      for (const lease of claimed) {
        if (this.#isClosed)
          void store.write([{ do: 'release', inMs: 0 }], { guard: lease }).catch(() => undefined);
        else takeUp(lease, requestedAt);
      }
      this.#isFull = claimed.length === limit;
      if (!this.#isFull) return;
    }
  }

  /** Removes the counts of finished tasks that have expired. The tasks themselves are removed by the store. */
  async sweep(): Promise<void> {
    const { store, keys, leaseMs, owner } = this.#parts;
    this.#sweptAt = performance.now();
    for (;;) {
      const expired = await store.claim(keys.expiryQueue, { owner: owner(), limit: SWEPT, ms: leaseMs });
      for (const lease of expired) {
        const bytes = Number(lease.key.slice(lease.key.lastIndexOf(':') + 1));
        const changes = grown(placeOfWork(lease.key), -bytes);
        await store.write([{ do: 'dequeue', queue: keys.expiryQueue, key: lease.key }, ...changes], {
          guard: lease,
        });
      }
      if (expired.length < SWEPT) return;
    }
  }
}
