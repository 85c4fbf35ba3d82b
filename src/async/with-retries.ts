import { hasEnded } from './lifetime.js';
import { Retries, type RetriesOptions } from './retries.js';

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
