import type { JsonObject } from '../jsonrpc/message.js';
import { idle } from '../protocol/idle-timer.js';
import { checkOptions, type KeysOf } from '../protocol/known-keys.js';
import { bytesOf, StoreShares } from './store-shares.js';

/**
 * Where tasks and outcomes are kept. What `set` and `add` wrote is safe when they resolve, and was not written when they reject. A
 * `RangeError` says that the entry can never be written; anything else is worth another try.
 */
export interface Store {
  get(key: string): Promise<JsonObject | undefined>;
  set(key: string, value: JsonObject, expiresAt?: number): Promise<void>;
  /** Sets where nothing is yet; says whether it did. */
  add(key: string, value: JsonObject, expiresAt?: number): Promise<boolean>;
  delete(key: string): Promise<void>;
  /** All entries whose key begins with the prefix and that have not expired. */
  entries(prefix: string): AsyncIterable<readonly [string, JsonObject]>;
  close(): Promise<void>;
}

export interface MemoryStoreOptions {
  /** Default: 100,000. */
  readonly maxEntries?: number;
  /**
   * Of keys and of values as JSON, as this process holds them: a byte for a character, two in a text with characters beyond
   * Latin-1. Default: 256 MB.
   */
  readonly maxBytes?: number;
  /** What one kind of entries (tasks, outcomes, used answers) may have of both limits. Default: 0.5. */
  readonly kindShare?: number;
  /** What the entries of one kind and one caller may have of both limits. Callers without `auth` count as one. Default: 0.1. */
  readonly callerShare?: number;
}

const storeKeys = {
  maxEntries: true,
  maxBytes: true,
  kindShare: true,
  callerShare: true,
} satisfies KeysOf<MemoryStoreOptions>;

interface Kept {
  readonly json: string;
  readonly bytes: number;
  readonly expiresAt: number;
}

// How often expired entries are looked for, at most: each time costs a walk over all.
const SWEEP_EVERY_MS = 1000;

/** Keeps everything in this process, as text: nobody can change what is kept by changing what they gave. */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  checkOptions('memoryStore', options, storeKeys);
  const { maxEntries = 100_000, maxBytes = 256 * 1024 * 1024, kindShare = 0.5, callerShare = 0.1 } = options;
  for (const [name, share] of Object.entries({ kindShare, callerShare }))
    if (!(share > 0 && share <= 1)) throw new TypeError(`"${name}" must be a number above 0, at most 1.`);
  const kept = new Map<string, Kept>();
  const shares = new StoreShares({ maxEntries, maxBytes, kindShare, callerShare });
  let earliest = Number.POSITIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let nextSweep = Number.POSITIVE_INFINITY;

  function read(key: string): Kept | undefined {
    const entry = kept.get(key);
    if (entry === undefined || entry.expiresAt > Date.now()) return entry;
    remove(key);
    return undefined;
  }

  function remove(key: string): void {
    const entry = kept.get(key);
    if (entry === undefined) return;
    shares.add(key, -1, -entry.bytes);
    kept.delete(key);
  }

  function write(key: string, value: JsonObject, expiresAt = Number.POSITIVE_INFINITY): void {
    const json = JSON.stringify(value);
    const bytes = bytesOf(key) + bytesOf(json);
    // What is there stays where its successor does not fit. A walk over all entries is worth it only if one has expired.
    if (problem(key, bytes) !== undefined && earliest <= Date.now()) sweep();
    const full = problem(key, bytes);
    const most = key.includes(':') ? maxBytes * kindShare : maxBytes;
    if (full !== undefined) throw bytes > most ? new RangeError(full) : new Error(full);
    const before = kept.get(key);
    shares.add(key, before === undefined ? 1 : 0, bytes - (before?.bytes ?? 0));
    kept.set(key, { json, bytes, expiresAt });
    earliest = Math.min(earliest, expiresAt);
    sweepAt(expiresAt);
  }

  function problem(key: string, bytes: number): string | undefined {
    const before = kept.get(key);
    return shares.problem(key, before === undefined ? 1 : 0, bytes - (before?.bytes ?? 0));
  }

  function sweep(): void {
    const now = Date.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [key, { expiresAt }] of kept) {
      if (expiresAt <= now) remove(key);
      else next = Math.min(next, expiresAt);
    }
    earliest = next;
    clearTimeout(timer);
    nextSweep = Number.POSITIVE_INFINITY;
    sweepAt(next);
  }

  function sweepAt(expiresAt: number): void {
    const at = Math.max(expiresAt, Date.now() + SWEEP_EVERY_MS);
    if (at >= nextSweep) return;
    clearTimeout(timer);
    nextSweep = at;
    // A timer cannot wait longer than this; it then sweeps for nothing and waits again.
    timer = setTimeout(sweep, Math.min(at - Date.now(), 0x7fffffff));
    idle(timer);
  }

  return {
    async get(key) {
      const entry = read(key);
      return entry && (JSON.parse(entry.json) as JsonObject);
    },
    async set(key, value, expiresAt) {
      write(key, value, expiresAt);
    },
    async add(key, value, expiresAt) {
      if (read(key) !== undefined) return false;
      write(key, value, expiresAt);
      return true;
    },
    async delete(key) {
      remove(key);
    },
    async *entries(prefix) {
      // Each is read when its turn comes: it may have changed since.
      for (const key of [...kept.keys()]) {
        const entry = key.startsWith(prefix) ? read(key) : undefined;
        if (entry !== undefined) yield [key, JSON.parse(entry.json) as JsonObject];
      }
    },
    async close() {
      clearTimeout(timer);
      kept.clear();
      shares.clear();
    },
  };
}
