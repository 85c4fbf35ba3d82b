// Frees the idempotency key of a call that did not run.

import { type BackoffOptions, backoff, delay } from '../../async/delay.js';
import type { Dequeue, Store } from '../../state/store.js';

/** A claim of a key whose write failed. */
export interface FailedClaim {
  /** The key of the entry that the claim wrote. */
  readonly key: string;
  /** The mark of the claim in that entry. */
  readonly claim: string;
  /** The change that ends the lease of the claim. */
  readonly done: Dequeue;
}

const GIVE_UP_MS = 60_000;
const RETRY: BackoffOptions = { baseMs: 100, maxMs: 2000, jitter: [0.75, 1] };

/**
 * Frees a key whose claim failed: the store may have made the write, and only its reply was lost. The client was told that the call
 * did not run, and may repeat it. Returns whether the key had to be freed.
 */
export async function freeKey(store: Store, { key, claim, done }: FailedClaim): Promise<boolean> {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  for (let attempt = 0; performance.now() < giveUpAt; attempt++) {
    try {
      const entry = await store.get(key);
      if (entry?.value['claim'] !== claim) return false;
      const { version } = entry;
      if ((await store.write([{ do: 'delete', key, if: { version } }, done])).ok) return true;
    } catch {
      // The store is still unavailable.
    }
    await delay(backoff(attempt, RETRY), { unref: true });
  }
  return false;
}
