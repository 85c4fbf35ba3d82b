// A queue in memory: keys with a time at which they are due, and the leases on them.

import type { ClaimOptions, Lease } from '../store.js';

interface Work {
  /** When the key is due; while it is held, when its lease ends. */
  due: number;
  /** The token of the lease; undefined if nobody holds the key. */
  token: number | undefined;
  attempt: number;
}

/** A queue in memory. `now` is the clock of the store; `nextToken` never returns the same number again. */
export class MemoryQueue {
  readonly #name: string;
  readonly #now: () => number;
  readonly #nextToken: () => number;
  readonly #work = new Map<string, Work>();
  /** No key is due before this time, so that a claim need not look at all of them. */
  #nextDue = Number.POSITIVE_INFINITY;

  constructor(name: string, clock: { readonly now: () => number; readonly nextToken: () => number }) {
    this.#name = name;
    this.#now = clock.now;
    this.#nextToken = clock.nextToken;
  }

  get size(): number {
    return this.#work.size;
  }

  has(key: string): boolean {
    return this.#work.has(key);
  }

  holds({ key, token }: Lease): boolean {
    return this.#work.get(key)?.token === token;
  }

  enqueue(key: string, inMs: number): void {
    const due = this.#now() + inMs;
    const work = this.#work.get(key);
    if (work === undefined) this.#work.set(key, { due, token: undefined, attempt: 0 });
    else if (work.token !== undefined) return;
    else work.due = Math.min(work.due, due);
    this.#nextDue = Math.min(this.#nextDue, due);
  }

  /** Adds a key that is held from the start. */
  hold(key: string, ms: number): Lease {
    const work = { due: this.#now() + ms, token: this.#nextToken(), attempt: 1 };
    this.#work.set(key, work);
    this.#nextDue = Math.min(this.#nextDue, work.due);
    return { queue: this.#name, key, token: work.token, attempt: 1 };
  }

  release(
    key: string,
    { inMs, keepAttempt }: { readonly inMs: number; readonly keepAttempt: boolean },
  ): void {
    const work = this.#work.get(key);
    if (work === undefined) return;
    work.token = undefined;
    work.due = this.#now() + inMs;
    if (!keepAttempt) work.attempt = 0;
    this.#nextDue = Math.min(this.#nextDue, work.due);
  }

  dequeue(key: string): void {
    this.#work.delete(key);
  }

  claim({ limit, ms }: ClaimOptions): readonly Lease[] {
    const now = this.#now();
    if (limit <= 0 || this.#nextDue > now) return [];
    const due = [...this.#work].filter(([, work]) => work.due <= now).sort(([, a], [, b]) => a.due - b.due);
    const leases = due.slice(0, limit).map(([key, work]): Lease => {
      work.token = this.#nextToken();
      work.attempt++;
      work.due = now + ms;
      return { queue: this.#name, key, token: work.token, attempt: work.attempt };
    });
    this.#nextDue = Number.POSITIVE_INFINITY;
    for (const work of this.#work.values()) this.#nextDue = Math.min(this.#nextDue, work.due);
    return leases;
  }

  renew(lease: Lease, ms: number): boolean {
    const work = this.#work.get(lease.key);
    if (work === undefined || work.token !== lease.token) return false;
    work.due = this.#now() + ms;
    this.#nextDue = Math.min(this.#nextDue, work.due);
    return true;
  }
}
