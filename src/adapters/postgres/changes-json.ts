// The changes of a write as the function of the schema reads them.

import { checkChanges } from '../../state/changes.js';
import type { Lease, StoreChange } from '../../state/store.js';

/** The largest number of changes in one write. */
const MAX_CHANGES = 1000;

/** A time that is as good as never, in milliseconds: 1,000 years. Postgres cannot add much more to a date. */
const NEVER_MS = 1000 * 365 * 24 * 3_600_000;

/** The options of `writeArguments`. */
export interface WriteArgumentOptions {
  readonly guard: Lease | undefined;
  readonly maxValueBytes: number;
  readonly lockTimeoutMs: number;
}

/** The arguments of the function `write_1`. Throws a `RangeError` if the changes can never be made. */
export function writeArguments(
  changes: readonly StoreChange[],
  { guard, maxValueBytes, lockTimeoutMs }: WriteArgumentOptions,
): unknown[] {
  checkChanges(changes, guard);
  if (changes.length > MAX_CHANGES)
    throw new RangeError(`A write has ${changes.length} changes. At most ${MAX_CHANGES} are allowed.`);
  const rows = changes.map((change) => rowOf(change, maxValueBytes));
  // All processes lock in this order, so that no two of them wait for each other.
  const places = [...new Set(changes.flatMap(placesOf))].sort();
  const endsLease = changes.some(
    (change) =>
      change.do === 'release' ||
      (change.do === 'dequeue' && change.queue === guard?.queue && change.key === guard.key),
  );
  const { queue = null, key = null, token = null } = guard ?? {};
  return [JSON.stringify(rows), places, queue, key, token, endsLease, lockTimeoutMs];
}

/** A duration that Postgres can add to a date. Throws a `RangeError` if it is not a number. */
export function durationOf(ms: number): number {
  if (typeof ms !== 'number' || Number.isNaN(ms))
    throw new RangeError(`${String(ms)} is not a duration in milliseconds.`);
  return Math.min(Math.max(ms, -NEVER_MS), NEVER_MS);
}

/** The name of a process as the database can keep it. */
export function ownerOf(owner: string): string {
  return owner.replace(/[\p{Cc}\p{Cs}]/gu, '?').slice(0, 200);
}

function rowOf(change: StoreChange, maxBytes: number): object {
  switch (change.do) {
    case 'put':
      return {
        do: 'put',
        key: change.key,
        value: jsonOf(change.value, change.key, maxBytes),
        ...(change.if !== undefined && { if: change.if === 'absent' ? null : versionOf(change.if) }),
        ...ttlOf(change),
      };
    case 'delete':
      return {
        do: 'delete',
        key: change.key,
        ...(change.if !== undefined && { if: versionOf(change.if) }),
      };
    case 'append':
      return {
        do: 'append',
        list: change.list,
        name: change.name,
        value: jsonOf(change.value, change.name, maxBytes),
        ...ttlOf(change),
      };
    case 'drop':
      return { do: 'drop', list: change.list };
    case 'expect':
      if (!Number.isSafeInteger(change.size))
        throw new RangeError(`A list cannot have ${change.size} items.`);
      return { do: 'expect', list: change.list, size: change.size };
    case 'enqueue': {
      const { queue, key, inMs = 0, hold } = change;
      if (hold === undefined) return { do: 'enqueue', queue, key, in: durationOf(inMs) };
      return { do: 'enqueue', queue, key, hold: durationOf(hold.ms), owner: ownerOf(hold.owner) };
    }
    case 'release':
      return {
        do: 'release',
        in: durationOf(change.inMs),
        ...(change.keepAttempt === true && { keep: true }),
      };
    case 'dequeue':
      return { do: 'dequeue', queue: change.queue, key: change.key };
    case 'count': {
      const { key, by, max = Number.POSITIVE_INFINITY } = change;
      if (!Number.isFinite(by)) throw new RangeError(`A count cannot change by ${by}.`);
      if (Number.isNaN(max)) throw new RangeError('The maximum of a count is not a number.');
      return { do: 'count', key, by, ...(Number.isFinite(max) && { max }), ...ttlOf(change) };
    }
    default:
      return change satisfies never;
  }
}

function placesOf(change: StoreChange): readonly string[] {
  switch (change.do) {
    case 'put':
    case 'delete':
    case 'count':
      return [`entry ${change.key}`];
    case 'append':
    case 'drop':
    case 'expect':
      return [`list ${change.list}`];
    case 'enqueue':
    case 'dequeue':
      return [`work ${JSON.stringify([change.queue, change.key])}`];
    case 'release':
      return [];
    default:
      return change satisfies never;
  }
}

// The version of another store, or anything else that is not ours, is never that of an entry.
function versionOf({ version }: { readonly version: string }): string {
  return /^\d{1,19}$/.test(version) ? version : '';
}

function ttlOf({ ttlMs }: { readonly ttlMs?: number }): { readonly ttl?: number } {
  return ttlMs === undefined ? {} : { ttl: durationOf(ttlMs) };
}

/** A value as JSON. Throws a `RangeError` if it has none, or too much of it. */
export function jsonOf(value: object, name: string, maxBytes: number): string {
  const json = JSON.stringify(value);
  if (json === undefined) throw new RangeError(`The value of ${JSON.stringify(name)} is not JSON.`);
  const bytes = Buffer.byteLength(json);
  if (bytes > maxBytes)
    throw new RangeError(
      `The value of ${JSON.stringify(name)} has ${bytes} bytes as JSON. The option "maxValueBytes" allows ${maxBytes}.`,
    );
  return json;
}
