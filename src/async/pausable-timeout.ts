/** The longest time that a timer can be set for: about 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A timeout whose clock stops during some of the work. Its signal aborts when the time is over. */
export class PausableTimeout {
  readonly #over = new AbortController();
  readonly #reason: () => unknown;
  #leftMs: number;
  #since = performance.now();
  #stops = 0;
  #isPaused = false;
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
    this.#stop();
    try {
      return await work();
    } finally {
      this.#start();
    }
  }

  /** Stops the clock until `resume`. A second pause changes nothing. */
  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#stop();
  }

  /** Ends the pause, if there is one. */
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#start();
  }

  /** Stops the clock permanently: the signal no longer aborts. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #stop(): void {
    if (this.#stops++ > 0) return;
    this.#spend();
    clearTimeout(this.#timer);
  }

  #start(): void {
    if (--this.#stops > 0) return;
    this.#since = performance.now();
    this.#arm();
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
