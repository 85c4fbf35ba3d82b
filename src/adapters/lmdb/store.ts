// A store on disk, in an LMDB database.

import type { JsonObject } from '../../jsonrpc/message.js';
import { checkOptions, type KeysOf } from '../../protocol/checks/known-keys.js';
import type { Store } from '../../server/state/store.js';
import { bytesOf, type StoreLimits, StoreShares } from '../../server/state/store-shares.js';
import { Database, type Kept } from './database.js';

/** The options of `lmdbStore`. */
export interface LmdbStoreOptions extends StoreLimits {
  /** The interval at which expired entries are removed from the disk. They are never read, removed or not. Default: 60 s. */
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

// LMDB's own limit is 1978 bytes, and a write that it refuses for its key leaves the writes beside it in doubt.
const MAX_KEY_BYTES = 1024;
const SWEPT_AT_ONCE = 1000;

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

  function read(key: string): Kept | undefined {
    const kept = database.entries.get(key);
    return kept === undefined || isExpired(kept) ? undefined : kept;
  }

  /** Undoes the counts of a transaction that failed. */
  async function write<T>(work: (undo: Undo) => T): Promise<T> {
    const undo: Undo = [];
    try {
      return await database.write(() => work(undo));
    } catch (error) {
      for (const takeBack of undo) takeBack();
      throw error;
    }
  }

  // Nothing is awaited below: inside a transaction a write is done when the call returns.
  function put(key: string, kept: Kept, expiresAt: number | undefined, undo: Undo): void {
    const before = (): number | undefined => weightOf(key, database.entries.get(key));
    undo.push(shares.replace(key, weightOf(key, kept), before, () => void sweepSome(undo)));
    void database.entries.put(key, kept);
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
    const rows = [...expiries.getKeys({ end: [Date.now()], limit: SWEPT_AT_ONCE })];
    for (const row of rows) {
      const kept = entries.get(row[1]);
      if (kept !== undefined && isExpired(kept)) remove(row[1], undo);
      void expiries.remove(row);
    }
    return rows.length;
  }

  async function sweep(): Promise<void> {
    while ((await write(sweepSome)) === SWEPT_AT_ONCE);
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
      const kept = read(key);
      return kept && readValue(kept);
    },
    async set(key, value, expiresAt) {
      checkKey(key);
      const kept = keep(value, expiresAt);
      await write((undo) => put(key, kept, expiresAt, undo));
    },
    async add(key, value, expiresAt) {
      checkKey(key);
      const kept = keep(value, expiresAt);
      return write((undo) => {
        if (read(key) !== undefined) return false;
        put(key, kept, expiresAt, undo);
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
        const kept = read(key);
        if (kept !== undefined) yield [key, readValue(kept)];
      }
    },
    async close() {
      clearInterval(timer);
      await database.close();
    },
  };
}

function keep(value: JsonObject, expiresAt: number | undefined): Kept {
  return `${expiresAt ?? ''} ${JSON.stringify(value)}`;
}

function weightOf(key: string, kept: Kept): number;
function weightOf(key: string, kept: Kept | undefined): number | undefined;
function weightOf(key: string, kept: Kept | undefined): number | undefined {
  return kept && bytesOf(key) + bytesOf(kept);
}

function readValue(kept: Kept): JsonObject {
  return JSON.parse(kept.slice(kept.indexOf(' '))) as JsonObject;
}

function isExpired(kept: Kept): boolean {
  const expiresAt = kept.slice(0, kept.indexOf(' '));
  return expiresAt !== '' && Number(expiresAt) <= Date.now();
}

function checkKey(key: string): void {
  const bytes = Buffer.byteLength(key);
  if (bytes > MAX_KEY_BYTES) throw new RangeError(`A key has ${bytes} bytes, at most ${MAX_KEY_BYTES}`);
}
