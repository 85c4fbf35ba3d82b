import { createRequire } from 'node:module';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import type { JsonObject } from '../../jsonrpc/message.js';
import { checkOptions, type KeysOf } from '../../protocol/known-keys.js';
import type { Store } from '../../server/store.js';
import { checkDataFile } from './data-file.js';

// The package's types for ES modules are not valid TypeScript; those for CommonJS are.
type Lmdb = typeof import('lmdb', { with: { 'resolution-mode': 'require' }});
type Root = ReturnType<Lmdb['open']>;

/** The options of `lmdbStore`. */
export interface LmdbStoreOptions {
  /** The interval at which expired entries are removed from the disk. They are never read, removed or not. Default: 60 s. */
  readonly sweepIntervalMs?: number;
}

const storeKeys = { sweepIntervalMs: true } satisfies KeysOf<LmdbStoreOptions>;

/** An entry as it is written: when it expires, if it does, a space, and its JSON. */
type Kept = `${number | ''} ${string}`;

// LMDB's own limit is 1978 bytes, and a write that it refuses for its key leaves the writes beside it in doubt.
const MAX_KEY_BYTES = 1024;
const SWEPT_AT_ONCE = 1000;
const REASON_WITHIN_MS = 100;

/**
 * Opens a store in a folder on this machine, an LMDB database that survives a crash of the process or of the machine. Needs
 * the package `lmdb`. Throws if another server has the folder open.
 */
export function lmdbStore(path: string, options: LmdbStoreOptions = {}): Store {
  checkOptions('lmdbStore', options, storeKeys);
  const { sweepIntervalMs = 60_000 } = options;
  const { open: openEnvironment } = load(path);
  // With batching by turns of the event loop, a commit that fails leaves a rejected promise that nobody can reach.
  const db = openEnvironment({
    path,
    noSubdir: false,
    overlappingSync: false,
    maxDbs: 2,
    eventTurnBatching: false,
  });
  // The order of expiry. A row outlives the entry it was written for when that is set anew with another expiry.
  const expiries = db.openDB<true, [number, string]>({ name: 'expiries', encoding: 'json' });
  const entries = db.openDB<Kept, string>({ name: 'entries', encoding: 'string' });
  ensureAlone(db, path);
  const timer = setInterval(() => void sweep().catch(() => undefined), sweepIntervalMs).unref();
  let closing: Promise<void> | undefined;

  function read(key: string): Kept | undefined {
    const kept = entries.get(key);
    return kept === undefined || isExpired(kept) ? undefined : kept;
  }

  // Durable when it resolves: without overlapping syncs a commit ends when the disk has it.
  async function write<T>(work: () => T): Promise<T> {
    open();
    try {
      return await db.transaction(work);
    } catch (error) {
      throw await reasonOf(error);
    }
  }

  // Not awaited: inside a transaction a write is done when the call returns.
  function put(key: string, kept: Kept, expiresAt: number | undefined): void {
    void entries.put(key, kept);
    if (expiresAt !== undefined) void expiries.put([expiresAt, key], true);
  }

  async function sweep(): Promise<void> {
    while ((await write(sweepSome)) === SWEPT_AT_ONCE);
  }

  function sweepSome(): number {
    const rows = [...expiries.getKeys({ end: [Date.now()], limit: SWEPT_AT_ONCE })];
    for (const row of rows) {
      const kept = entries.get(row[1]);
      if (kept !== undefined && isExpired(kept)) void entries.remove(row[1]);
      void expiries.remove(row);
    }
    return rows.length;
  }

  function keysFrom(prefix: string): readonly string[] {
    open();
    const keys: string[] = [];
    for (const key of entries.getKeys({ start: prefix })) {
      if (!key.startsWith(prefix)) break;
      keys.push(key);
    }
    return keys;
  }

  function open(): void {
    if (closing !== undefined) throw new Error(`The store at ${path} is closed`);
  }

  return {
    async get(key) {
      open();
      const kept = read(key);
      return kept && readValue(kept);
    },
    async set(key, value, expiresAt) {
      checkKey(key);
      const kept = keep(value, expiresAt);
      await write(() => put(key, kept, expiresAt));
    },
    async add(key, value, expiresAt) {
      checkKey(key);
      const kept = keep(value, expiresAt);
      return write(() => {
        if (read(key) !== undefined) return false;
        put(key, kept, expiresAt);
        return true;
      });
    },
    async delete(key) {
      await write(() => void entries.remove(key));
    },
    async *entries(prefix) {
      // The keys first and then each value: whoever iterates may take long, and a cursor would keep old pages alive.
      for (const key of keysFrom(prefix)) {
        open();
        const kept = read(key);
        if (kept !== undefined) yield [key, readValue(kept)];
      }
    },
    async close() {
      clearInterval(timer);
      closing ??= db.close();
      await closing;
    },
  };
}

function keep(value: JsonObject, expiresAt: number | undefined): Kept {
  return `${expiresAt ?? ''} ${JSON.stringify(value)}`;
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

/** Why a commit failed. lmdb keeps it in a promise of its own, which is unhandled unless somebody looks. */
async function reasonOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { readonly commitError?: Promise<never> };
  if (commitError === undefined) return error;
  const unknown = new AbortController();
  const late = setTimeout(REASON_WITHIN_MS, undefined, { signal: unknown.signal }).catch(() => undefined);
  const reason = await Promise.race([commitError.catch((cause: unknown) => cause), late]);
  unknown.abort();
  if (reason === undefined) return error;
  const why = reason instanceof Error ? reason.message : String(reason);
  return new Error(`The store could not write to its disk: ${why}`, { cause: reason });
}

// A process is in LMDB's table of readers from its first read until it ends, however it ends: the kernel holds its place.
// The read must come after all databases are open, since opening one gives the place up. Whoever is there before that read
// has the store open, also under our own number: this process, or another container's process that has the same number, and
// beside that one the read would wait until it is gone.
function ensureAlone(db: Root, path: string): void {
  const before = readersOf(db);
  if (before.length === 0) db.get('');
  const others = before.length > 0 ? before : readersOf(db).filter((pid) => pid !== process.pid);
  if (others.length === 0) return;
  void db.close();
  const who = others.map((pid) =>
    pid === process.pid ? `${pid} (this one, or one with the same number in another container)` : `${pid}`,
  );
  throw new Error(
    `The store at ${path} is in use by process ${[...new Set(who)].join(', ')}. One server at a time may use it.`,
  );
}

function readersOf(db: Root): readonly number[] {
  db.readerCheck();
  // A line of headings, then a line for each: process, thread, transaction.
  const lines = db.readerList().split('\n').slice(1);
  return lines.map((line) => Number.parseInt(line, 10)).filter((pid) => !Number.isNaN(pid));
}

function load(path: string): Lmdb {
  const require = createRequire(import.meta.url);
  let lmdb: Lmdb;
  try {
    lmdb = require('lmdb') as Lmdb;
  } catch (error) {
    throw new Error('lmdbStore needs the package "lmdb". Install it: npm install lmdb', { cause: error });
  }
  checkDataFile(path, require.resolve('lmdb'));
  return lmdb;
}
