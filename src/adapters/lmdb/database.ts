// An open LMDB database that survives failed commits.

import { createRequire } from 'node:module';
import process from 'node:process';
import { settlesWithin } from '../../async/deadline.js';
import { checkDataFile } from './data-file.js';

// The package's types for ES modules are not valid TypeScript; those for CommonJS are.
type Lmdb = typeof import('lmdb', { with: { 'resolution-mode': 'require' }});
type Root = ReturnType<Lmdb['open']>;
type Table<V, K extends string | [number, string]> = import('lmdb', { with: {
  'resolution-mode': 'require',
}}).Database<V, K>;

/** An entry as it is written: when it expires, if it does, a space, and its JSON. */
export type StoredEntry = `${number | ''} ${string}`;

interface Tables {
  readonly root: Root;
  /** The entries in the order of expiry. If an entry is set again with another expiry, its old row remains. */
  readonly expiries: Table<true, [number, string]>;
  readonly entries: Table<StoredEntry, string>;
}

interface Write {
  readonly work: () => unknown;
  readonly resolve: (result: never) => void;
  readonly reject: (reason: unknown) => void;
}

const REASON_MS = 100;

/**
 * An open database. A commit that fails can leave LMDB's environment unusable, and then later transactions never end. So only one
 * transaction runs at a time, with all writes that were waiting, and after a failure the environment is reopened if necessary.
 */
export class Database {
  readonly #path: string;
  readonly #lmdb: Lmdb;
  #tables: Tables;
  #waiting: Write[] = [];
  #writing: Promise<void> | undefined;
  #isBroken = false;
  #reopening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#lmdb = load(path);
    this.#tables = openTables(this.#lmdb, path);
  }

  get entries(): Tables['entries'] {
    return this.#tables.entries;
  }

  get expiries(): Tables['expiries'] {
    return this.#tables.expiries;
  }

  /** Resolves when the tables can be read. Read them before awaiting anything else, because the database may be reopened. */
  async ready(): Promise<void> {
    this.#ensureOpen();
    if (!this.#isBroken) return;
    await this.#reopen();
    this.#ensureOpen();
  }

  /**
   * Runs `work` in a transaction. When the promise resolves, the write is on the disk: without overlapping syncs, a commit waits
   * for the disk.
   */
  write<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#ensureOpen();
      this.#waiting.push({ work, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.#writing;
      await this.#reopening?.catch(() => undefined);
      await this.#tables.root.close();
    })();
    return this.#closing;
  }

  async #writeAll(): Promise<void> {
    await null; // Writes of the same turn share a transaction.
    while (this.#waiting.length > 0) await this.#commit(this.#waiting.splice(0));
    this.#writing = undefined;
  }

  async #commit(writes: readonly Write[]): Promise<void> {
    const ends: (() => void)[] = [];
    try {
      if (this.#isBroken) await this.#reopen();
      await this.#tables.root.transaction(() => {
        for (const write of writes) ends.push(attempt(write));
      });
      for (const end of ends) end();
    } catch (error) {
      const reason = await reasonOf(error, this.#path);
      this.#isBroken ||= !this.#works();
      for (const { reject } of writes) reject(reason);
    }
  }

  // An empty transaction writes nothing, and fails if the environment is unusable.
  #works(): boolean {
    try {
      this.#tables.root.transactionSync(() => undefined);
      return true;
    } catch {
      return false;
    }
  }

  #reopen(): Promise<void> {
    this.#reopening ??= (async () => {
      await this.#tables.root.close();
      this.#tables = openTables(this.#lmdb, this.#path);
      this.#isBroken = false;
    })().finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  #ensureOpen(): void {
    if (this.#closing !== undefined) throw new Error(`The store at ${this.#path} is closed.`);
  }
}

/** Runs a write. Returns the function that settles its promise, to be called when the transaction has ended. */
function attempt({ work, resolve, reject }: Write): () => void {
  try {
    const result = work();
    return () => resolve(result as never);
  } catch (error) {
    return () => reject(error);
  }
}

function openTables(lmdb: Lmdb, path: string): Tables {
  // With batching by turns of the event loop, a commit that fails leaves a rejected promise that nobody can reach.
  const root = lmdb.open({
    path,
    noSubdir: false,
    overlappingSync: false,
    maxDbs: 2,
    eventTurnBatching: false,
  });
  const expiries = root.openDB<true, [number, string]>({ name: 'expiries', encoding: 'json' });
  const entries = root.openDB<StoredEntry, string>({ name: 'entries', encoding: 'string' });
  ensureAlone(root, path);
  return { root, expiries, entries };
}

/** The reason why a commit failed. lmdb has it in a promise of its own, which would be an unhandled rejection. */
async function reasonOf(error: unknown, path: string): Promise<unknown> {
  const { commitError } = error as { readonly commitError?: Promise<never> };
  if (commitError === undefined) return error;
  if (!(await settlesWithin(commitError, REASON_MS))) return error;
  const reason = await commitError.catch((cause: unknown) => cause);
  if (reason === undefined) return error;
  const why = reason instanceof Error ? reason.message : String(reason);
  return new Error(`The store at ${path} could not write to the disk: ${why}`, { cause: reason });
}

// A process is in LMDB's table of readers from its first read until it exits in any way: the kernel holds its place. The read
// must come after all databases are open, because opening one releases the place. A process that is in the table before this read
// has the store open, even if it has our own process id: it is this process, or one with the same id in another container. In
// the latter case the read would wait until that process is gone.
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
    `The store at ${path} is in use by process ${[...new Set(who)].join(', ')}. Stop that server, or use another folder.`,
  );
}

function readersOf(db: Root): readonly number[] {
  db.readerCheck();
  // A line of headings, then a line for each reader: process, thread, transaction.
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
