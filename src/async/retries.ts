import { type BackoffOptions, backoff, delay } from './delay.js';
import { hasEnded, type WithSignal } from './lifetime.js';

// Attempts with growing pauses between them.

/** The options of `Retries`. */
export interface RetriesOptions extends BackoffOptions {
  /** Ends the attempts, and the pause between two of them: a call, a lifetime or an AbortController. */
  readonly until?: WithSignal | undefined;
  /** The largest number of attempts. */
  readonly maxAttempts?: number;
  /** The time, in milliseconds from now, after which no further attempt begins. */
  readonly forMs?: number;
  /** Whether the process may end during a pause. */
  readonly unref?: boolean;
}

/** Attempts at something that may fail at first: `while (await retries.next()) { … }`. */
export class Retries {
  /** The number of attempts that failed in a row. Set it to 0 after a success, so that the pauses are short again. */
  failures = 0;
  readonly #options: RetriesOptions;
  readonly #endsAt: number;
  #made = 0;

  constructor(options: RetriesOptions) {
    this.#options = options;
    this.#endsAt = performance.now() + (options.forMs ?? Number.POSITIVE_INFINITY);
  }

  /** Begins an attempt: the first one at once, the others after a pause. Resolves with false if there is to be none. */
  async next(): Promise<boolean> {
    const { until, maxAttempts = Number.POSITIVE_INFINITY, unref = false } = this.#options;
    if (this.#made++ > 0 && !(until && hasEnded(until))) {
      const pauseMs = backoff(this.failures++, this.#options);
      if (this.#made > maxAttempts || performance.now() + pauseMs > this.#endsAt) return false;
      await delay(pauseMs, { signal: until?.signal, unref }).catch(() => undefined);
    }
    return !(until && hasEnded(until));
  }
}
