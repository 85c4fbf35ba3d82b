// The line that says what a command waits for, once that takes longer than a moment.

import { unref } from '../../async/unref.js';

/** Most answers come earlier, and a line that flashes is harder to read than none. */
const FIRST_MS = 400;

export class WaitingLine {
  /** Whether another line, such as the progress of a call, says more than this one. */
  isReplaced = false;
  readonly #draw: (text: string) => void;
  #what: (() => string) | undefined;
  #since = 0;
  #pauses = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(draw: (text: string) => void) {
    this.#draw = draw;
  }

  /** Shows what is waited for, from now on. Without it, nothing is. */
  show(what?: string | (() => string)): void {
    clearTimeout(this.#timer);
    if (this.#what !== undefined && !this.isReplaced) this.#draw('');
    this.#what = typeof what === 'string' ? () => what : what;
    this.isReplaced = false;
    this.#since = performance.now();
    if (this.#what !== undefined) this.#next(FIRST_MS);
  }

  get isPaused(): boolean {
    return this.#pauses > 0;
  }

  pause(): void {
    this.#pauses++;
  }

  resume(): void {
    this.#pauses--;
  }

  #next(ms: number): void {
    this.#timer = setTimeout(() => this.#tick(), ms);
    unref(this.#timer);
  }

  #tick(): void {
    const what = this.#what;
    if (what === undefined) return;
    const waitedMs = performance.now() - this.#since;
    const seconds = Math.floor(waitedMs / 1000);
    if (!this.isPaused && !this.isReplaced) this.#draw(`${what()} …${seconds > 0 ? ` ${seconds} s` : ''}`);
    // The next whole second; a timer that is early must not show the last one again.
    this.#next(Math.max(50, (seconds + 1) * 1000 - waitedMs));
  }
}
