import type { ReadRate } from './rate.js';

// GCRA: of each key, one number is known, the time until which its calls are ahead of the rate.

/** Counts calls. */
export interface Limiter {
  /** Counts a call. The time to wait if it is one too many, and was not counted; otherwise 0. */
  take(key: string, rate: ReadRate): number | Promise<number>;
}

/** A decision about one call. */
export interface Taken {
  /** The time to wait; 0 if the call was counted. */
  readonly waitMs: number;
  /** The time that the calls are ahead of the rate now. */
  readonly aheadMs: number;
}

/** Counts a call of a key whose calls are ahead of the rate by `aheadMs`. */
export function take(aheadMs: number, { everyMs, toleranceMs }: ReadRate): Taken {
  const ahead = Math.max(0, aheadMs);
  return ahead > toleranceMs
    ? { waitMs: ahead - toleranceMs, aheadMs: ahead }
    : { waitMs: 0, aheadMs: ahead + everyMs };
}

/** The options of `memoryLimiter`. */
export interface MemoryLimiterOptions {
  /** The largest number of keys that are known at a time. */
  readonly maxKeys: number;
  /** The time in milliseconds, from a clock that is never set. */
  readonly now?: () => number;
}

/** Counts the calls of one process. */
export function memoryLimiter({ maxKeys, now = () => performance.now() }: MemoryLimiterOptions): Limiter {
  /** The time at which each key's calls are no longer ahead of the rate, in the order of their last calls. */
  const until = new Map<string, number>();

  function makeRoom(at: number): void {
    for (const [key, time] of until) {
      // Without room, the key that was used the longest ago is forgotten: a flood of new keys costs memory for a while, never more.
      if (time > at && until.size < maxKeys) return;
      until.delete(key);
    }
  }

  return {
    take(key, rate) {
      const at = now();
      const known = until.get(key);
      const { waitMs, aheadMs } = take(known === undefined ? 0 : known - at, rate);
      if (waitMs > 0) return waitMs;
      // Removed first, so that it becomes the last one.
      if (known !== undefined) until.delete(key);
      else if (until.size >= maxKeys) makeRoom(at);
      until.set(key, at + aheadMs);
      return 0;
    },
  };
}
