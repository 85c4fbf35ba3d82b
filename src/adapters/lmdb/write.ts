// Makes the changes of a write, or refuses them, inside a transaction.

import type { Append, Count, Lease, Put, StoreChange, Written } from '../../state/store.js';
import { bytesOf } from '../../state/store-shares.js';
import { appendItem, dropList, hasItem, liveList, weightOfItem } from './lists.js';
import { dequeue, enqueue, hasWork, hold, isHeld, release } from './queues.js';
import { sweepSome } from './sweep.js';
import type { ListRow } from './tables.js';
import type { Transaction } from './transaction.js';
import { liveValue, putValue, removeValue, type ValueRow, weightOf } from './values.js';

/** A change whose value is JSON already, so that a transaction need not print it. */
export type PrintedChange = (
  | Exclude<StoreChange, Put | Append>
  | Omit<Put, 'value'>
  | Omit<Append, 'value'>
) & {
  readonly json: string;
};

interface Plan {
  readonly isMet: boolean;
  /** Counts what is going to be stored or removed. Throws if it does not fit. Returns a function that reverts the count. */
  readonly reserve?: () => () => void;
  readonly make?: () => unknown;
}

/** Copies changes with their values printed: the caller may change them while the write waits. */
export function print(changes: readonly StoreChange[]): readonly PrintedChange[] {
  return changes.map((change) => {
    for (const ms of timesOf(change))
      if (Number.isNaN(ms)) throw new RangeError(`A time of the change "${change.do}" is not a number.`);
    return { ...change, json: 'value' in change ? JSON.stringify(change.value) : '' };
  });
}

function timesOf(change: StoreChange): readonly (number | undefined)[] {
  if (change.do === 'enqueue') return [change.inMs, change.hold?.ms];
  if (change.do === 'release') return [change.inMs];
  return 'ttlMs' in change ? [change.ttlMs] : [];
}

/** Makes all changes or none. Checks everything before it makes the first change. */
export function applyWrite(
  transaction: Transaction,
  changes: readonly PrintedChange[],
  guard: Lease | undefined,
): Written {
  if (guard !== undefined && !isHeld(transaction, guard)) return { ok: false, refusedBy: 'guard' };
  const planner = new Planner(transaction, guard);
  const plans: Plan[] = [];
  for (const [refusedBy, change] of changes.entries()) {
    const plan = planner.plan(change);
    if (!plan.isMet) return { ok: false, refusedBy };
    plans.push(plan);
  }
  reserve(plans);
  transaction.change(() => {
    for (const { make } of plans) make?.();
  });
  const { lease } = planner;
  return lease === undefined ? { ok: true } : { ok: true, lease };
}

function reserve(plans: readonly Plan[]): void {
  const undo: (() => void)[] = [];
  try {
    for (const { reserve: count } of plans) if (count !== undefined) undo.push(count());
  } catch (error) {
    for (const revert of undo) revert();
    throw error;
  }
}

/** Reads each row of a write once, and says what is to be done with it. */
class Planner {
  /** The lease that the write has made. */
  lease: Lease | undefined;
  readonly #transaction: Transaction;
  readonly #guard: Lease | undefined;
  /** The lists of the write, as its changes so far leave them: a write may append several items to one. */
  readonly #lists = new Map<string, ListRow | undefined>();
  readonly #listBytes = new Map<string, number>();

  constructor(transaction: Transaction, guard: Lease | undefined) {
    this.#transaction = transaction;
    this.#guard = guard;
  }

