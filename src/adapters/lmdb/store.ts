import { createRequire } from 'node:module';
import process from 'node:process';
import type { JsonObject } from '../../jsonrpc/message.js';
import { checkOptions, type KeysOf } from '../../protocol/known-keys.js';
import type { Store } from '../../server/store.js';

// The package's types for ES modules are not valid TypeScript; those for CommonJS are.
type Lmdb = typeof import('lmdb', { with: { 'resolution-mode': 'require' }});
type Root = ReturnType<Lmdb['open']>;

export interface LmdbStoreOptions {
  /** How often expired entries are removed. What has expired is never read, removed or not. */
  readonly sweepIntervalMs?: number;
}

const storeKeys = { sweepIntervalMs: true } satisfies KeysOf<LmdbStoreOptions>;

/** An entry as it is written: when it expires, if it does, a space, and its JSON. */
type Kept = `${number | ''} ${string}`;

// LMDB's own limit is 1978 bytes, and a write that it refuses for its key leaves the writes beside it in doubt.
const MAX_KEY_BYTES = 1024;
const SWEPT_AT_ONCE = 1000;

/**
 * Keeps everything in a folder on this machine, in an LMDB database, so that it is there after a crash of the process or of
 * the machine. Needs the package `lmdb`. One process at a time: a second one is refused.
 */
export function lmdbStore(path: string, options: LmdbStoreOptions = {}): Store {
  checkOptions('lmdbStore', options, storeKeys);
  const { sweepIntervalMs = 60_000 } = options;
  const db = load().open({ path, noSubdir: false, overlappingSync: false, maxDbs: 2 });
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
  function write<T>(work: () => T): Promise<T> {
    open();
    return db.transaction(work);
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

// A process is in LMDB's table of readers from its first read until it ends, however it ends: the kernel holds its place.
// The read must come after all databases are open, since opening one gives the place up.
function ensureAlone(db: Root, path: string): void {
  db.get('');
  const others = readersOf(db).filter((pid) => pid !== process.pid);
  if (others.length === 0) return;
  void db.close();
  throw new Error(
    `The store at ${path} is in use by process ${others.join(', ')}. One process at a time may use it.`,
  );
}

function readersOf(db: Root): readonly number[] {
  db.readerCheck();
  // A line of headings, then a line for each: process, thread, transaction.
  const lines = db.readerList().split('\n').slice(1);
  return lines.map((line) => Number.parseInt(line, 10)).filter((pid) => !Number.isNaN(pid));
}

function load(): Lmdb {
  try {
    return createRequire(import.meta.url)('lmdb') as Lmdb;
  } catch (error) {
    throw new Error('lmdbStore needs the package "lmdb". Install it: npm install lmdb', { cause: error });
  }
}
