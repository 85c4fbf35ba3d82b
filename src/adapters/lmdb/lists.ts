// The lists of a store, as rows of LMDB.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { ListItem } from '../../state/store.js';
import { bytesOf } from '../../state/store-shares.js';
import type { ListRow, Tables } from './tables.js';
import type { Transaction } from './transaction.js';

// A longer list is removed in parts, because a transaction keeps all other processes from writing.
const MAX_DROPPED_AT_ONCE = 100;

/** Reads the items of a list that has not expired at `now`. */
export function readItems(
  tables: Tables,
  list: string,
  { after, now }: { readonly after: number; readonly now: number },
): ListItem[] {
  const row = tables.lists.get(list);
  if (row === undefined || isExpired(row, now)) return [];
  const items: ListItem[] = [];
  const start: [number, number] = [row.id, Math.max(0, Math.floor(after) + 1)];
  for (const { key, value } of tables.items.getRange({ start, end: [row.id + 1, 0] })) {
    const end = value.indexOf('\n');
    items.push({
      at: key[1],
      name: value.slice(0, end),
      value: JSON.parse(value.slice(end + 1)) as JsonObject,
    });
  }
  return items;
}

/** Reads a list inside a transaction. An expired one is removed. */
export function liveList(transaction: Transaction, list: string): ListRow | undefined {
  const row = transaction.tables.lists.get(list);
  if (row === undefined || !isExpired(row, transaction.now)) return row;
  transaction.shares.add(list, -1, -row.bytes);
  dropList(transaction, list, row);
  return undefined;
}

/** Whether a list has an item of this name. */
export function hasItem({ tables }: Transaction, { id }: ListRow, name: string): boolean {
  return tables.names.get([id, name]) !== undefined;
}

/** The bytes of an item, as the limits count them. */
export function weightOfItem(name: string, json: string): number {
  return bytesOf(name) + bytesOf(json);
}

/** Adds an item to a list, whose bytes are counted by the caller. Returns the list as it is then. */
export function appendItem(
  transaction: Transaction,
  list: string,
  {
    name,
    json,
    expiresAt,
    before,
  }: {
    readonly name: string;
    readonly json: string;
    readonly expiresAt: number | null;
    readonly before: ListRow | undefined;
  },
): ListRow {
  const { tables } = transaction;
  const id = before?.id ?? transaction.nextNumber();
  const at = transaction.nextNumber();
  const bytes = (before?.bytes ?? bytesOf(list)) + weightOfItem(name, json);
  const row: ListRow = { id, size: (before?.size ?? 0) + 1, bytes, expiresAt };
  void tables.lists.put(list, row);
  void tables.items.put([id, at], `${name}\n${json}`);
  void tables.names.put([id, name], at);
  const expiredAt = before?.expiresAt ?? null;
  if (expiresAt === expiredAt) return row;
  if (expiredAt !== null) void tables.expiries.remove([expiredAt, 'list', list]);
  if (expiresAt !== null) void tables.expiries.put([expiresAt, 'list', list], true);
  return row;
}

/** Removes a list, whose bytes are counted by the caller. The items of a long one are removed later. */
export function dropList(transaction: Transaction, list: string, { id, size, expiresAt }: ListRow): void {
  const { tables } = transaction;
  void tables.lists.remove(list);
  if (expiresAt !== null) void tables.expiries.remove([expiresAt, 'list', list]);
  if (size <= MAX_DROPPED_AT_ONCE) removeItems(tables, id, size);
  else void tables.dropped.put(id, true);
  transaction.touch();
}

/** Removes items of dropped lists, at most `limit`. Returns how many there were. */
export function removeDropped(transaction: Transaction, limit: number): number {
  const { tables } = transaction;
  let removed = 0;
  for (const id of [...tables.dropped.getKeys({ limit })]) {
    const items = removeItems(tables, id, limit - removed);
    removed += items;
    if (removed >= limit) break;
    void tables.dropped.remove(id);
  }
  if (removed > 0) transaction.touch();
  return removed;
}

function removeItems(tables: Tables, id: number, limit: number): number {
  const rows = [...tables.items.getRange({ start: [id, 0], end: [id + 1, 0], limit })];
  for (const { key, value } of rows) {
    void tables.names.remove([id, value.slice(0, value.indexOf('\n'))]);
    void tables.items.remove(key);
  }
  return rows.length;
}

function isExpired({ expiresAt }: ListRow, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}
