import { unref } from '../../async/unref.js';

// The timeouts of all calls of a client, on one timer.

/** Something with a deadline. */
export interface Timed {
  /** Acts if the deadline has passed; otherwise returns the milliseconds until the next check. */
  readonly check: (now: number) => number;
}

const MAX_MS = 2 ** 31 - 1;

/** One timer for all calls of a client. Most calls end long before their deadline, and a timer costs as much as a call. */
export class Clock {
  readonly #all: () => readonly Timed[];
  #size = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #due = Number.POSITIVE_INFINITY;
  #closed = false;

  /** `all` returns everything to check; it may include calls without a deadline, which were never added. */
  constructor(all: () => readonly Timed[]) {
    this.#all = all;
  }

  /** Counts one more call with a deadline, to be checked in `ms` or sooner. */
  add(ms: number, now: number): void {
    this.#size += 1;
    if (now + ms < this.#due) this.#arm(now, ms);
    // While no call waits, the timer is unreferenced, so that the process can exit; the next call uses the same timer.
    else if (this.#size === 1) awake(this.#timer);
  }

  /** Counts one call fewer. */
  remove(): void {
    this.#size -= 1;
    if (this.#size > 0 || this.#timer === undefined) return;
    if (this.#closed || !unref(this.#timer)) this.#stop();
  }

  /** Stops keeping a timer between calls. Calls that are added later still have their deadlines. */
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
