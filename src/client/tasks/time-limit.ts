const MAX_TIMER_MS = 2 ** 31 - 1;

/** A limit whose time stands still while the user answers. Its signal aborts when the time is over. */
export class TimeLimit {
  readonly #over = new AbortController();
  readonly #late: () => Error;
  #leftMs: number;
  #since = performance.now();
  #paused = 0;
  #ended = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number, late: () => Error) {
    this.#leftMs = ms;
    this.#late = late;
    this.#arm();
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Does something whose time does not count. */
  async without<T>(work: () => Promise<T>): Promise<T> {
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

  /** Leaves no timer behind. */
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
      // A timer may come a little early, and none can be set for longer than 24 days.
      if (this.#leftMs > 1) this.#arm();
      else this.#over.abort(this.#late());
    }, ms);
  }
}
