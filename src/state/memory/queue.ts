// A queue in memory: keys with a time at which they are due, and the leases on them.

import type { ClaimOptions, Lease } from '../store.js';

interface Work {
  readonly key: string;
  /** When the key is due; while it is held, when its lease ends. */
  due: number;
  /** The token of the lease; undefined if nobody holds the key. */
  token: number | undefined;
  attempt: number;
  /** Its turn among those that are due at the same time. */
  turn: number;
  /** Its place in the heap. */
  place: number;
}

/** A queue in memory. `now` is the clock of the store; `nextToken` never returns the same number again. */
export class MemoryQueue {
  readonly #name: string;
  readonly #now: () => number;
  readonly #nextToken: () => number;
  readonly #work = new Map<string, Work>();
  readonly #order = new DueOrder();

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
    const work = this.#work.get(key);
    if (work?.token !== undefined) return;
    const due = this.#now() + inMs;
    if (work === undefined) this.#add(key, { due, token: undefined, attempt: 0 });
    else if (due < work.due) this.#move(work, due);
  }

  /** Adds a key that is held from the start. */
  hold(key: string, ms: number): Lease {
    const token = this.#nextToken();
    this.dequeue(key);
    this.#add(key, { due: this.#now() + ms, token, attempt: 1 });
    return { queue: this.#name, key, token, attempt: 1 };
  }

  release(
    key: string,
    { inMs, keepAttempt }: { readonly inMs: number; readonly keepAttempt: boolean },
  ): void {
    const work = this.#work.get(key);
    if (work === undefined) return;
    work.token = undefined;
    if (!keepAttempt) work.attempt = 0;
    this.#move(work, this.#now() + inMs);
  }

  dequeue(key: string): void {
    const work = this.#work.get(key);
    if (work === undefined) return;
    this.#work.delete(key);
    this.#order.remove(work);
  }

  claim({ limit, ms }: ClaimOptions): readonly Lease[] {
    const now = this.#now();
    const due = this.#order.takeUntil(now, limit);
    return due.map((work) => {
      work.token = this.#nextToken();
      work.attempt++;
      work.due = now + ms;
      this.#order.add(work);
      return { queue: this.#name, key: work.key, token: work.token, attempt: work.attempt };
    });
  }

  renew(lease: Lease, ms: number): boolean {
    const work = this.#work.get(lease.key);
    if (work === undefined || work.token !== lease.token) return false;
    this.#move(work, this.#now() + ms);
    return true;
  }

  #add(key: string, state: Pick<Work, 'due' | 'token' | 'attempt'>): void {
    const work = { key, ...state, turn: 0, place: 0 };
    this.#work.set(key, work);
    this.#order.add(work);
  }

  #move(work: Work, due: number): void {
    this.#order.remove(work);
    work.due = due;
    this.#order.add(work);
  }
}

/** The work of a queue by the time at which it is due: a binary heap, so that a claim does not look at the work that is due later. */
class DueOrder {
  readonly #heap: Work[] = [];
  #turns = 0;

  add(work: Work): void {
    work.turn = ++this.#turns;
    this.#rise(work, this.#heap.length);
  }

  remove(work: Work): void {
    const last = this.#heap.pop();
    if (last === undefined || last === work) return;
    const { place } = work;
    this.#rise(last, place);
    if (last.place === place) this.#sink(last, place);
  }

  /** Takes what is due at a time, at most `limit` of it. */
  takeUntil(now: number, limit: number): readonly Work[] {
    const taken: Work[] = [];
    while (taken.length < limit) {
      const [first] = this.#heap;
      if (first === undefined || first.due > now) break;
      taken.push(first);
      this.remove(first);
    }
    return taken;
  }

  #rise(work: Work, from: number): void {
    let at = from;
    while (at > 0) {
      const above = this.#heap[(at - 1) >> 1] as Work;
      if (isBefore(above, work)) break;
      this.#put(above, at);
      at = (at - 1) >> 1;
    }
    this.#put(work, at);
  }

  #sink(work: Work, from: number): void {
    let at = from;
    for (;;) {
      const left = this.#heap[2 * at + 1];
      const right = this.#heap[2 * at + 2];
      const below = left && right && isBefore(right, left) ? right : left;
      if (below === undefined || isBefore(work, below)) break;
      const { place } = below;
      this.#put(below, at);
      at = place;
    }
    this.#put(work, at);
  }

  #put(work: Work, at: number): void {
    this.#heap[at] = work;
    work.place = at;
  }
}

function isBefore(one: Work, other: Work): boolean {
  return one.due < other.due || (one.due === other.due && one.turn < other.turn);
}
