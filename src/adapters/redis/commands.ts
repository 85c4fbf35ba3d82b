// Turns the changes of a write into the keys and arguments of its script.

import { checkChanges, groupOfWork } from '../../state/changes.js';
import type { Lease, StoreChange } from '../../state/store.js';
import type { Keyspace, Partition } from './keys.js';

/** The keys and arguments of a script. */
export interface ScriptCall {
  readonly keys: string[];
  readonly args: string[];
}

/** The largest JSON text of one entry or item. */
const MAX_VALUE_BYTES = 16 * 1024 * 1024;
/** About 30,000 years: Redis refuses times beyond the range of its numbers. */
const MAX_MS = 1e15;

/** The call of the script WRITE. Throws a `RangeError` if the changes can never be made. */
export function writeCall(
  keyspace: Keyspace,
  changes: readonly StoreChange[],
  guard: Lease | undefined,
): ScriptCall {
  const partition = keyspace.of(checkChanges(changes, guard));
  const call: ScriptCall = {
    keys: [partition.counter, partition.index, partition.expiries],
    args: [partition.entries],
  };
  if (guard !== undefined) {
    call.keys.push(partition.queue(guard.queue)[1]);
    call.args.push('guard', guard.key, String(guard.token));
  }
  for (const change of changes) add(call, change, { partition, guard });
  return call;
}

/** The keys and arguments of the script RENEW for leases of one partition, or of any if Redis is not a cluster. */
export function renewCall(keyspace: Keyspace, leases: readonly Lease[], ms: number): ScriptCall {
  return {
    keys: leases.flatMap(({ queue, key }) => keyspace.of(groupOfWork(key)).queue(queue)),
    args: [time(ms), ...leases.flatMap(({ key, token }) => [key, String(token)])],
  };
}

/** A time span as an argument: a whole number of milliseconds. */
export function time(ms: number): string {
  if (Number.isNaN(ms)) throw new RangeError('A time in milliseconds must be a number, not NaN.');
  return String(Math.min(Math.max(Math.ceil(ms), 0), MAX_MS));
}

function add(
  { keys, args }: ScriptCall,
  change: StoreChange,
  { partition, guard }: { readonly partition: Partition; readonly guard: Lease | undefined },
): void {
  switch (change.do) {
    case 'put':
      keys.push(partition.entry(change.key));
      args.push('put', change.key, json(change.value), condition(change.if), expiry(change.ttlMs));
      return;
    case 'delete':
      keys.push(partition.entry(change.key));
      args.push('delete', change.key, condition(change.if));
      return;
    case 'count':
      keys.push(partition.entry(change.key));
      args.push('count', change.key, number(change.by), number(change.max), expiry(change.ttlMs));
      return;
    case 'append':
      keys.push(...partition.list(change.list));
      args.push('append', change.name, json(change.value), expiry(change.ttlMs));
      return;
    case 'drop':
      keys.push(...partition.list(change.list));
      args.push('drop');
      return;
    case 'expect':
      keys.push(partition.list(change.list)[0]);
      args.push('expect', number(change.size));
      return;
    case 'enqueue':
      keys.push(...partition.queue(change.queue));
      args.push('enqueue', change.key, time(change.inMs ?? 0));
      args.push(change.hold === undefined ? '' : time(change.hold.ms), change.hold?.owner ?? '');
      return;
    case 'release':
      // `checkChanges` has made sure that there is a guard.
      keys.push(...partition.queue((guard as Lease).queue));
      args.push('release', (guard as Lease).key, time(change.inMs), change.keepAttempt === true ? '1' : '');
      return;
    case 'dequeue':
      keys.push(...partition.queue(change.queue));
      args.push('dequeue', change.key);
      return;
    default:
      change satisfies never;
  }
}

function condition(condition: 'absent' | { readonly version: string } | undefined): string {
  if (condition === undefined) return '';
  return condition === 'absent' ? 'absent' : `=${condition.version}`;
}

/** A time until expiry, empty if there is none. Redis accepts no expiry in the past or at once. */
function expiry(ttlMs: number | undefined): string {
  return ttlMs === undefined ? '' : time(Math.max(1, ttlMs));
}

function number(value: number | undefined): string {
  if (value === undefined) return '';
  if (!Number.isFinite(value)) throw new RangeError(`A store cannot keep the number ${value}.`);
  return String(value);
}

function json(value: object): string {
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_VALUE_BYTES)
    throw new RangeError(
      `A value of ${bytes} bytes is too large. The store accepts at most ${MAX_VALUE_BYTES}.`,
    );
  return text;
}
