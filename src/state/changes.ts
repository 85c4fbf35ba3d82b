// Checks the changes of a write before a store makes them.

import type { Lease, StoreChange } from './store.js';

/** The largest key, name of a list, of an item or of a queue that a store has to accept, in bytes of UTF-8. */
export const MAX_KEY_BYTES = 512;

/** The group of a key `kind:group` or `kind:group:rest`. */
export function groupOfKey(key: string): string {
  const colon = key.indexOf(':');
  if (colon <= 0)
    throw new RangeError(`The key ${JSON.stringify(key)} has no group. Write it as "kind:group:rest".`);
  return groupOfWork(key.slice(colon + 1));
}

/** The group of a key in a queue, `group` or `group:rest`. */
export function groupOfWork(key: string): string {
  const colon = key.indexOf(':');
  const group = colon === -1 ? key : key.slice(0, colon);
  if (group === '')
    throw new RangeError(`The key ${JSON.stringify(key)} has no group. Write it as "group:rest".`);
  return group;
}

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

/** Throws unless a store has to accept the key. */
export function checkKey(key: string): void {
  // Nearly every key, and encoding one only to count its bytes takes as long as the rest of a write in memory.
  if (key.length <= MAX_KEY_BYTES && PRINTABLE_ASCII.test(key)) return;
  if (/[\p{Cc}\p{Cs}]/u.test(key))
    throw new RangeError(`The key ${JSON.stringify(key)} has a character that a store cannot keep.`);
  const bytes = new TextEncoder().encode(key).length;
  if (bytes > MAX_KEY_BYTES)
    throw new RangeError(`A key of ${bytes} bytes is too long. A store accepts at most ${MAX_KEY_BYTES}.`);
}

/**
 * Throws unless all changes have well-formed keys of one group and each names something else. Returns the group. A store can then
 * check all conditions before it makes the first change.
 */
export function checkChanges(changes: readonly StoreChange[], guard: Lease | undefined): string {
  if (changes.length === 0) throw new RangeError('A write needs at least one change.');
  const places = new Set<string>();
  let group = guard && groupOfWork(guard.key);
  for (const change of changes) {
    const place = placeOf(change, guard);
    if (places.has(place)) throw new RangeError(`A write has two changes of ${place}.`);
    places.add(place);
    if (change.do === 'drop' && changes.some((other) => other.do === 'append' && other.list === change.list))
      throw new RangeError(`A write both drops the list ${change.list} and appends to it.`);
    const other = groupOfChange(change);
    group ??= other;
    if (other !== undefined && other !== group)
      throw new RangeError(`A write has changes of two groups, "${group}" and "${other}".`);
  }
  return group as string;
}

function groupOfChange(change: StoreChange): string | undefined {
  switch (change.do) {
    case 'put':
    case 'delete':
    case 'count':
      checkKey(change.key);
      return groupOfKey(change.key);
    case 'append':
      checkKey(change.name);
      checkKey(change.list);
      return groupOfKey(change.list);
    case 'drop':
    case 'expect':
      checkKey(change.list);
      return groupOfKey(change.list);
    case 'enqueue':
    case 'dequeue':
      checkKey(change.queue);
      checkKey(change.key);
      return groupOfWork(change.key);
    case 'release':
      return undefined;
    default:
      return change satisfies never;
  }
}

function placeOf(change: StoreChange, guard: Lease | undefined): string {
  switch (change.do) {
    case 'put':
    case 'delete':
    case 'count':
      return `the entry ${change.key}`;
    case 'append':
      return `the item ${change.name} of the list ${change.list}`;
    case 'drop':
      return `the list ${change.list}`;
    case 'expect':
      return `the size of the list ${change.list}`;
    case 'enqueue':
    case 'dequeue':
      return `the work ${change.key} in the queue ${change.queue}`;
    case 'release':
      if (guard === undefined)
        throw new RangeError('A write that releases a lease needs the lease as its guard.');
      return `the work ${guard.key} in the queue ${guard.queue}`;
    default:
      return change satisfies never;
  }
}
