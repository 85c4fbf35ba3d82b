import type { Call, Outcome } from '../../protocol/call.js';

// The cache of results, which clients may share. Spec 2026-07-28, Caching.

/** The entries that a notification makes stale. */
export type Stale =
  | {
      /** All results of this method. */
      readonly method: string;
    }
  | {
      /** The contents of this resource. */
      readonly uri: string;
    };

/** The limits of a `ResultCache`. */
export interface ResultCacheOptions {
  /** The number of results to keep; beyond it, the least recently used is dropped. Default: 1000. */
  readonly maxEntries?: number;
  /**
   * The size of all results together as JSON, a byte for each character; beyond it, the least recently used are dropped. A
   * result larger than a quarter of it is not cached. Default: 32 MB.
   */
  readonly maxBytes?: number;
}

interface Entry {
  /** The key of the first page of the list; of any other result, its own. */
  readonly first: string;
  readonly outcome: Outcome;
  readonly until: number;
  readonly bytes: number;
  readonly method: string;
  readonly uri: unknown;
}

/**
 * A cache for lists and resources, each kept for as long as its server allows. The pages of a list are kept and dropped together.
 * Clients may share one: only results that the server declares public pass from one client to another.
 */
export class ResultCache {
  // Least recently used first: an entry that is used moves to the end.
  readonly #entries = new Map<string, Entry>();
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  #bytes = 0;
  #generation = 0;

  constructor({ maxEntries = 1000, maxBytes = 32 * 1024 * 1024 }: ResultCacheOptions = {}) {
    this.#maxEntries = maxEntries;
    this.#maxBytes = maxBytes;
  }

  /** A number that grows whenever something becomes stale; a result that was requested before then is not cached. */
  get generation(): number {
    return this.#generation;
  }

  /** The result under this key; undefined if there is none or it has expired. */
  get(key: string): Outcome | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#drop(key, entry);
    if (entry.until <= Date.now()) return undefined;
    this.#add(key, entry);
    return entry.outcome;
  }

  /**
   * Caches a result for its `ttlMs`. A result without a `ttlMs` is not cached. For a further page of a list, `first` is the key of the
   * first page: the page is kept as long as that one, and not beside one of another state of the list.
   */
  set(key: string, { method, params }: Call, outcome: Outcome, first: string = key): void {
    const beginning = first === key ? undefined : this.#entries.get(first);
    if (beginning?.outcome['tag'] !== outcome['tag'] || first === key) this.#dropList(first);
    const { ttlMs } = outcome;
    if (typeof ttlMs !== 'number' || !(ttlMs > 0)) return;
    const bytes = JSON.stringify(outcome).length;
    if (bytes > this.#maxBytes / 4) return;
    if (first !== key && !this.#entries.has(first)) return;
    const until = Math.min(Date.now() + ttlMs, beginning?.until ?? Number.POSITIVE_INFINITY);
    const previous = this.#entries.get(key);
    if (previous !== undefined) this.#drop(key, previous);
    this.#add(key, { first, outcome, until, bytes, method, uri: params['uri'] });
    for (const [oldest, entry] of this.#entries) {
      if (this.#entries.size <= this.#maxEntries && this.#bytes <= this.#maxBytes) break;
      this.#drop(oldest, entry);
    }
  }

  /** Drops the results that a notification of this server made stale. */
  invalidate(server: string, stale: Stale): void {
    this.#generation++;
    for (const [key, entry] of this.#entries) {
      const isStale = 'uri' in stale ? entry.uri === stale.uri : entry.method === stale.method;
      if (isStale && key.startsWith(`${server}\n`)) this.#drop(key, entry);
    }
  }

  #dropList(first: string): void {
    for (const [key, entry] of this.#entries) if (entry.first === first) this.#drop(key, entry);
  }

  #add(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
  }

  #drop(key: string, entry: Entry): void {
    if (this.#entries.delete(key)) this.#bytes -= entry.bytes;
  }
}
