import type { JsonObject } from '../jsonrpc/message.js';
import { idle } from '../protocol/idle-timer.js';
import { checkOptions, type KeysOf } from '../protocol/known-keys.js';

/** Where tasks and outcomes are kept. What `set` and `add` wrote is safe when they resolve. */
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
  readonly maxEntries?: number;
  /** Of keys and values together, a byte for a character of their JSON. */
  readonly maxBytes?: number;
}

const storeKeys = { maxEntries: true, maxBytes: true } satisfies KeysOf<MemoryStoreOptions>;

interface Kept {
  readonly json: string;
  readonly expiresAt: number;
}

// How often expired entries are looked for, at most: each time costs a walk over all.
const SWEEP_EVERY_MS = 1000;

/** Keeps everything in this process, as text: nobody can change what is kept by changing what they gave. */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  checkOptions('memoryStore', options, storeKeys);
  const { maxEntries = 100_000, maxBytes = 256 * 1024 * 1024 } = options;
  const kept = new Map<string, Kept>();
  let bytes = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let nextSweep = Number.POSITIVE_INFINITY;

  function read(key: string): Kept | undefined {
    const entry = kept.get(key);
    if (entry === undefined || entry.expiresAt > Date.now()) return entry;
    remove(key);
    return undefined;
  }

  function remove(key: string): void {
    bytes -= sizeOf(key);
    kept.delete(key);
  }

  function sizeOf(key: string): number {
    const entry = kept.get(key);
    return entry === undefined ? 0 : key.length + entry.json.length;
  }

  function write(key: string, value: JsonObject, expiresAt = Number.POSITIVE_INFINITY): void {
    const json = JSON.stringify(value);
    // What is there stays where its successor does not fit.
    const grown = key.length + json.length - sizeOf(key);
    if (problem(key, grown) !== undefined) sweep();
    const full = problem(key, grown);
    if (full !== undefined) throw new Error(full);
    kept.set(key, { json, expiresAt });
    bytes += grown;
    sweepAt(expiresAt);
  }

  function problem(key: string, grown: number): string | undefined {
    if (kept.size >= maxEntries && !kept.has(key)) return `The store is full: it has ${maxEntries} entries`;
    return bytes + grown > maxBytes ? `The store is full: it may have ${maxBytes} bytes` : undefined;
  }

  function sweep(): void {
    const now = Date.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [key, { expiresAt }] of kept) {
      if (expiresAt <= now) remove(key);
      else next = Math.min(next, expiresAt);
    }
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
      bytes = 0;
    },
  };
}
