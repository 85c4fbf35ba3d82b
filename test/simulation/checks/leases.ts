// The leases as they must be, seen from what the store replied.

import type { Lease } from 'fullmcp';
import type { Actor, Scheduler } from '../world/scheduler.js';

interface Holder {
  readonly token: number;
  readonly replica: Actor;
  until: number;
}

/** The holders of all keys. A lease that has ended is held until another claim. */
export class Leases {
  readonly #scheduler: Scheduler;
  readonly #holders = new Map<string, Holder>();

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  // Keys of different queues begin with different groups or are digests, so the key alone is enough.
  holderOf({ key }: { readonly key: string }): Holder | undefined {
    return this.#holders.get(key);
  }

  isHeld({ key, token }: Lease): boolean {
    return this.#holders.get(key)?.token === token;
  }

  grant({ key, token }: Lease, replica: Actor, ms: number): void {
    this.#holders.set(key, { token, replica, until: this.#scheduler.now + ms });
  }

  extend({ key, token }: Lease, ms: number): void {
    const holder = this.#holders.get(key);
    if (holder?.token === token) holder.until = this.#scheduler.now + ms;
  }

  end({ key }: { readonly key: string }): void {
    this.#holders.delete(key);
  }
}
