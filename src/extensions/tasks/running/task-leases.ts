// Renews the leases of the tasks that this process holds.

import { type BackoffOptions, backoff, delay } from '../../../async/delay.js';
import { unref } from '../../../async/unref.js';
import type { Logger } from '../../../server/state/log.js';
import type { Lease, Store } from '../../../state/store.js';

/** The parts of a `TaskLeases`. */
export interface TaskLeasesParts {
  readonly store: Store;
  readonly leaseMs: number;
  readonly log: Logger;
  /** Called when a lease is held by somebody else. */
  readonly onLost: (lease: Lease) => void;
  /** Called after each renewal. */
  readonly onRenewed: () => void;
}

const RETRY: BackoffOptions = { baseMs: 100, maxMs: 1000, jitter: [0.5, 1] };

/** The leases of this process. All of them are renewed in one request, three times in the time of a lease. */
export class TaskLeases {
  readonly #parts: TaskLeasesParts;
  /** Each lease with the time, on a monotonic clock, until which nobody else can have claimed it. */
  readonly #leases = new Map<number, { readonly lease: Lease; validUntil: number }>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #renewing: Promise<void> | undefined;
  #failures = 0;
  #isClosed = false;

  constructor(parts: TaskLeasesParts) {
    this.#parts = parts;
  }

  /** The time until a lease ends that is not renewed. */
  get leaseMs(): number {
    return this.#parts.leaseMs;
  }

  /** Keeps a lease that was requested at this time, on a monotonic clock. */
  add(lease: Lease, requestedAt: number): void {
    const { leaseMs } = this.#parts;
    this.#leases.set(lease.token, { lease, validUntil: requestedAt + leaseMs });
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setInterval(() => void this.renew(), leaseMs / 3);
    unref(this.#timer);
  }

  /** Stops renewing a lease. */
  drop({ token }: Lease): void {
    this.#leases.delete(token);
    if (this.#leases.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Whether the lease is kept: it was not dropped, and is not known to be lost. */
  has({ token }: Lease): boolean {
    return this.#leases.has(token);
  }

  /** Whether nobody else can have claimed the lease. False also means that it is not known. */
  isValid({ token }: Lease): boolean {
    return performance.now() < (this.#leases.get(token)?.validUntil ?? 0);
  }

  /** Whether any lease may have ended, because this process was paused or the store was unavailable. */
  get hasDoubt(): boolean {
    const now = performance.now();
    for (const { validUntil } of this.#leases.values()) if (validUntil <= now) return true;
    return false;
  }

  /** Renews until it is known whether the lease is still held. */
  async confirm(lease: Lease): Promise<boolean> {
    for (let failures = 0; this.#leases.has(lease.token); failures++) {
      await this.renew();
      if (this.isValid(lease)) return true;
      if (this.#leases.has(lease.token)) await delay(backoff(failures, RETRY), { unref: true });
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
    const { store, leaseMs, log, onLost, onRenewed } = this.#parts;
    const leases = [...this.#leases.values()].map(({ lease }) => lease);
    if (leases.length === 0 || this.#isClosed) return;
    const requestedAt = performance.now();
    let renewed: readonly Lease[];
    try {
      renewed = await store.renew(leases, leaseMs);
      this.#failures = 0;
    } catch (error) {
      if (this.#failures++ === 0)
        log('warning', 'The leases of running tasks could not be renewed. The server retries.', error);
      return;
    }
    const tokens = new Set(renewed.map(({ token }) => token));
    for (const { token } of renewed) {
      const kept = this.#leases.get(token);
      if (kept !== undefined) kept.validUntil = requestedAt + leaseMs;
    }
    for (const lease of leases) {
      if (tokens.has(lease.token) || !this.#leases.has(lease.token)) continue;
      this.drop(lease);
      onLost(lease);
    }
    onRenewed();
  }

  /** Stops renewing. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }
}
