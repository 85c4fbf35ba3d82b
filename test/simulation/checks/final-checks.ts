// The promises that can be checked only in the end.

import type { Store } from 'fullmcp';
import type { Load } from '../load/load.js';
import type { Actor } from '../world/scheduler.js';
import type { World } from '../world/world.js';
import type { Ledger } from './ledger.js';

/** Checks that every client has got to the end of what it does. */
export function checkEnds(ledger: Ledger, load: Load): void {
  for (const name of load.open) ledger.violate('never ends', name);
}

/** Checks that no idempotency key has two tasks. */
export function checkKeyedTasks(ledger: Ledger): void {
  for (const { name } of ledger.jobs) {
    const tasks = ledger.jobs.byName(name).filter(({ cancelled }) => cancelled === undefined);
    if (tasks.length > 1)
      ledger.violate('keyed task created twice', `${name}: ${tasks.map(({ work }) => work).join(' and ')}`);
  }
}

/** Checks that those who were listening have heard of every end. */
export function checkListeners(ledger: Ledger, { watchers }: Load): void {
  for (const { streams } of watchers)
    for (const { replica, taskIds, since, heard, isOpen } of streams) {
      if (!isOpen) continue;
      for (const taskId of taskIds) {
        const { endedAt, endedBy } = ledger.jobs.byTask(taskId) ?? {};
        // A process that died at that moment could not announce the end. The client polls.
        if (endedBy?.state === 'dead') continue;
        if (endedAt === undefined || endedAt <= since || heard.has(taskId)) continue;
        // The server could not read the task to report it. The client polls.
        if ((ledger.failedReads.get(replica) ?? 0) >= endedAt) continue;
        ledger.violate('end not heard', `${taskId} from ${replica.name}`);
      }
    }
}

/** The store at the end. */
export interface StoreAtEnd {
  readonly store: Store;
  readonly storeActor: Actor;
  /** Whether even that is gone which is kept for days. */
  readonly isAllExpired: boolean;
}

const COUNTS = /^(tasks|bytes|questions):/;
// A process that works on tasks says so for as long as it lives.
const KEPT = /^(outcome|session|uris|used|task-worker|event-[a-z]+):/;
/** The place of the newest events of a type, one for each type. */
const FOREVER = /^event-(head|size):/;
/** The questions of a call whose process died are kept until they expire. */
const KEPT_AFTER_TROUBLE = /^(asked|questions):/;

/** Checks that nothing is left in the store once all tasks have expired. */
export async function checkEmpty(
  world: World,
  ledger: Ledger,
  { store, storeActor, isAllExpired }: StoreAtEnd,
): Promise<void> {
  world.scheduler.current = storeActor;
  const isCalm = world.troubledUntil === Number.NEGATIVE_INFINITY;
  for (const { key, value } of await store.page('', { limit: 1000 })) {
    if (!isAllExpired && !isCalm && KEPT_AFTER_TROUBLE.test(key)) continue;
    if (COUNTS.test(key)) ledger.violate('quota not returned', `${key} is ${JSON.stringify(value)}`);
    else if (FOREVER.test(key)) continue;
    else if (isAllExpired || !KEPT.test(key)) ledger.violate('left in the store', key);
  }
  for (const { work } of ledger.jobs)
    for (const list of [`journal:${work}`, `inbox:${work}`])
      if ((await store.items(list)).length > 0) ledger.violate('left in the store', list);
  for (const queue of ledger.queues) {
    const size = await store.size(queue);
    if (size > 0 && !KEPT.test(queue)) ledger.violate('left in the store', `${size} keys in ${queue}`);
  }
}
