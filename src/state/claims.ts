// Claims work from a queue, as much as this process has room for.

import { type BackoffOptions, backoff } from '../async/delay.js';
import { unref } from '../async/unref.js';
import type { LeaseKeeper } from './lease-keeper.js';
import type { Lease, Store } from './store.js';

/** The parts of a `Claims`. */
export interface ClaimsParts {
  readonly store: Pick<Store, 'claim' | 'write'>;
  readonly queue: string;
  readonly leases: LeaseKeeper;
  /** The name of this process, for people who look into the store. */
  readonly owner: () => string;
  /** The amount of work that this process can take now. */
  readonly room: () => number;
  /** Takes work. `requestedAt` is the time of the claim, on a monotonic clock. */
  readonly take: (lease: Lease, requestedAt: number) => void;
  /**
   * Called after each claim, for the time until the next one. There is a claim now and then in any case: the bus may lose a message, and a
   * lease ends without one.
   */
  readonly pauseMs: () => number | Promise<number>;
  /** Called with the first of several failures in a row. */
  readonly onFailure: (error: unknown) => void;
}

const JITTER = [0.75, 1.25] as const;
const RETRY: BackoffOptions = { baseMs: 100, maxMs: 60_000, jitter: [0.75, 1] };

/** Claims work, from `start` on. While the store is unavailable, it retries with growing delays. */
export class Claims {
  readonly #parts: ClaimsParts;
  #claiming: Promise<void> | undefined;
  #mustClaimAgain = false;
  #failures = 0;
  /** Whether there may be more work than this process had room for. */
  #isFull = false;
  #isStarted = false;
  #isClosed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(parts: ClaimsParts) {
    this.#parts = parts;
  }

  /** Begins to claim. Resolves when the first claim has been made, or has failed. */
  start(): Promise<void> {
    if (!this.#isStarted) {
      this.#isStarted = true;
      this.wake();
    }
    return this.#claiming ?? Promise.resolve();
  }

  /** Claims now, or after a time, because there is work. */
  wake(inMs = 0): void {
    if (this.#isClosed || !this.#isStarted) return;
    if (inMs > 0) return this.#wakeIn(inMs);
    if (this.#claiming !== undefined) {
      this.#mustClaimAgain = true;
      return;
    }
    this.#claiming = this.#claim().then((ms) => {
      this.#claiming = undefined;
      if (this.#isClosed) return;
      if (this.#mustClaimAgain && this.#failures === 0) {
        this.#mustClaimAgain = false;
        this.wake();
      } else this.#wakeIn(ms);
    });
  }

  /** Claims if there was no room for all of the work before. */
  onRoom(): void {
    if (this.#isFull) this.wake();
  }

  /** Claims nothing more. Resolves when the claim that is under way has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#claiming;
  }

  // The earliest time counts: a claim in between must not delay work that is due then.
  #wakeIn(ms: number): void {
    const at = performance.now() + ms;
    if (at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#arm();
  }

  // A timer counts from the beginning of its turn of the event loop, so it may fire before the time, when the work is not due yet.
  #arm(): void {
    this.#timer = setTimeout(
      () => {
        if (performance.now() < this.#timerAt) return this.#arm();
        this.#timerAt = Number.POSITIVE_INFINITY;
        this.wake();
      },
      Math.ceil(this.#timerAt - performance.now()),
    );
    unref(this.#timer);
  }

  /** Claims as much as there is room for. Returns the time until the next claim. */
  async #claim(): Promise<number> {
    const { pauseMs, onFailure } = this.#parts;
    try {
      await this.#claimAll();
      const ms = await pauseMs();
      this.#failures = 0;
      const [least, most] = JITTER;
      return ms * (least + Math.random() * (most - least));
    } catch (error) {
      if (this.#failures++ === 0 && !this.#isClosed) onFailure(error);
      return backoff(this.#failures - 1, RETRY);
    }
  }

  async #claimAll(): Promise<void> {
    const { store, queue, leases, owner, room, take } = this.#parts;
    // A process that was paused must not claim what it holds itself.
    if (leases.hasDoubt) await leases.renew();
    this.#isFull = true;
    for (let limit = room(); limit > 0 && !this.#isClosed; limit = room()) {
      const requestedAt = performance.now();
      const claimed = await store.claim(queue, { owner: owner(), limit, ms: leases.leaseMs });
      for (const lease of claimed) {
        if (this.#isClosed)
          void store.write([{ do: 'release', inMs: 0 }], { guard: lease }).catch(() => undefined);
        else take(lease, requestedAt);
      }
      this.#isFull = claimed.length === limit;
      if (!this.#isFull) return;
    }
  }
}
