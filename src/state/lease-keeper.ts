// Renews the leases of a process.

import { unref } from '../async/unref.js';
import type { Lease, Store } from './store.js';

/** The time until a lease ends that is not renewed. */
export const LEASE_MS: number = 15_000;

/** The options of a `LeaseKeeper`. */
export interface LeaseKeeperOptions {
  /** The time until a lease ends that is not renewed. Default: 15 s. */
  readonly leaseMs?: number;
  /** Called when leases could not be renewed, with the reason. They are tried again. */
  readonly onFailure: (error: unknown) => void;
}

interface KeptLease {
  readonly lease: Lease;
  readonly onLost: () => void;
  /** The time of the last renewal that succeeded, on a monotonic clock. */
  renewedAt: number;
}

/**
 * Renews all leases of a process together, every third of their time. A lease that another process has claimed, and one that
 * could not be renewed in its time, is lost: `onLost` is called once. After a loss by time the store may still accept writes,
 * because nobody may have claimed the key; it decides.
 */
export class LeaseKeeper {
  readonly leaseMs: number;
  readonly #store: Pick<Store, 'renew'>;
  readonly #onFailure: (error: unknown) => void;
  readonly #kept = new Map<number, KeptLease>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(store: Pick<Store, 'renew'>, { leaseMs = LEASE_MS, onFailure }: LeaseKeeperOptions) {
    this.leaseMs = leaseMs;
    this.#store = store;
    this.#onFailure = onFailure;
  }

  /** Renews a lease from now on. Returns a function that ends that. */
  keep(lease: Lease, onLost: () => void): () => void {
    this.#kept.set(lease.token, { lease, onLost, renewedAt: performance.now() });
    this.#schedule();
    return () => this.#forget(lease.token);
  }

  /** Renews nothing any more. */
  close(): void {
    this.#kept.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #forget(token: number): void {
    this.#kept.delete(token);
    if (this.#kept.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#kept.size === 0) return;
    this.#timer = setTimeout(() => {
      void this.#renew().finally(() => {
        this.#timer = undefined;
        this.#schedule();
      });
    }, this.leaseMs / 3);
    unref(this.#timer);
  }

  async #renew(): Promise<void> {
    const kept = [...this.#kept.values()];
    const startedAt = performance.now();
    try {
      const held = await this.#store.renew(
        kept.map(({ lease }) => lease),
        this.leaseMs,
      );
      const tokens = new Set(held.map(({ token }) => token));
      for (const each of kept) {
        if (tokens.has(each.lease.token)) each.renewedAt = startedAt;
        else this.#lose(each);
      }
    } catch (error) {
      this.#onFailure(error);
      for (const each of kept) if (performance.now() - each.renewedAt > this.leaseMs) this.#lose(each);
    }
  }

  #lose(each: KeptLease): void {
    // The lease may have been given back while it was being renewed.
    if (this.#kept.get(each.lease.token) !== each) return;
    this.#forget(each.lease.token);
    each.onLost();
  }
}
