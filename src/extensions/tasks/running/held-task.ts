// A task that this process holds, as it was read or made, and what a write can add to it.

import type { Logger } from '../../../server/state/log.js';
import type { Lease, Store, StoreChange } from '../../../state/store.js';
import type { Inbox } from '../stored/inbox.js';
import type { AskedRounds, newsItem, StoredJournal } from '../stored/journal-items.js';
import type { TaskKeys, TaskPlace } from '../stored/keys.js';
import type { TaskHead } from '../stored/task.js';
import type { LazyTransaction } from './lazy-transaction.js';

/** A task as it was read or made, with the lease on it. */
export interface HeldTask {
  readonly place: TaskPlace;
  readonly lease: Lease;
  readonly head: TaskHead;
  readonly journal: StoredJournal;
  readonly inbox: Inbox;
  /** The time until the task expires. */
  readonly remainingMs: number;
}

/** The parts of a `SavedTask` that all tasks share. */
export interface SavedTaskParts {
  readonly store: Store;
  readonly keys: TaskKeys;
  /** Called when a change that clients can see is saved. */
  readonly onChange: (id: string) => void;
  readonly log: Logger;
  /** The limit for the bytes of a task. */
  readonly maxTaskBytes: number;
}

/** The run of the task. */
export interface SavedTaskEvents {
  /** Takes what the run has added to its journal. */
  readonly takeNews: () => Parameters<typeof newsItem>[0];
  /** Called once when another process may have taken the task. Nothing more is written. */
  readonly onLost: () => void;
}

/** The questions that a write shows to the client. */
export interface Asking {
  readonly fields: Partial<TaskHead>;
  readonly asked: AskedRounds;
  /** Whether the task is put aside at once. */
  readonly release: boolean;
}

/** A step and its result. */
export type StepRecord = readonly [key: string, result: unknown];

/** The additions of one write to what is not written yet. */
export interface Additions {
  readonly asked?: AskedRounds;
  readonly more?: readonly StoreChange[];
  /** A step that is committed with its transaction. */
  readonly step?: StepRecord;
  readonly transaction?: LazyTransaction;
}
