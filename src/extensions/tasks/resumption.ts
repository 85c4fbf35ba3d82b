// Reads the unfinished tasks of an earlier process from the store and resumes them.

import { type BackoffOptions, backoff } from '../../async/delay.js';
import { unref } from '../../async/unref.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import type { TaskWork } from '../../server/handle/task-host.js';
import type { Logger } from '../../server/state/log.js';
import type { LiveTask } from './live-task.js';
import { resumeTasks } from './resume-tasks.js';
import { readTask, type Task } from './task.js';

export interface ResumptionParts {
  /** The tasks in the store. */
  readonly entries: () => AsyncIterable<readonly [string, JsonObject]>;
  readonly idOf: (key: string) => string;
  readonly isLive: (id: string) => boolean;
  /** Makes a live task from its entry; undefined if the task has ended. */
  readonly admit: (task: Task, json: JsonObject) => LiveTask | undefined;
  readonly workOf: (task: Task) => Promise<TaskWork>;
  readonly log: Logger;
}

const RETRY: BackoffOptions = { baseMs: 100, maxMs: 60_000, jitter: [0.75, 1] };

/** Resumes the unfinished tasks of an earlier process, once. While the store cannot be read, it retries with growing delays. */
export class Resumption {
  readonly #parts: ResumptionParts;
  #resuming: Promise<void> | undefined;
  #failures = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #closed = false;
  /** The tasks that ended here while the entries were read, because their entries may be older than their end. */
  #endedMeanwhile: Set<string> | undefined;

  constructor(parts: ResumptionParts) {
    this.#parts = parts;
  }

  /** Resolves when all entries were read, or reading failed. */
  readonly resume = (): Promise<void> => {
    if (this.#closed) return Promise.resolve();
    clearTimeout(this.#retry);
    this.#resuming ??= this.#readAll().catch((error) => this.#retryLater(error));
    return this.#resuming;
  };

  /** A task has ended in this process. */
  ended(id: string): void {
    this.#endedMeanwhile?.add(id);
  }

  /** Stops resuming tasks. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
  }

  async #readAll(): Promise<void> {
    const { entries, idOf, isLive, admit, workOf } = this.#parts;
    const ended = new Set<string>();
    this.#endedMeanwhile = ended;
    const unfinished: LiveTask[] = [];
    try {
      for await (const [key, json] of entries()) {
        if (this.#closed) return;
        const task = this.#read(key, idOf(key), json);
        if (task === undefined || isLive(task.id) || ended.has(task.id)) continue;
        const resumed = admit(task, json);
        if (resumed !== undefined) unfinished.push(resumed);
      }
    } finally {
      this.#endedMeanwhile = undefined;
      // Even if the store failed before the last entry: the tasks that were read are not read again.
      void resumeTasks(unfinished, { workOf, isClosing: () => this.#closed });
    }
  }

  // An entry that cannot be read must not prevent the others from being resumed.
  #read(key: string, id: string, json: JsonObject): Task | undefined {
    try {
      return readTask(json, id);
    } catch (error) {
      this.#parts.log('error', `The entry ${shorten(key, 64)} cannot be read, and is skipped`, error);
      return undefined;
    }
  }

  #retryLater(error: unknown): void {
    this.#resuming = undefined;
    if (this.#closed) return;
    this.#failures++;
    this.#parts.log('error', 'Unfinished tasks could not be resumed', error);
    this.#retry = setTimeout(() => void this.resume(), backoff(this.#failures - 1, RETRY));
    unref(this.#retry);
  }
}
