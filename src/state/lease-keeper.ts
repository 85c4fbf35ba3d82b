// Renews the leases of a process.

import { type BackoffOptions, backoff, delay } from '../async/delay.js';
import { every } from '../async/every.js';
import type { Lease, Store } from './store.js';

/** The time until a lease ends that is not renewed. */
export const LEASE_MS: number = 15_000;

/** The options of a `LeaseKeeper`. */
export interface LeaseKeeperOptions {
  /** The time until a lease ends that is not renewed. Default: 15 s. */
  readonly leaseMs?: number;
  /**
   * Whether a lease that could not be renewed in its time is kept until the store says that it is lost. Default: it is lost, even if
   * the store would still accept writes under it, because nobody has claimed the key.
   */
  readonly keepsDoubtful?: boolean;
  /** Called with the first of several failures in a row. The leases are renewed again. */
  readonly onFailure: (error: unknown) => void;
  /** Called after each renewal. */
  readonly onRenewed?: () => void;
}

interface KeptLease {
  readonly lease: Lease;
  readonly onLost: () => void;
  /** The time, on a monotonic clock, until which nobody else can have claimed it. */
  validUntil: number;
}

const RETRY: BackoffOptions = { baseMs: 100, maxMs: 1000, jitter: [0.5, 1] };

/**
 * Renews all leases of a process in one request, three times in the time of a lease. When a lease is lost, because another process has
 * claimed it, its `onLost` is called once.
 */
export class LeaseKeeper {
  readonly leaseMs: number;
  readonly #store: Pick<Store, 'renew'>;
  readonly #options: LeaseKeeperOptions;
  readonly #kept = new Map<number, KeptLease>();
  #stopRenewing: (() => void) | undefined;
  #renewing: Promise<void> | undefined;
  #failures = 0;
  #isClosed = false;

  constructor(store: Pick<Store, 'renew'>, options: LeaseKeeperOptions) {
    this.leaseMs = options.leaseMs ?? LEASE_MS;
    this.#store = store;
    this.#options = options;
  }

  /**
   * Renews a lease from now on. `requestedAt` is the time of its request, on a monotonic clock: a process that was paused may have the
   * reply after the end of the lease. Returns a function that ends that.
   */
  keep(lease: Lease, onLost: () => void, requestedAt: number): () => void {
    this.#kept.set(lease.token, { lease, onLost, validUntil: requestedAt + this.leaseMs });
    if (!this.#isClosed) this.#stopRenewing ??= every(this.leaseMs / 3, () => this.renew());
    return () => this.drop(lease);
  }

  /** Stops renewing a lease. */
  drop({ token }: Lease): void {
    this.#kept.delete(token);
    if (this.#kept.size > 0) return;
    this.#stopRenewing?.();
    this.#stopRenewing = undefined;
  }

  /** Whether the lease is kept: it was not dropped, and is not known to be lost. */
  has({ token }: Lease): boolean {
    return this.#kept.has(token);
  }

  /** Whether nobody else can have claimed the lease. False also means that it is not known. */
  isValid({ token }: Lease): boolean {
    return performance.now() < (this.#kept.get(token)?.validUntil ?? 0);
  }

  /** Whether any lease may have ended, because this process was paused or the store was unavailable. */
  get hasDoubt(): boolean {
    const now = performance.now();
    for (const { validUntil } of this.#kept.values()) if (validUntil <= now) return true;
    return false;
  }

  /** Renews until it is known whether the lease is still held. */
  async confirm(lease: Lease): Promise<boolean> {
    for (let failures = 0; this.has(lease); failures++) {
      await this.renew();
      if (this.isValid(lease)) return true;
      if (this.has(lease)) await delay(backoff(failures, RETRY), { unref: true });
    }
    return false;
  }

  /** Renews all leases now. Never rejects. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renewAll().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renewAll(): Promise<void> {
    const { keepsDoubtful = false, onFailure, onRenewed } = this.#options;
    const kept = [...this.#kept.values()];
    if (kept.length === 0 || this.#isClosed) return;
    const requestedAt = performance.now();
    let renewed: readonly Lease[];
    try {
      renewed = await this.#store.renew(
        kept.map(({ lease }) => lease),
        this.leaseMs,
      );
      this.#failures = 0;
    } catch (error) {
      if (this.#failures++ === 0) onFailure(error);
      if (keepsDoubtful) return;
      const now = performance.now();
      for (const each of kept) if (each.validUntil < now) this.#lose(each);
      return;
    }
    const tokens = new Set(renewed.map(({ token }) => token));
    for (const each of kept) {
      if (tokens.has(each.lease.token)) each.validUntil = requestedAt + this.leaseMs;
      else this.#lose(each);
    }
    onRenewed?.();
  }

  #lose(each: KeptLease): void {
    // The lease may have been given back while it was being renewed.
    if (this.#kept.get(each.lease.token) !== each) return;
    this.drop(each.lease);
    each.onLost();
  }

  /** Renews nothing any more. */
  close(): void {
    this.#isClosed = true;
    this.#stopRenewing?.();
    this.#stopRenewing = undefined;
  }
}
