// The contract of a store, and the store in memory.

import { unref } from '../../async/unref.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import { checkOptions, type KeysOf } from '../../protocol/checks/known-keys.js';
import { bytesOf, type StoreLimits, StoreShares } from '../../state/store-shares.js';

/**
 * Keeps tasks, the outcomes of calls that have an idempotency key, and records of used answers. When `set` or `add` resolves,
 * the entry is safe; when it rejects, nothing was written. A `RangeError` means that the entry can never be written; after any
 * other error the server may retry.
 */
export interface Store {
  /** Reads an entry; undefined if there is none or it has expired. */
  get(key: string): Promise<JsonObject | undefined>;
  /** Writes or replaces an entry. `expiresAt` is in milliseconds since 1970. Default: the entry never expires. */
  set(key: string, value: JsonObject, expiresAt?: number): Promise<void>;
  /** Writes an entry unless the key has one, atomically. Returns whether the entry was written. */
  add(key: string, value: JsonObject, expiresAt?: number): Promise<boolean>;
  /** Removes an entry. Does nothing if there is none. */
  delete(key: string): Promise<void>;
  /** Iterates over the entries whose key begins with `prefix` and that have not expired. */
  entries(prefix: string): AsyncIterable<readonly [string, JsonObject]>;
  /** Closes the store. Called when the server closes. */
  close(): Promise<void>;
}

/** The options of `memoryStore`. */
export interface MemoryStoreOptions extends StoreLimits {}

const storeKeys = {
  maxEntries: true,
  maxBytes: true,
  kindShare: true,
  callerShare: true,
} satisfies KeysOf<MemoryStoreOptions>;

interface StoreEntry {
  readonly json: string;
  readonly bytes: number;
  readonly expiresAt: number;
}

// The shortest interval between two searches for expired entries: each walks over all entries.
const SWEEP_EVERY_MS = 1000;

/** Makes a store in this process's memory. The entries are lost when the process ends. */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  checkOptions('memoryStore', options, storeKeys);
  const entries = new Map<string, StoreEntry>();
  const shares = new StoreShares(options, { maxEntries: 100_000, maxBytes: 256 * 1024 * 1024 });
  let earliest = Number.POSITIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let nextSweep = Number.POSITIVE_INFINITY;

  function read(key: string): StoreEntry | undefined {
    const entry = entries.get(key);
    if (entry === undefined || entry.expiresAt > Date.now()) return entry;
    remove(key);
    return undefined;
  }

  function remove(key: string): void {
    const entry = entries.get(key);
    if (entry === undefined) return;
    shares.add(key, -1, -entry.bytes);
    entries.delete(key);
  }

  function write(key: string, value: JsonObject, expiresAt = Number.POSITIVE_INFINITY): void {
    const json = JSON.stringify(value);
    const bytes = bytesOf(key) + bytesOf(json);
    // If the new entry does not fit, the old one stays. A walk over all entries is worth it only if one has expired.
    shares.replace(
      key,
      bytes,
      () => entries.get(key)?.bytes,
      () => earliest <= Date.now() && sweep(),
    );
    entries.set(key, { json, bytes, expiresAt });
    earliest = Math.min(earliest, expiresAt);
    sweepAt(expiresAt);
  }

  function sweep(): void {
    const now = Date.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [key, { expiresAt }] of entries) {
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
    // A timer cannot wait longer than this. A sweep that finds nothing sets the timer again.
    timer = setTimeout(sweep, Math.min(at - Date.now(), 0x7fffffff));
    unref(timer);
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
      // Each entry is read when its turn comes, because it may have changed by then.
      for (const key of [...entries.keys()]) {
        const entry = key.startsWith(prefix) ? read(key) : undefined;
        if (entry !== undefined) yield [key, JSON.parse(entry.json) as JsonObject];
      }
    },
    async close() {
      clearTimeout(timer);
      entries.clear();
      shares.clear();
    },
  };
}
