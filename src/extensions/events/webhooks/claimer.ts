// Claims work from a queue, as much as this process has room for.

import { settlesWithin } from '../../../async/deadline.js';
import { type BackoffOptions, backoff } from '../../../async/delay.js';
import { unref } from '../../../async/unref.js';
import type { Logger } from '../../../server/state/log.js';
import type { LeaseKeeper } from '../../../state/lease-keeper.js';
import type { Lease, Store } from '../../../state/store.js';

/** The parts of a `Claimer`. */
export interface ClaimerParts {
  readonly store: Store;
  readonly queue: string;
  /** The name of the work, for messages: `webhooks`. */
  readonly subject: string;
  readonly leases: LeaseKeeper;
  /** The name of this process, for people who look into the store. */
  readonly owner: string;
  readonly maxRunning: number;
  /** Works under a lease, which is kept until the work has ended. The signal aborts when the lease is lost, and at the shutdown. */
  readonly work: (lease: Lease, signal: AbortSignal) => Promise<void>;
  readonly log: Logger;
}

// There is a claim now and then in any case: the bus may lose a message, and a lease ends without one.
const LOOK_MS = 2000;
const JITTER = [0.75, 1.25] as const;
/** The time for work that was aborted to note how far it is. */
const ABORTED_MS = 1000;
const RETRY: BackoffOptions = { baseMs: 100, maxMs: 60_000, jitter: [0.75, 1] };

/** Claims work from a queue and runs it, from `start` on. While the store is unavailable, it retries with growing delays. */
export class Claimer {
  readonly #parts: ClaimerParts;
  readonly #running = new Map<Promise<void>, AbortController>();
  #claiming: Promise<void> | undefined;
  #mustClaimAgain = false;
  #isFull = false;
  #failures = 0;
  #isStarted = false;
  #isClosed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(parts: ClaimerParts) {
    this.#parts = parts;
  }

  /** Begins to claim. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.wake();
  }

  /** Claims now, or after a time, because there is work. */
  wake(inMs = 0): void {
    if (this.#isClosed || !this.#isStarted) return;
    if (inMs > 0) return this.#wakeIn(inMs);
    if (this.#claiming !== undefined) {
      this.#mustClaimAgain = true;
      return;
    }
    this.#clear();
    this.#claiming = this.#claim().then((ms) => {
      this.#claiming = undefined;
      if (this.#isClosed) return;
      if (this.#mustClaimAgain && this.#failures === 0) {
        this.#mustClaimAgain = false;
        this.wake();
      } else this.#wakeIn(ms);
    });
  }

  /** Claims nothing more. Work that runs may end until the deadline, and is aborted then. */
  async close(deadline: Promise<void>): Promise<void> {
    this.#isClosed = true;
    this.#clear();
    await Promise.race([this.#claiming, deadline]);
    const ended = Promise.allSettled(this.#running.keys());
    await Promise.race([ended, deadline]);
    for (const controller of this.#running.values())
      controller.abort(new Error('The server is shutting down'));
    // A store that does not respond must not hold up the shutdown.
    await settlesWithin(ended, ABORTED_MS);
  }

  #wakeIn(ms: number): void {
    const at = performance.now() + ms;
    if (at >= this.#timerAt || this.#isClosed) return;
    this.#clear();
    this.#timerAt = at;
    this.#timer = setTimeout(() => {
      this.#clear();
      this.wake();
    }, ms);
    unref(this.#timer);
  }

  #clear(): void {
    clearTimeout(this.#timer);
    this.#timerAt = Number.POSITIVE_INFINITY;
  }

  /** Claims as much as there is room for. Returns the time until the next claim. */
  async #claim(): Promise<number> {
    const { store, queue, leases, owner, maxRunning, subject, log } = this.#parts;
    try {
      // A process that was paused must not claim what it holds itself.
      if (leases.hasDoubt) await leases.renew();
      for (;;) {
        const limit = maxRunning - this.#running.size;
        this.#isFull = limit <= 0;
        if (limit <= 0 || this.#isClosed) break;
        const requestedAt = performance.now();
        const claimed = await store.claim(queue, { owner, limit, ms: leases.leaseMs });
        for (const lease of claimed) this.#run(lease, requestedAt);
        if (claimed.length < limit) break;
      }
      this.#failures = 0;
      const [least, most] = JITTER;
      return LOOK_MS * (least + Math.random() * (most - least));
    } catch (error) {
      if (this.#failures++ === 0 && !this.#isClosed)
        log('error', `The work of ${subject} could not be read from the store. The server retries.`, error);
      return backoff(this.#failures - 1, RETRY);
    }
  }

  #run(lease: Lease, requestedAt: number): void {
    const { leases, work, subject, log } = this.#parts;
    const controller = new AbortController();
    leases.keep(lease, () => controller.abort(new Error('Another process does this work')), requestedAt);
    const running = work(lease, controller.signal)
      .catch((error: unknown) => {
        // The work is claimed again when its lease has ended.
        if (!controller.signal.aborted)
          log('error', `The work of ${subject} failed. The server tries again later.`, error);
      })
      .finally(() => {
        leases.drop(lease);
        this.#running.delete(running);
        if (this.#isFull) this.wake();
      });
    this.#running.set(running, controller);
  }
}
