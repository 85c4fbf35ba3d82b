// A transaction, with the facts about the whole database: the time, the next number, and how much is stored.

import { type StoreLimits, StoreShares } from '../../state/store-shares.js';
import { type Facts, FORMAT, type Tables, type Total } from './tables.js';

const NEW: Facts = { format: FORMAT, counter: 0, time: 0, ahead: 0 };
// A time that no clock reaches, and that leaves room for exact arithmetic.
const LONGEST_MS = 1e14;

/**
 * A transaction. Everything that decides something is read in here, where no other process writes: what is read outside may
 * already be changed. All counts are in the database, because each process sees only its own writes.
 */
export class Transaction {
  readonly tables: Tables;
  /** The time by the clock of the store. */
  readonly now: number;
  readonly shares: StoreShares;
  readonly #totals: Totals;
  readonly #sizes: Totals;
  readonly #ahead: number;
  #counter: number;
  #isChanged: boolean;
  #isChanging = false;

  constructor(tables: Tables, limits: Required<StoreLimits>) {
    const { counter, time, ahead } = tables.facts.get('facts') ?? NEW;
    const wall = Date.now();
    this.tables = tables;
    this.#counter = counter;
    this.#ahead = Math.max(ahead, time - wall);
    this.#isChanged = this.#ahead !== ahead;
    this.now = wall + this.#ahead;
    this.#totals = new Totals(tables.totals, 'total');
    this.#sizes = new Totals(tables.totals, 'size');
    this.shares = new StoreShares(limits, this.#totals);
  }

  /** A number that was never returned before, in any process. */
  nextNumber(): number {
    this.#isChanged = true;
    return ++this.#counter;
  }

  /** The number of keys in a queue. */
  sizeOf(queue: string): number {
    return this.#sizes.get(queue)?.entries ?? 0;
  }

  resize(queue: string, by: number): void {
    const entries = this.sizeOf(queue) + by;
    if (entries === 0) this.#sizes.delete(queue);
    else this.#sizes.set(queue, { entries, bytes: 0 });
  }

  /** The time `ms` from now, in whole milliseconds. */
  after(ms: number): number {
    return this.now + Math.ceil(Math.max(-LONGEST_MS, Math.min(ms, LONGEST_MS)));
  }

  /** Changes rows. If that throws, the rows are in doubt, and the whole transaction must be aborted. */
  change<T>(work: () => T): T {
    this.#isChanging = true;
    const result = work();
    this.#isChanging = false;
    return result;
  }

  /** Whether a change began and did not end. */
  get isChanging(): boolean {
    return this.#isChanging;
  }

  /** Records that rows were changed, so that the time of the store is saved with them. */
  touch(): void {
    this.#isChanged = true;
  }

  /** Writes the counts. A transaction that changed nothing writes nothing, and does not wait for the disk. */
  save(): void {
    const hasTotals = this.#totals.save();
    const hasSizes = this.#sizes.save();
    if (!this.#isChanged && !hasTotals && !hasSizes) return;
    const facts: Facts = { format: FORMAT, counter: this.#counter, time: this.now, ahead: this.#ahead };
    void this.tables.facts.put('facts', facts);
  }
}

/**
 * The time by the clock of the store, for reading. It is the clock of the machine, which survives a restart, but it never goes
 * back: when the clock of the machine is set back, the next transaction records how far the store is ahead of it. So nothing is
 * due or expires later than was asked for.
 */
export function timeOf(tables: Tables): number {
  const { time, ahead } = tables.facts.get('facts') ?? NEW;
  return Math.max(time, Date.now() + ahead);
}

/** Whether the clock of the machine was set back since the last transaction. Until the next one, the store's clock stands. */
export function isClockBehind(tables: Tables): boolean {
  const { time, ahead } = tables.facts.get('facts') ?? NEW;
  return Date.now() + ahead < time;
}

/** Rows of totals, read once and written once in a transaction, however many writes share it. */
class Totals {
  readonly #table: Tables['totals'];
  readonly #kind: 'total' | 'size';
  readonly #rows = new Map<string, Total | undefined>();
  readonly #changed = new Set<string>();

  constructor(table: Tables['totals'], kind: 'total' | 'size') {
    this.#table = table;
    this.#kind = kind;
  }

  get(name: string): Total | undefined {
    if (!this.#rows.has(name)) this.#rows.set(name, this.#table.get(`${this.#kind}:${name}`));
    return this.#rows.get(name);
  }

  set(name: string, total: Total): void {
    this.#rows.set(name, total);
    this.#changed.add(name);
  }

  delete(name: string): void {
    this.#rows.set(name, undefined);
    this.#changed.add(name);
  }

  save(): boolean {
    for (const name of this.#changed) {
      const [key, total] = [`${this.#kind}:${name}` as const, this.#rows.get(name)];
      if (total === undefined) void this.#table.remove(key);
      else void this.#table.put(key, total);
    }
    return this.#changed.size > 0;
  }
}
