// The queues of a store, as rows of LMDB.

import type { ClaimOptions, Lease } from '../../state/store.js';
import type { Tables, WorkRow } from './tables.js';
import type { Transaction } from './transaction.js';

const NOBODY = 0;

/** Whether a lease is held. Its token decides, never a clock: no two claims have the same token. */
export function isHeld({ tables }: Transaction, { queue, key, token }: Lease): boolean {
  return tables.work.get([queue, key])?.token === token;
}

/** Whether a key is in a queue. */
export function hasWork({ tables }: Transaction, queue: string, key: string): boolean {
  return tables.work.get([queue, key]) !== undefined;
}

/** Whether a key of the queue may be due. Only a claim can tell: what is read outside a transaction may be changed already. */
export function mayBeDue(tables: Tables, queue: string, now: number): boolean {
  for (const _ of tables.due.getKeys(dueBefore(queue, now, 1))) return true;
  return false;
}

/** Puts a key into a queue, or makes it due earlier. */
export function enqueue(
  transaction: Transaction,
  queue: string,
  { key, inMs }: { readonly key: string; readonly inMs: number },
): void {
  const due = transaction.after(inMs);
  const before = transaction.tables.work.get([queue, key]);
  if (before === undefined) {
    transaction.resize(queue, 1);
    replace(transaction, queue, { key, row: { due, token: NOBODY, attempt: 0, owner: '' }, before });
  } else if (before.token === NOBODY && due < before.due)
    replace(transaction, queue, { key, row: { ...before, due }, before });
}

/** Puts a key into a queue that is held from the start. */
export function hold(
  transaction: Transaction,
  queue: string,
  { key, owner, ms }: { readonly key: string; readonly owner: string; readonly ms: number },
): Lease {
  const row: WorkRow = { due: transaction.after(ms), token: transaction.nextNumber(), attempt: 1, owner };
  transaction.resize(queue, 1);
  replace(transaction, queue, { key, row, before: undefined });
  return toLease(queue, key, row);
}

/** Ends a lease. */
export function release(
  transaction: Transaction,
  { queue, key }: Lease,
  { inMs, keepAttempt }: { readonly inMs: number; readonly keepAttempt: boolean },
): void {
  const before = transaction.tables.work.get([queue, key]);
  if (before === undefined) return;
  const attempt = keepAttempt ? before.attempt : 0;
  const row: WorkRow = { due: transaction.after(inMs), token: NOBODY, attempt, owner: '' };
  replace(transaction, queue, { key, row, before });
}

/** Removes a key from a queue. */
export function dequeue(transaction: Transaction, queue: string, key: string): void {
  const { tables } = transaction;
  const before = tables.work.get([queue, key]);
  if (before === undefined) return;
  transaction.resize(queue, -1);
  void tables.work.remove([queue, key]);
  void tables.due.remove([queue, before.due, key]);
}

/** Takes keys that are due, the longest due first. */
export function claim(transaction: Transaction, queue: string, { owner, limit, ms }: ClaimOptions): Lease[] {
  const { tables, now } = transaction;
  const keys = [...tables.due.getKeys(dueBefore(queue, now, limit))].map((row) => row[2]);
  return keys.map((key) => {
    const before = tables.work.get([queue, key]);
    const attempt = (before?.attempt ?? 0) + 1;
    const row: WorkRow = { due: transaction.after(ms), token: transaction.nextNumber(), attempt, owner };
    replace(transaction, queue, { key, row, before });
    return toLease(queue, key, row);
  });
}

/** Extends the leases that are still held, and returns them. */
export function renew(transaction: Transaction, leases: readonly Lease[], ms: number): Lease[] {
  const due = transaction.after(ms);
  return leases.filter((lease) => {
    const before = transaction.tables.work.get([lease.queue, lease.key]);
    if (before === undefined || before.token !== lease.token) return false;
    replace(transaction, lease.queue, { key: lease.key, row: { ...before, due }, before });
    return true;
  });
}

function replace(
  transaction: Transaction,
  queue: string,
  { key, row, before }: { readonly key: string; readonly row: WorkRow; readonly before: WorkRow | undefined },
): void {
  const { tables } = transaction;
  void tables.work.put([queue, key], row);
  transaction.touch();
  if (row.due === before?.due) return;
  if (before !== undefined) void tables.due.remove([queue, before.due, key]);
  void tables.due.put([queue, row.due, key], true);
}

function dueBefore(
  queue: string,
  now: number,
  limit: number,
): {
  readonly start: [string, number, string];
  readonly end: [string, number, string];
  readonly limit: number;
} {
  return { start: [queue, -1e15, ''], end: [queue, now + 1, ''], limit };
}

function toLease(queue: string, key: string, { token, attempt }: WorkRow): Lease {
  return { queue, key, token, attempt };
}
