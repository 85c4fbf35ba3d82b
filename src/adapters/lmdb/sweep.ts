// Removes what has expired, a part at a time.

import { liveList, removeDropped } from './lists.js';
import type { Transaction } from './transaction.js';
import { liveValue } from './values.js';

// A transaction keeps all other processes from writing, so each removes only so much.
const MOST = 500;

/** Removes expired entries and lists, and items of dropped lists. Returns whether there may be more. */
export function sweepSome(transaction: Transaction): boolean {
  const { tables, now } = transaction;
  const rows = [...tables.expiries.getKeys({ end: [now + 1, 'list', ''], limit: MOST })];
  for (const row of rows) {
    const [, kind, key] = row;
    void tables.expiries.remove(row);
    if (kind === 'list') liveList(transaction, key);
    else liveValue(transaction, key);
  }
  return removeDropped(transaction, MOST) === MOST || rows.length === MOST;
}
