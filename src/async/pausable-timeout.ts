/** The longest time that a timer can be set for: about 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A timeout whose clock stops during some of the work. Its signal aborts when the time is over. */
export class PausableTimeout {
  readonly #over = new AbortController();
  readonly #reason: () => unknown;
  #leftMs: number;
  #since = performance.now();
  #paused = 0;
  #ended = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number, reason: () => unknown) {
    this.#leftMs = ms;
    this.#reason = reason;
    this.#arm();
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Runs `work` with the clock stopped. */
  async pauseFor<T>(work: () => Promise<T>): Promise<T> {
    if (this.#paused++ === 0) {
      this.#spend();
      clearTimeout(this.#timer);
    }
    try {
      return await work();
    } finally {
      if (--this.#paused === 0) {
        this.#since = performance.now();
        this.#arm();
      }
    }
  }

  /** Stops the clock permanently: the signal no longer aborts. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #spend(): void {
    const now = performance.now();
    this.#leftMs -= now - this.#since;
    this.#since = now;
  }

  #arm(): void {
    if (this.#ended || this.#leftMs === Number.POSITIVE_INFINITY) return;
    const ms = Math.min(Math.max(this.#leftMs, 0), MAX_TIMER_MS);
    this.#timer = setTimeout(() => {
      this.#spend();
      // A timer may fire a little early, or before the time is over because it could not be set for longer.
      if (this.#leftMs > 1) this.#arm();
      else this.#over.abort(this.#reason());
    }, ms);
  }
}
