// The writes that end a task or remove it.

import { sizeOf } from '../../../server/asking/size.js';
import type { StoreChange, Version } from '../../../state/store.js';
import { isCounted, type TaskKeys, type TaskPlace } from './keys.js';
import { ended } from './quota.js';
import { Unsaveable } from './saving-errors.js';
import { type Ending, endedHead, type TaskHead } from './task.js';

/** The options of `endTask`. */
export interface EndTaskOptions {
  /** The time until the task expires. */
  readonly remainingMs: number;
  /** The version that the head must have. */
  readonly version?: Version;
  /** The largest size of the head. Default: no limit. */
  readonly maxBytes?: number;
}

/** A write that ends a task, and the head that it leaves. */
export interface EndOfTask {
  readonly head: TaskHead;
  readonly changes: readonly StoreChange[];
}

/**
 * Ends a task: its head keeps the result until it expires, and everything that was needed to run the task is removed. A
 * process that holds the task loses its lease.
 */
export function endTask(
  keys: TaskKeys,
  place: TaskPlace,
  before: TaskHead,
  { ending, remainingMs, version, maxBytes }: EndTaskOptions & { readonly ending: Ending },
): EndOfTask {
  const bare = endedHead(before, ending);
  const bytes = bytesOfTask(bare, 0, maxBytes);
  const head = { ...bare, bytes: isCounted(place) ? bytes : 0 };
  const inMs = Math.max(1, Math.ceil(remainingMs));
  const ttlMs = Number.isFinite(inMs) ? inMs : before.ttlMs;
  const changes: StoreChange[] = [
    {
      ...{ do: 'put', key: place.head, value: { ...head }, ttlMs },
      ...(version !== undefined && { if: { version } }),
    },
    { do: 'drop', list: place.journal },
    { do: 'drop', list: place.inbox },
    { do: 'dequeue', queue: keys.queue, key: place.work },
    ...ended(place, head.bytes - before.bytes),
  ];
  if (head.bytes > 0)
    changes.push({ do: 'enqueue', queue: keys.expiryQueue, key: `${place.work}:${head.bytes}`, inMs: ttlMs });
  return { head, changes };
}

/** Removes an unfinished task. */
export function removeTask(keys: TaskKeys, place: TaskPlace, head: TaskHead | undefined): StoreChange[] {
  return [
    { do: 'delete', key: place.head },
    { do: 'drop', list: place.journal },
    { do: 'drop', list: place.inbox },
    { do: 'dequeue', queue: keys.queue, key: place.work },
    ...ended(place, -(head?.bytes ?? 0)),
  ];
}

/** The bytes of a task: those of its head, and those of its lists. Throws `Unsaveable` if they are not JSON, or too many. */
export function bytesOfTask(
  head: TaskHead,
  listBytes: number,
  maxBytes: number = Number.POSITIVE_INFINITY,
): number {
  const bytes = bytesOfJson(head) + listBytes;
  if (bytes > maxBytes)
    throw new Unsaveable(`The task has ${bytes} bytes; the limit is ${maxBytes} (tasks.maxTaskBytes).`);
  return bytes;
}

/** The bytes of a value as JSON. Throws `Unsaveable` if it is not JSON. */
export function bytesOfJson(value: object): number {
  try {
    return sizeOf(JSON.stringify(value));
  } catch (error) {
    const reason = error instanceof Error ? error.message : '';
    throw new Unsaveable(`The task has a value that is not JSON. ${reason}`.trim(), error);
  }
}
