// The entries of a store, as rows of LMDB.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { StoreEntry } from '../../state/store.js';
import { bytesOf } from '../../state/store-shares.js';
import type { Tables } from './tables.js';
import type { Transaction } from './transaction.js';

/** An entry as it was read. */
export interface ValueRow {
  readonly version: string;
  readonly expiresAt: number | undefined;
  readonly json: string;
}

/** Reads an entry that has not expired at `now`. */
export function readValue(tables: Tables, key: string, now: number): ValueRow | undefined {
  const row = parse(tables.values.get(key));
  return row === undefined || isExpired(row, now) ? undefined : row;
}

/** Reads an entry inside a transaction. An expired one is removed. */
export function liveValue(transaction: Transaction, key: string): ValueRow | undefined {
  const row = parse(transaction.tables.values.get(key));
  if (row === undefined || !isExpired(row, transaction.now)) return row;
  transaction.shares.add(key, -1, -weightOf(key, row.json));
  removeValue(transaction, key, row);
  return undefined;
}

/** Writes an entry in place of `before`, which is counted by the caller. */
export function putValue(
  transaction: Transaction,
  key: string,
  { json, expiresAt, before }: Omit<ValueRow, 'version'> & { readonly before: ValueRow | undefined },
): void {
  const { tables } = transaction;
  void tables.values.put(key, `${transaction.nextNumber()} ${expiresAt ?? ''} ${json}`);
  if (expiresAt === before?.expiresAt) return;
  if (before?.expiresAt !== undefined) void tables.expiries.remove([before.expiresAt, 'value', key]);
  if (expiresAt !== undefined) void tables.expiries.put([expiresAt, 'value', key], true);
}

/** Removes an entry, which is counted by the caller. */
export function removeValue(transaction: Transaction, key: string, { expiresAt }: ValueRow): void {
  const { tables } = transaction;
  void tables.values.remove(key);
  if (expiresAt !== undefined) void tables.expiries.remove([expiresAt, 'value', key]);
  transaction.touch();
}

/** The bytes of an entry, as the limits count them. */
export function weightOf(key: string, json: string): number {
  return bytesOf(key) + bytesOf(json);
}

/** The entries whose keys begin with `prefix`, after the key `after`. */
export function pageOfValues(
  tables: Tables,
  {
    prefix,
    after,
    limit,
    now,
  }: { readonly prefix: string; readonly after: string; readonly limit: number; readonly now: number },
): StoreEntry[] {
  const page: StoreEntry[] = [];
  const isAfter = after !== '' && Buffer.compare(Buffer.from(after), Buffer.from(prefix)) >= 0;
  const start = isAfter ? after : prefix;
  for (const { key, value } of tables.values.getRange(start === '' ? {} : { start })) {
    if (page.length >= limit || !key.startsWith(prefix)) break;
    const row = key === after ? undefined : parse(value);
    if (row !== undefined && !isExpired(row, now)) page.push(toEntry(key, row, now));
  }
  return page;
}

/** An entry as the store returns it. */
export function toEntry(key: string, { version, expiresAt, json }: ValueRow, now: number): StoreEntry {
  const expiresInMs = expiresAt === undefined ? undefined : expiresAt - now;
  return { key, value: JSON.parse(json) as JsonObject, version, expiresInMs };
}

function isExpired({ expiresAt }: ValueRow, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

function parse(text: string | undefined): ValueRow | undefined {
  if (text === undefined) return undefined;
  const first = text.indexOf(' ');
  const second = text.indexOf(' ', first + 1);
  const expiresAt = second === first + 1 ? undefined : Number(text.slice(first + 1, second));
  return { version: text.slice(0, first), expiresAt, json: text.slice(second + 1) };
}
