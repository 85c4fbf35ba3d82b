// An open LMDB database that other processes may have open too, and that survives failed commits.

import { createRequire } from 'node:module';
import { settlesWithin } from '../../async/deadline.js';
import { every } from '../../async/every.js';
import type { StoreLimits } from '../../state/store-shares.js';
import { checkDataFile } from './data-file.js';
import { checkFileSystem, Disk } from './disk.js';
import { checkNeighbours, checkOwnId } from './neighbours.js';
import { type Lmdb, openTables, type Tables } from './tables.js';
import { Transaction } from './transaction.js';

interface Write {
  readonly work: (transaction: Transaction) => unknown;
  readonly resolve: (result: never) => void;
  readonly reject: (reason: unknown) => void;
  /** The number of seconds that it has waited. A process that was stopped counts none of the time. */
  seconds: number;
  isOver: boolean;
}

/** The options of a database. */
export interface DatabaseOptions {
  readonly limits: Required<StoreLimits>;
  /** The longest time that a write waits for other processes and the disk. */
  readonly writeTimeoutMs: number;
}

const REASON_MS = 100;
const TICK_MS = 1000;
// While a transaction runs, no other process can write. Writes that do not fit into this time wait for the next transaction.
const TURN_MS = 20;

/**
 * An open database. Four rules hold, because other processes share it:
 *
 * 1. A transaction decides; what is read outside may be out of date.
 * 2. Only transactions that wait for their commit are used. After one that does not, other processes may read old values.
 * 3. A transaction keeps all other processes from writing, so it is short. The callback runs when the event loop is free, and a
 *    process that is stopped inside stops all of them, until it continues or is killed: so a write waits only for a time.
 * 4. Nothing tells another process about a write. The bus does.
 *
 * A commit that fails can leave LMDB's environment unusable, and then later transactions never end. So only one transaction runs
 * at a time, with all writes that were waiting, and after a failure the environment is reopened if necessary.
 */
export class Database {
  readonly #path: string;
  readonly #lmdb: Lmdb;
  readonly #options: DatabaseOptions;
  readonly #disk: Disk;
  #tables: Tables;
  #waiting: Write[] = [];
  #current: readonly Write[] = [];
  #writing: Promise<void> | undefined;
  #isBroken = false;
  #reopening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(path: string, options: DatabaseOptions) {
    this.#path = path;
    this.#options = options;
    this.#disk = new Disk(path);
    this.#lmdb = load(path);
    this.#tables = this.#open();
  }

  /** Reads a state of the database that is not older than the call. `work` must not wait for anything. */
  async read<T>(work: (tables: Tables) => T): Promise<T> {
    this.#ensureOpen();
    if (this.#isBroken) await this.#reopen();
    this.#ensureOpen();
    const { root } = this.#tables;
    // Without this, lmdb may use a state that it read before in this turn of the event loop.
    root.resetReadTxn();
    try {
      return work(this.#tables);
    } finally {
      // An old state that is in use cannot be overwritten, so the file would grow while this process is stopped.
      root.resetReadTxn();
    }
  }

  /**
   * Runs `work` in a transaction. When the promise resolves, the write is on the disk: without overlapping syncs, a commit waits
   * for the disk.
   */
  write<T>(work: (transaction: Transaction) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#ensureOpen();
      this.#waiting.push({ work, resolve, reject, seconds: 0, isOver: false });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Forgets the processes that ended without closing the database, which keep old pages from being used again. */
  forgetDeadProcesses(): void {
    if (this.#closing === undefined && !this.#isBroken) this.#tables.root.readerCheck();
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      const isIdle = this.#writing === undefined || (await settlesWithin(this.#writing, this.#patienceMs));
      await this.#reopening?.catch(() => undefined);
      // A transaction that still waits for another process cannot be closed. It ends with this process.
      if (isIdle) await this.#tables.root.close();
    })();
    return this.#closing;
  }

  get #patienceMs(): number {
    return this.#options.writeTimeoutMs + TICK_MS;
  }

  async #writeAll(): Promise<void> {
    const stop = every(TICK_MS, () => this.#giveUp());
    await null; // Writes of the same turn share a transaction.
    while (this.#waiting.length > 0) {
      this.#current = this.#waiting.splice(0);
      await this.#commit(this.#current.filter(({ isOver }) => !isOver));
    }
    this.#current = [];
    stop();
    this.#writing = undefined;
  }

  async #commit(writes: readonly Write[]): Promise<void> {
    const ends: (() => void)[] = [];
    let done = 0;
    try {
      if (this.#isBroken) await this.#reopen();
      await this.#disk.ensureRoom();
      // As a child, so that an error inside aborts the transaction.
      await this.#tables.root.childTransaction(() => {
        const endsAt = performance.now() + TURN_MS;
        const transaction = new Transaction(this.#tables, this.#options.limits);
        for (const write of writes) {
          if (done > 0 && performance.now() > endsAt) break;
          done++;
          if (!write.isOver) ends.push(attempt(write, transaction));
        }
        transaction.save();
      });
      this.#waiting.unshift(...writes.slice(done));
      for (const end of ends) end();
    } catch (error) {
      const reason = await reasonOf(error, this.#path);
      this.#isBroken ||= !this.#works();
      for (const { reject } of writes) reject(reason);
    }
  }

  // A write that has not begun does not begin after this. One that has begun is in doubt.
  #giveUp(): void {
    const most = Math.max(1, Math.ceil(this.#options.writeTimeoutMs / TICK_MS));
    for (const write of [...this.#current, ...this.#waiting]) {
      write.seconds++;
      if (write.isOver || write.seconds <= most) continue;
      write.isOver = true;
      write.reject(
        new Error(
          `The store at ${this.#path} could not be written to within ${this.#options.writeTimeoutMs} ms. Another process that has it open may be stopped in the middle of a write: continue it or end it. Or the disk is too slow.`,
        ),
      );
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
      this.#tables = this.#open();
      this.#isBroken = false;
    })().finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  #open(): Tables {
    const tables = openTables(this.#lmdb, this.#path, (root) => checkOwnId(root, this.#path));
    try {
      checkNeighbours(tables, this.#path);
      return tables;
    } catch (error) {
      void tables.root.close();
      throw error;
    }
  }

  #ensureOpen(): void {
    if (this.#closing !== undefined) throw new Error(`The store at ${this.#path} is closed.`);
  }
}

/** Runs a write. Returns the function that settles its promise, to be called when the transaction has ended. */
function attempt({ work, resolve, reject }: Write, transaction: Transaction): () => void {
  try {
    const result = work(transaction);
    return () => resolve(result as never);
  } catch (error) {
    if (transaction.isChanging) throw error;
    return () => reject(error);
  }
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

function load(path: string): Lmdb {
  const require = createRequire(import.meta.url);
  let lmdb: Lmdb;
  try {
    lmdb = require('lmdb') as Lmdb;
  } catch (error) {
    throw new Error('lmdbStore needs the package "lmdb". Install it: npm install lmdb', { cause: error });
  }
  checkFileSystem(path);
  checkDataFile(path, require.resolve('lmdb'));
  return lmdb;
}
