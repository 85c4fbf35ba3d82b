// A task, and its latest state in the store.

import { isTerminal } from '../../protocol/tasks.js';
import type { Journal } from '../../server/asking/journal.js';
import { newJournal } from '../../server/asking/journal.js';
import type { Logger } from '../../server/state/log.js';
import { Unsaveable } from './saving-errors.js';
import { remainingMs, type Task, type TaskEntry, writeTask } from './task.js';
import { type Effects, TaskWriter } from './writer.js';

export interface SavedTaskParts {
  readonly save: (entry: TaskEntry, expiresAt: number) => Promise<void>;
  /** Called when a change that clients can see is saved. */
  readonly changed: (id: string) => void;
  readonly log: Logger;
  /** The limit for the entry of a task. */
  readonly maxTaskBytes: number;
}

export interface SavedTaskEvents {
  /** The journal as it is now. */
  readonly journal: () => Journal;
  /** Called when the end of the task is saved. */
  readonly onEnd: (task: Task) => void;
}

/** A task as it is now, and as it is stored. Clients see the latter, so that a crash cannot undo what they have seen. */
export class SavedTask {
  /** The task as it is now. */
  readonly task: Task;
  /** While this is set, the task is saved as cancelled, with this reason. */
  cancelling: string | undefined;
  /** Saves without a journal and without a limit: for an end that says why there is no result. */
  bare = false;
  readonly #parts: SavedTaskParts;
  readonly #events: SavedTaskEvents;
  readonly #writer: TaskWriter;
  /** The time of expiry, on a monotonic clock. */
  readonly #expires: number;
  #shown: Task;
  #changed = false;

  constructor(parts: SavedTaskParts, task: Task, events: SavedTaskEvents) {
    this.task = task;
    this.#parts = parts;
    this.#events = events;
    this.#shown = { ...task };
    this.#expires = performance.now() + remainingMs(task);
    this.#writer = new TaskWriter({
      write: () => this.#write(),
      onFailure: (error) => parts.log('error', `Task ${task.id} could not be saved`, error),
    });
  }

  /** The task as it was last saved. */
  get shown(): Task {
    return this.#shown;
  }

  get expired(): boolean {
    return this.#expires <= performance.now();
  }

  /** Changes fields that clients see, once they are saved. */
  change(fields: Partial<Task>): void {
    // A clock that is set back must not make the task younger.
    Object.assign(this.task, fields, { updatedAt: Math.max(Date.now(), this.task.updatedAt) });
    this.#changed = true;
  }

  /** Saves the task as it is now, then runs `done`. If that fails, runs `undo` and rejects. Nothing else is written in between. */
  attempt(effects?: Effects): Promise<void> {
    return this.#writer.attempt(effects);
  }

  /** Saves the task as it is now, and retries until it succeeds. Rejects only if the task can never be saved. */
  keep(): Promise<void> {
    return this.#writer.keep();
  }

  /** Saves the task soon, without waiting. */
  saveSoon(): void {
    this.#writer.soon();
  }

  /** Stops saving. */
  close(reason: Error): Promise<void> {
    return this.#writer.close(reason);
  }

  /** Ends the task: clients see `ended` from now on. */
  conclude(ended: Task): void {
    this.#shown = Object.assign(this.task, ended);
    this.#events.onEnd(ended);
  }

  async #write(): Promise<void> {
    const { task } = this;
    task.journal = this.#events.journal();
    const isCancelled = this.cancelling !== undefined;
    const written = isCancelled ? cancelled(task, this.cancelling) : { ...task };
    const isChanged = this.#changed || isCancelled;
    this.#changed = false;
    try {
      const entry = this.bare
        ? writeTask({ ...written, journal: newJournal() }, Number.POSITIVE_INFINITY)
        : writeTask(written, this.#parts.maxTaskBytes);
      await this.#parts.save(entry, Math.round(Date.now() + this.#expires - performance.now()));
    } catch (error) {
      this.#changed ||= isChanged;
      throw error instanceof RangeError ? new Unsaveable(error.message, error) : error;
    }
    if (isTerminal(written.status)) return this.conclude(written);
    this.#shown = written;
    if (isChanged) this.#parts.changed(task.id);
  }
}

export function cancelled(task: Task, why: string | undefined): Task {
  return { ...task, status: 'cancelled', statusMessage: why, open: {}, result: undefined, error: undefined };
}
