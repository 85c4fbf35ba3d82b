import { unref } from '../../async/unref.js';

/** Something whose time runs out unless it is looked after. */
export interface Timed {
  /** Acts if its time is over; otherwise gives the milliseconds until it wants to be looked at again. */
  readonly check: (now: number) => number;
}

const MAX_MS = 2 ** 31 - 1;

/** One timer for all calls of a client. Most end long before their time is over, and a timer for each costs as much as the call. */
export class Clock {
  readonly #all: () => readonly Timed[];
  #size = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #due = Number.POSITIVE_INFINITY;
  #closed = false;

  /** `all` gives what there is to look at; among it may be what has no limit and was never added. */
  constructor(all: () => readonly Timed[]) {
    this.#all = all;
  }

  /** One more: looks in `ms`, or sooner. */
  add(ms: number, now: number): void {
    this.#size += 1;
    if (now + ms < this.#due) this.#arm(now, ms);
    // While nothing waits, the timer is no reason for the process to go on; it need not be made again for the next call.
    else if (this.#size === 1) awake(this.#timer);
  }

  /** One less. */
  remove(): void {
    this.#size -= 1;
    if (this.#size > 0 || this.#timer === undefined) return;
    if (this.#closed || !unref(this.#timer)) this.#stop();
  }

  /** Keeps no timer any more for calls to come. Those that come all the same have their time. */
  close(): void {
    this.#closed = true;
    if (this.#size === 0) this.#stop();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#due = Number.POSITIVE_INFINITY;
  }

  #arm(now: number, ms: number): void {
    clearTimeout(this.#timer);
    this.#due = now + ms;
    this.#timer = setTimeout(() => this.#tick(), Math.min(Math.max(1, Math.ceil(ms)), MAX_MS));
  }

  #tick(): void {
    this.#stop();
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const timed of this.#all()) next = Math.min(next, timed.check(now));
    if (this.#size > 0 && next < Number.POSITIVE_INFINITY) this.#arm(now, next);
  }
}

function awake(timer: ReturnType<typeof setTimeout> | undefined): void {
  if (typeof timer === 'object') (timer as { ref?(): void }).ref?.();
}
