import { Retries } from '../../async/retries.js';
import type { Store, Version } from '../../state/store.js';
import { type Limiter, take } from './limiter.js';
import type { ReadRate } from './rate.js';

// The same rate for all processes of a server. An entry says how long before its expiry its calls are no longer ahead of the rate, so
// that only the store's clock counts.

/** An entry expires at least this much later than its calls are ahead of the rate, since stores round times. */
const SLACK_MS = 1000;
/**
 * A new expiry counts from the time of the write, a little after the read, and so delays the calls to come. With this much room, most
 * writes keep the expiry.
 */
const ROOM_MS = 10_000;
/**
 * Other processes may count a call between our read and our write. Each attempt of somebody succeeds, so that this many are rare, but
 * processes in step could refuse each other's writes for long.
 */
const CONTENDING = { baseMs: 1, maxMs: 50, jitter: [0, 1], maxAttempts: 50, unref: true } as const;
/** The time to wait if even they were not enough. */
const CROWDED_MS = 1000;

interface Waiting {
  readonly rate: ReadRate;
  readonly resolve: (waitMs: number) => void;
  readonly reject: (error: unknown) => void;
}

interface Known {
  readonly aheadMs: number;
  /** The time until the entry expires. */
  readonly leftMs: number;
  readonly version: Version | undefined;
}

/** Counts the calls of all processes that share a store. */
export function sharedLimiter(store: Store): Limiter {
  /** The calls that wait for each key: while one write is under way, the others are counted together with the next one. */
  const waiting = new Map<string, Waiting[]>();

  async function work(key: string, queue: Waiting[]): Promise<void> {
    try {
      while (queue.length > 0) {
        const calls = queue.splice(0);
        await count(key, calls).catch((error: unknown) => {
          for (const { reject } of calls) reject(error);
        });
      }
    } finally {
      waiting.delete(key);
    }
  }

  /** Counts some calls with one write. */
  async function count(key: string, calls: readonly Waiting[]): Promise<void> {
    const retries = new Retries(CONTENDING);
    while (await retries.next()) {
      const known = await read(key);
      let { aheadMs } = known;
      const waits = calls.map(({ rate }) => {
        const taken = take(aheadMs, rate);
        aheadMs = taken.aheadMs;
        return taken.waitMs;
      });
      if (aheadMs === known.aheadMs || (await write(key, { ...known, aheadMs }))) {
        for (const [at, { resolve }] of calls.entries()) resolve(waits[at] as number);
        return;
      }
    }
    for (const { resolve } of calls) resolve(CROWDED_MS);
  }

  async function read(key: string): Promise<Known> {
    const entry = await store.get(key);
    if (entry === undefined) return { aheadMs: 0, leftMs: 0, version: undefined };
    const { value, version, expiresInMs: leftMs = 0 } = entry;
    const { slackMs } = value;
    const aheadMs = leftMs - (typeof slackMs === 'number' ? slackMs : 0);
    return { aheadMs: Math.max(0, aheadMs), leftMs, version };
  }

  async function write(key: string, { aheadMs, leftMs, version }: Known): Promise<boolean> {
    const keepsExpiry = leftMs - aheadMs >= SLACK_MS;
    const ttlMs = keepsExpiry ? leftMs : Math.ceil(aheadMs) + ROOM_MS;
    const { ok } = await store.write([
      {
        do: 'put',
        key,
        value: { slackMs: ttlMs - aheadMs },
        ...(!keepsExpiry && { ttlMs }),
        if: version === undefined ? 'absent' : { version },
      },
    ]);
    return ok;
  }

  return {
    take(key, rate) {
      return new Promise((resolve, reject) => {
        const call = { rate, resolve, reject };
        const queue = waiting.get(key);
        if (queue !== undefined) return void queue.push(call);
        const first = [call];
        waiting.set(key, first);
        void work(key, first);
      });
    },
  };
}
