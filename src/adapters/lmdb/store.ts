// A store on the disk of one machine, for one process or several.

import { every } from '../../async/every.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { checkChanges, MAX_KEY_BYTES } from '../../state/changes.js';
import type {
  ClaimOptions,
  Lease,
  ListItem,
  Store,
  StoreChange,
  StoreEntry,
  Written,
} from '../../state/store.js';
import { type StoreLimits, shareTable } from '../../state/store-shares.js';
import { Database } from './database.js';
import { readItems } from './lists.js';
import { claim, mayBeDue, renew } from './queues.js';
import { sweepSome } from './sweep.js';
import { isClockBehind, timeOf } from './transaction.js';
import { pageOfValues, readValue, toEntry } from './values.js';
import { applyWrite, print } from './write.js';

/** The options of `lmdbStore`. */
export interface LmdbStoreOptions extends StoreLimits {
  /**
   * The interval at which expired entries are removed from the disk, in milliseconds. An expired entry is never returned, removed
   * or not. Default: 60 s.
   */
  readonly sweepIntervalMs?: number;
  /**
   * The longest time that a write waits for other processes that have the folder open, and for the disk, in milliseconds. Then it
   * is rejected. Default: 10 s.
   */
  readonly writeTimeoutMs?: number;
}

const optionTable = {
  maxEntries: { is: 'number', default: 1_000_000 },
  maxBytes: { is: 'number', default: 4 * 1024 ** 3 },
  ...shareTable,
  sweepIntervalMs: { is: 'timer', default: 60_000 },
  writeTimeoutMs: { is: 'ms', default: 10_000 },
} as const satisfies OptionTable<LmdbStoreOptions>;

// The largest number of keys in one transaction, which keeps all other processes from writing.
const BATCH = 200;

/**
 * Opens a store in a folder on this machine, an LMDB database that survives a crash of the process or of the machine. Needs
 * the package `lmdb`. The processes of one machine can share the folder, if none of them runs in a container of its own.
 */
export function lmdbStore(path: string, options: LmdbStoreOptions = {}): Store {
  return new LmdbStore(path, readOptions('lmdbStore', options, optionTable));
}

class LmdbStore implements Store {
  readonly #database: Database;
  readonly #stopSweeping: () => void;

  constructor(path: string, { sweepIntervalMs, writeTimeoutMs, ...limits }: Required<LmdbStoreOptions>) {
    this.#database = new Database(path, { limits, writeTimeoutMs });
    // The next sweep finds everything that a failed one has left.
    this.#stopSweeping = every(sweepIntervalMs, () => this.#sweep(), { onError: () => undefined });
  }

  get(key: string): Promise<StoreEntry | undefined> {
    return this.#database.read((tables) => {
      const now = timeOf(tables);
      const row = canBeKey(key) ? readValue(tables, key, now) : undefined;
      return row && toEntry(key, row, now);
    });
  }

  page(prefix: string, { after = '', limit = 100 } = {}): Promise<readonly StoreEntry[]> {
    return this.#database.read((tables) =>
      canBeKey(prefix) && canBeKey(after)
        ? pageOfValues(tables, { prefix, after, limit, now: timeOf(tables) })
        : [],
    );
  }

  items(list: string, { after = -1 } = {}): Promise<readonly ListItem[]> {
    return this.#database.read((tables) =>
      canBeKey(list) ? readItems(tables, list, { after, now: timeOf(tables) }) : [],
    );
  }

  async write(changes: readonly StoreChange[], { guard }: { readonly guard?: Lease } = {}): Promise<Written> {
    checkChanges(changes, guard);
    const printed = print(changes);
    return this.#database.write((transaction) => applyWrite(transaction, printed, guard));
  }

  async claim(queue: string, { owner, limit, ms }: ClaimOptions): Promise<readonly Lease[]> {
    checkTime(ms);
    const leases: Lease[] = [];
    while (leases.length < limit && (await this.#mayBeDue(queue))) {
      const options = { owner, limit: Math.min(BATCH, limit - leases.length), ms };
      const more = await this.#database
        .write((transaction) => transaction.change(() => claim(transaction, queue, options)))
        .catch((error: unknown) => {
          if (leases.length === 0) throw error;
          return [];
        });
      leases.push(...more);
      if (more.length < options.limit) break;
    }
    return leases;
  }

  async renew(leases: readonly Lease[], ms: number): Promise<readonly Lease[]> {
    checkTime(ms);
    const held: Lease[] = [];
    for (let at = 0; at < leases.length; at += BATCH) {
      const some = leases.slice(at, at + BATCH).filter(({ queue, key }) => canBeKey(queue) && canBeKey(key));
      held.push(
        ...(await this.#database.write((transaction) =>
          transaction.change(() => renew(transaction, some, ms)),
        )),
      );
    }
    return held;
  }

  size(queue: string): Promise<number> {
    return this.#database.read((tables) =>
      canBeKey(queue) ? (tables.totals.get(`size:${queue}`)?.entries ?? 0) : 0,
    );
  }

  async close(): Promise<void> {
    this.#stopSweeping();
    await this.#database.close();
  }

  /** A claim that finds nothing need not stop other processes. */
  #mayBeDue(queue: string): Promise<boolean> {
    return this.#database.read(
      (tables) => isClockBehind(tables) || (canBeKey(queue) && mayBeDue(tables, queue, timeOf(tables))),
    );
  }

  async #sweep(): Promise<void> {
    this.#database.forgetDeadProcesses();
    // Also saves the time, so that the store notices when the clock is set back.
    const sweep = (): Promise<boolean> =>
      this.#database.write((transaction) => {
        transaction.touch();
        return transaction.change(() => sweepSome(transaction));
      });
    while (await sweep());
  }
}

function checkTime(ms: number): void {
  if (Number.isNaN(ms)) throw new RangeError('The time of a lease is not a number.');
}

/** Whether there can be a key like this. LMDB itself throws an error for the others. */
function canBeKey(key: string): boolean {
  return Buffer.byteLength(key) <= MAX_KEY_BYTES;
}
