import { BoundedMap } from './bounded-map.js';

// Remembers a bounded number of values for a bounded time.

interface Remembered<V> {
  readonly value: V;
  readonly since: number;
  readonly until: number;
}

/** The options of an `ExpiringMap`. */
export interface ExpiringMapOptions {
  /** The largest number of entries. The entry that was not read for the longest time makes room for a new one. */
  readonly maxEntries: number;
  /** The clock, in milliseconds since 1970. Default: the system's. */
  readonly now?: (() => number) | undefined;
}

/** A map whose entries expire, and of which the least recently read are dropped when there are too many. */
export class ExpiringMap<V> {
  readonly #entries: BoundedMap<string, Remembered<V>>;
  readonly #now: () => number;

  constructor({ maxEntries, now = Date.now }: ExpiringMapOptions) {
    this.#entries = new BoundedMap(maxEntries);
    this.#now = now;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const now = this.#now();
    // A clock that was set back would let an entry live longer than it may.
    if (now < entry.until && now >= entry.since) {
      this.#entries.set(key, entry);
      return entry.value;
    }
    this.#entries.delete(key);
    return undefined;
  }

  /** Stores a value for `ms`. Nothing is stored for a time that is over. */
  set(key: string, value: V, ms: number): void {
    this.#entries.delete(key);
    if (!(ms > 0)) return;
    const since = this.#now();
    this.#entries.set(key, { value, since, until: since + ms });
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}
