// Removes the counts of finished tasks that have expired. The tasks themselves are removed by the store.

import type { Store } from '../../state/store.js';
import { placeOfWork, type TaskKeys } from './stored/keys.js';
import { grown } from './stored/quota.js';

/** The parts of a `TaskSweep`. */
export interface TaskSweepParts {
  readonly store: Store;
  readonly keys: TaskKeys;
  readonly leaseMs: number;
  /** The name of this process, for people who look into the store. */
  readonly owner: () => string;
}

const SWEEP_MS = 60_000;
const SWEPT = 100;

/** Sweeps once a minute. */
export class TaskSweep {
  readonly #parts: TaskSweepParts;
  /** Undefined until the first look: reading the clock loads a part of Node that a server without tasks does not need. */
  #sweptAt: number | undefined;

  constructor(parts: TaskSweepParts) {
    this.#parts = parts;
  }

  /** Sweeps if it is time to. */
  async look(): Promise<void> {
    this.#sweptAt ??= performance.now();
    if (performance.now() - this.#sweptAt >= SWEEP_MS) await this.sweep();
  }

  /** Sweeps now. */
  async sweep(): Promise<void> {
    const { store, keys, leaseMs, owner } = this.#parts;
    this.#sweptAt = performance.now();
    for (;;) {
      const expired = await store.claim(keys.expiryQueue, { owner: owner(), limit: SWEPT, ms: leaseMs });
      for (const lease of expired) {
        const bytes = Number(lease.key.slice(lease.key.lastIndexOf(':') + 1));
        const changes = grown(placeOfWork(lease.key), -bytes);
        await store.write([{ do: 'dequeue', queue: keys.expiryQueue, key: lease.key }, ...changes], {
          guard: lease,
        });
      }
      if (expired.length < SWEPT) return;
    }
  }
}
