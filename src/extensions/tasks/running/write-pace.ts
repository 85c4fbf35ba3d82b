// The pace of writes that nobody waits for.

import { unref } from '../../../async/unref.js';

// The shortest interval between two writes of the head for changes that nobody waits for, such as progress, and the multiple of
// the time that such a write takes. A process that wants to cancel the task must find the head unchanged for a moment.
const EVERY_MS = 100;
const EVERY_WRITES = 10;

/** The pace at which changes are written that nobody waits for, such as progress. */
export class WritePace {
  readonly #write: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The time, on a monotonic clock, from which on such changes are written again. */
  #dueAt = 0;

  /** `write` is called when changes are due that `soon` has announced. */
  constructor(write: () => void) {
    this.#write = write;
  }

  get isDue(): boolean {
    return performance.now() >= this.#dueAt;
  }

  /** Writes at once if that is due, and otherwise when it is. */
  soon(): void {
    if (this.#timer !== undefined) return;
    const waitMs = this.#dueAt - performance.now();
    if (waitMs <= 0) return this.#write();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#write();
    }, waitMs);
    unref(this.#timer);
  }

  /** Notes a write that began at this time and has just ended. */
  noteWrite(startedAt: number): void {
    const endedAt = performance.now();
    this.#dueAt = endedAt + Math.max(EVERY_MS, EVERY_WRITES * (endedAt - startedAt));
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
