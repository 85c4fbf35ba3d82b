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
  readonly #options: RetriesOptions;
  readonly #endsAt: number;
  #made = 0;
  #failures = 0;

  constructor(options: RetriesOptions) {
    this.#options = options;
    this.#endsAt = performance.now() + (options.forMs ?? Number.POSITIVE_INFINITY);
  }

  /** The number of attempts that failed since the beginning, or since `reset`. */
  get failures(): number {
    return this.#failures;
  }

  /** Begins an attempt: the first one at once, the others after a pause. Resolves with false if there is to be none. */
  async next(): Promise<boolean> {
    const { until, maxAttempts = Number.POSITIVE_INFINITY, unref = false, ...pauses } = this.#options;
    if (until !== undefined && hasEnded(until)) return false;
    if (this.#made++ === 0) return true;
    const pauseMs = backoff(this.#failures++, pauses);
    if (this.#made > maxAttempts || performance.now() + pauseMs > this.#endsAt) return false;
    if (until === undefined) await delay(pauseMs, { unref });
    else await delay(pauseMs, { signal: until.signal, unref }).catch(() => undefined);
    return until === undefined || !hasEnded(until);
  }

  /** Notes a success: the pauses are short again. */
  reset(): void {
    this.#failures = 0;
  }
}

/** The options of `withRetries`. */
export interface WithRetriesOptions extends RetriesOptions {
  /** Whether the work must not be repeated after this error. May throw another error in its place. */
  readonly isFinal?: (error: unknown, failures: number) => boolean;
}

/**
 * Runs `work` until it succeeds. Rejects with its last error if no further attempt may be made, and with the reason of `until` if that
 * ends the attempts.
 */
export async function withRetries<T>(
  work: () => Promise<T>,
  { isFinal, ...options }: WithRetriesOptions,
): Promise<T> {
  const retries = new Retries(options);
  let last: unknown;
  while (await retries.next()) {
    try {
      return await work();
    } catch (error) {
      if (isFinal?.(error, retries.failures)) throw error;
      last = error;
    }
  }
  throw options.until !== undefined && hasEnded(options.until) ? options.until.signal.reason : last;
}
