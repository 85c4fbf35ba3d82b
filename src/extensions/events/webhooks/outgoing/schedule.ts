// The times at which a message is sent again.

/** The delays before the further attempts. The first one is short, because a receiver may still be waiting for the id of its subscription. */
const DELAYS_MS = [1000, 5000, 30_000, 120_000] as const;
/** A receiver may ask for more time, within reason: its events wait in the store. */
const MAX_ASKED_MS = 300_000;
/** Never less than the delay, so that a receiver which has just failed has the time. */
const JITTER = 0.25;

/** The time until the next attempt after this many have failed; undefined if there is to be none. */
export function retryInMs(failures: number, askedMs: number = 0): number | undefined {
  const delay = DELAYS_MS[failures - 1];
  if (delay === undefined) return undefined;
  return Math.ceil(Math.max(delay * (1 + Math.random() * JITTER), Math.min(askedMs, MAX_ASKED_MS)));
}
