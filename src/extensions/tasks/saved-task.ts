// A task, and its latest state in the store.

import { McpError } from '../../protocol/errors.js';
import { newestRevision } from '../../protocol/tables/revisions.js';
import { isTerminal } from '../../protocol/tasks.js';
import { type Journal, newJournal } from '../../server/asking/journal.js';
import type { Logger } from '../../server/state/log.js';
import { savingError, Unsaveable } from './saving-errors.js';
import { remainingMs, type Task, type TaskEntry, writeTask } from './task.js';
import { type Effects, TaskWriter } from './writer.js';

/** The parts of a `SavedTask` that all tasks share. */
export interface SavedTaskParts {
  readonly save: (entry: TaskEntry, expiresAt: number) => Promise<void>;
  /** Called when a change that clients can see is saved. */
  readonly onChange: (id: string) => void;
  readonly log: Logger;
  /** The limit for the entry of a task. */
  readonly maxTaskBytes: number;
}

/** The run of the task. */
export interface SavedTaskEvents {
  /** The journal as it is now. */
  readonly journal: () => Journal;
  /** Called when the end of the task is saved. */
  readonly onEnd: (task: Task) => void;
}

/** The end of a task: its last status, with a result or an error. */
export type Ending = Pick<Task, 'status'> & Partial<Pick<Task, 'result' | 'error'>>;

/** A task as it is now, and as it is stored. Clients see the stored task, so that a crash cannot undo what they have seen. */
export class SavedTask {
  /** The task as it is now. */
  readonly task: Task;
  /** Whether the task is saved without its journal and without a limit: for an error that says why there is no result. */
  withoutJournal = false;
  readonly #parts: SavedTaskParts;
  readonly #events: SavedTaskEvents;
  readonly #writer: TaskWriter;
  /** The time of expiry, on a monotonic clock. */
  readonly #expires: number;
  #visible: Task;
  /** Whether a change that clients can see is not saved yet. */
  #hasChanged = false;
  /** While this is set, the task is saved as cancelled, with this reason. */
  #cancelReason: string | undefined;

  constructor(parts: SavedTaskParts, task: Task, events: SavedTaskEvents) {
    this.task = task;
    this.#parts = parts;
    this.#events = events;
    this.#visible = { ...task };
    this.#expires = performance.now() + remainingMs(task);
    this.#writer = new TaskWriter({
      write: () => this.#write(),
      onFailure: (error) => parts.log('error', `Task ${task.id} could not be saved`, error),
    });
  }

  /** The task as it was last saved. */
  get visible(): Task {
    return this.#visible;
  }

  get isExpired(): boolean {
    return this.#expires <= performance.now();
  }

  /** Changes fields that clients see. They see the change once it is saved. */
  change(fields: Partial<Task>): void {
    // A clock that is set back must not make the task younger.
    Object.assign(this.task, fields, { updatedAt: Math.max(Date.now(), this.task.updatedAt) });
    this.#hasChanged = true;
  }

  /** Saves the task as it is now, then runs `done`. If that fails, runs `undo` and rejects. Nothing else is written in between. */
  trySave(effects?: Effects): Promise<void> {
    return this.#writer.tryWrite(effects);
  }

  /** Saves the task as it is now, and retries until it succeeds. Rejects only if the task can never be saved. */
  save(): Promise<void> {
    return this.#writer.write();
  }

  /** Saves the task soon, without waiting. */
  saveSoon(): void {
    this.#writer.writeSoon();
  }

  /** Saves the end of the task, and retries until that succeeds. If the result can never be saved, the task fails instead. */
  finish(ending: Ending): void {
    this.change({ ...ending, open: {} });
    this.save().catch((error) => {
      if (error instanceof Unsaveable) this.#failInstead(error);
    });
  }

  #failInstead(reason: Unsaveable): void {
    const { id, tool } = this.task;
    this.#parts.log('error', `The result of task ${id} (${tool}) cannot be saved`, reason);
    const error = new McpError('internal_error', `The result cannot be saved. ${reason.message}`);
    this.withoutJournal = true;
    this.change({ status: 'failed', result: undefined, error: error.toWire(newestRevision) });
    this.save().catch(() => undefined);
  }

  /** Saves the task as cancelled, unless it has ended on its own: then its end is saved. Rejects if that fails. */
  async cancel(reason: string, hasEnded: () => boolean): Promise<void> {
    const undo = (): void => {
      this.#cancelReason = undefined;
      // A store may have written the task although it reported a failure.
      this.saveSoon();
    };
    while (!isTerminal(this.#visible.status)) {
      if (!hasEnded()) this.#cancelReason ??= reason;
      await this.trySave({ undo }).catch((error) => {
        throw savingError('The cancellation could not be saved, and the task continues', error);
      });
    }
  }

  /** Stops saving. */
  close(reason: Error): Promise<void> {
    return this.#writer.close(reason);
  }

  /** Ends the task: from now on clients see it as it is in `ending`. */
  end(ending: Task): void {
    this.#visible = Object.assign(this.task, ending);
    this.#events.onEnd(ending);
  }

  async #write(): Promise<void> {
    const { task } = this;
    task.journal = this.#events.journal();
    const isCancelled = this.#cancelReason !== undefined;
    const snapshot = isCancelled ? toCancelled(task, this.#cancelReason) : { ...task };
    const isChanged = this.#hasChanged || isCancelled;
    this.#hasChanged = false;
    try {
      const entry = this.withoutJournal
        ? writeTask({ ...snapshot, journal: newJournal() }, Number.POSITIVE_INFINITY)
        : writeTask(snapshot, this.#parts.maxTaskBytes);
      await this.#parts.save(entry, Math.round(Date.now() + this.#expires - performance.now()));
    } catch (error) {
      this.#hasChanged ||= isChanged;
      throw error instanceof RangeError ? new Unsaveable(error.message, error) : error;
    }
    if (isTerminal(snapshot.status)) return this.end(snapshot);
    this.#visible = snapshot;
    if (isChanged) this.#parts.onChange(task.id);
  }
}

/** The task as cancelled. */
export function toCancelled(task: Task, reason: string | undefined): Task {
  return {
    ...task,
    status: 'cancelled',
    statusMessage: reason,
    open: {},
    result: undefined,
    error: undefined,
  };
}
