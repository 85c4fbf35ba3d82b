import type { JsonObject } from '../../jsonrpc/message.js';
import { checkOptions, type KeysOf } from '../../protocol/checks/known-keys.js';
import type { Store } from '../../server/state/store.js';
import { bytesOf, type StoreLimits, StoreShares } from '../../state/store-shares.js';
import { Database, type StoredEntry } from './database.js';

/** The options of `lmdbStore`. */
export interface LmdbStoreOptions extends StoreLimits {
  /**
   * The interval at which expired entries are removed from the disk, in milliseconds. An expired entry is never returned, removed
   * or not. Default: 60 s.
   */
  readonly sweepIntervalMs?: number;
}

const storeKeys = {
  maxEntries: true,
  maxBytes: true,
  kindShare: true,
  callerShare: true,
  sweepIntervalMs: true,
} satisfies KeysOf<LmdbStoreOptions>;

type Undo = (() => void)[];

// LMDB's own limit is 1978 bytes, and after a write that it rejects for its key, the other writes of the transaction are in doubt.
const MAX_KEY_BYTES = 1024;
const SWEEP_BATCH = 1000;

/**
 * Opens a store in a folder on this machine, an LMDB database that survives a crash of the process or of the machine. Needs
 * the package `lmdb`. Throws if another server has the folder open.
 */
export function lmdbStore(path: string, options: LmdbStoreOptions = {}): Store {
  checkOptions('lmdbStore', options, storeKeys);
  const { sweepIntervalMs = 60_000 } = options;
  const shares = new StoreShares(options, { maxEntries: 1_000_000, maxBytes: 4 * 1024 ** 3 });
  const database = new Database(path);
  for (const { key, value } of database.entries.getRange()) shares.add(key, 1, weightOf(key, value));
  const timer = setInterval(() => void sweep().catch(() => undefined), sweepIntervalMs).unref();

  function read(key: string): StoredEntry | undefined {
    const entry = database.entries.get(key);
    return entry === undefined || isExpired(entry) ? undefined : entry;
  }

  /** Writes in a transaction. If it fails, the counts are restored. */
  async function write<T>(work: (undo: Undo) => T): Promise<T> {
    const undo: Undo = [];
    try {
      return await database.write(() => work(undo));
    } catch (error) {
      for (const revert of undo) revert();
      throw error;
    }
  }

  // Nothing is awaited below: inside a transaction a write is done when the call returns.
  function put(key: string, entry: StoredEntry, expiresAt: number | undefined, undo: Undo): void {
    const before = (): number | undefined => weightOf(key, database.entries.get(key));
    undo.push(shares.replace(key, weightOf(key, entry), before, () => void sweepSome(undo)));
    void database.entries.put(key, entry);
    if (expiresAt !== undefined) void database.expiries.put([expiresAt, key], true);
  }

  function remove(key: string, undo: Undo): void {
    const weight = weightOf(key, database.entries.get(key));
    if (weight === undefined) return;
    undo.push(shares.add(key, -1, -weight));
    void database.entries.remove(key);
  }

  function sweepSome(undo: Undo): number {
    const { entries, expiries } = database;
    const rows = [...expiries.getKeys({ end: [Date.now()], limit: SWEEP_BATCH })];
    for (const row of rows) {
      const entry = entries.get(row[1]);
      if (entry !== undefined && isExpired(entry)) remove(row[1], undo);
      void expiries.remove(row);
    }
    return rows.length;
  }

  async function sweep(): Promise<void> {
    while ((await write(sweepSome)) === SWEEP_BATCH);
  }

  function keysFrom(prefix: string): readonly string[] {
    const keys: string[] = [];
    for (const key of database.entries.getKeys({ start: prefix })) {
      if (!key.startsWith(prefix)) break;
      keys.push(key);
    }
    return keys;
  }

  return {
    async get(key) {
      await database.ready();
      const entry = read(key);
      return entry && readValue(entry);
    },
    async set(key, value, expiresAt) {
      checkKey(key);
      const entry = toEntry(value, expiresAt);
      await write((undo) => put(key, entry, expiresAt, undo));
    },
    async add(key, value, expiresAt) {
      checkKey(key);
      const entry = toEntry(value, expiresAt);
      return write((undo) => {
        if (read(key) !== undefined) return false;
        put(key, entry, expiresAt, undo);
        return true;
      });
    },
    async delete(key) {
      await write((undo) => remove(key, undo));
    },
    async *entries(prefix) {
      // Reads the keys first and then each value: an iteration may take long, and a cursor would keep old pages alive.
      await database.ready();
      for (const key of keysFrom(prefix)) {
        await database.ready();
        const entry = read(key);
        if (entry !== undefined) yield [key, readValue(entry)];
      }
    },
    async close() {
      clearInterval(timer);
      await database.close();
    },
  };
}

function toEntry(value: JsonObject, expiresAt: number | undefined): StoredEntry {
  return `${expiresAt ?? ''} ${JSON.stringify(value)}`;
}

function weightOf(key: string, entry: StoredEntry): number;
function weightOf(key: string, entry: StoredEntry | undefined): number | undefined;
function weightOf(key: string, entry: StoredEntry | undefined): number | undefined {
  return entry && bytesOf(key) + bytesOf(entry);
}

function readValue(entry: StoredEntry): JsonObject {
  return JSON.parse(entry.slice(entry.indexOf(' '))) as JsonObject;
}

function isExpired(entry: StoredEntry): boolean {
  const expiresAt = entry.slice(0, entry.indexOf(' '));
  return expiresAt !== '' && Number(expiresAt) <= Date.now();
}

function checkKey(key: string): void {
  const bytes = Buffer.byteLength(key);
  if (bytes > MAX_KEY_BYTES)
    throw new RangeError(`A key of ${bytes} bytes is too long. The store accepts at most ${MAX_KEY_BYTES}.`);
}