  plan(change: PrintedChange): Plan {
    const transaction = this.#transaction;
    switch (change.do) {
      case 'put':
        return this.#put(change);
      case 'count':
        return this.#count(change);
      case 'append':
        return this.#append(change);
      case 'delete': {
        const { key } = change;
        const row = liveValue(transaction, key);
        return { isMet: isMet(change.if, row), ...this.#removal(key, row) };
      }
      case 'drop': {
        const row = this.#list(change.list);
        if (row === undefined) return { isMet: true };
        return {
          isMet: true,
          reserve: () => transaction.shares.add(change.list, -1, -row.bytes),
          make: () => dropList(transaction, change.list, row),
        };
      }
      case 'expect':
        return { isMet: (this.#list(change.list)?.size ?? 0) === change.size };
      case 'enqueue': {
        const { queue, key, inMs = 0, hold: holder } = change;
        if (holder === undefined)
          return { isMet: true, make: () => enqueue(transaction, queue, { key, inMs }) };
        const isFree = !hasWork(transaction, queue, key);
        const make = (): void => {
          this.lease = hold(transaction, queue, { key, ...holder });
        };
        return { isMet: isFree, make };
      }
      case 'release': {
        const { inMs, keepAttempt = false } = change;
        const guard = this.#guard as Lease;
        return { isMet: true, make: () => release(transaction, guard, { inMs, keepAttempt }) };
      }
      case 'dequeue':
        return { isMet: true, make: () => dequeue(transaction, change.queue, change.key) };
      default:
        return change satisfies never;
    }
  }

  #put({ key, json, if: condition, ttlMs }: Omit<Put, 'value'> & { readonly json: string }): Plan {
    const before = liveValue(this.#transaction, key);
    const expiresAt = ttlMs === undefined ? before?.expiresAt : this.#transaction.after(ttlMs);
    return { isMet: isMet(condition, before), ...this.#writing(key, { json, expiresAt, before }) };
  }

  #count({ key, by, max, ttlMs }: Count): Plan {
    const before = liveValue(this.#transaction, key);
    const count = Math.max(0, countOf(before) + by);
    if (by > 0 && max !== undefined && count > max) return { isMet: false };
    if (count === 0) return { isMet: true, ...this.#removal(key, before) };
    const isNew = before === undefined && ttlMs !== undefined;
    const expiresAt = isNew ? this.#transaction.after(ttlMs) : before?.expiresAt;
    return { isMet: true, ...this.#writing(key, { json: JSON.stringify({ count }), expiresAt, before }) };
  }

  #append({ list, name, json, ttlMs }: Omit<Append, 'value'> & { readonly json: string }): Plan {
    const transaction = this.#transaction;
    const row = this.#list(list);
    if (row !== undefined && hasItem(transaction, row, name)) return { isMet: false };
    const bytesBefore = this.#listBytes.get(list) ?? row?.bytes;
    const bytes = (bytesBefore ?? bytesOf(list)) + weightOfItem(name, json);
    this.#listBytes.set(list, bytes);
    const expiry = ttlMs === undefined ? undefined : transaction.after(ttlMs);
    return {
      isMet: true,
      reserve: () => this.#replace(list, bytes, bytesBefore),
      make: () => {
        const before = this.#list(list);
        const expiresAt = expiry ?? before?.expiresAt ?? null;
        this.#lists.set(list, appendItem(transaction, list, { name, json, expiresAt, before }));
      },
    };
  }

  #writing(
    key: string,
    row: Omit<ValueRow, 'version'> & { readonly before: ValueRow | undefined },
  ): Omit<Plan, 'isMet'> {
    const { json, before } = row;
    const bytesBefore = before && weightOf(key, before.json);
    return {
      reserve: () => this.#replace(key, weightOf(key, json), bytesBefore),
      make: () => putValue(this.#transaction, key, row),
    };
  }

  #removal(key: string, row: ValueRow | undefined): Omit<Plan, 'isMet'> {
    if (row === undefined) return {};
    return {
      reserve: () => this.#transaction.shares.add(key, -1, -weightOf(key, row.json)),
      make: () => removeValue(this.#transaction, key, row),
    };
  }

  #replace(key: string, bytes: number, bytesBefore: number | undefined): () => void {
    return this.#transaction.shares.replace(
      key,
      bytes,
      () => bytesBefore,
      () => sweepSome(this.#transaction),
    );
  }

  #list(list: string): ListRow | undefined {
    if (!this.#lists.has(list)) this.#lists.set(list, liveList(this.#transaction, list));
    return this.#lists.get(list);
  }
}

function isMet(condition: Put['if'], row: ValueRow | undefined): boolean {
  if (condition === undefined) return true;
  return condition === 'absent' ? row === undefined : row?.version === condition.version;
}

function countOf(row: ValueRow | undefined): number {
  const { count } = JSON.parse(row?.json ?? '{}') as { readonly count?: unknown };
  return typeof count === 'number' ? count : 0;
}
