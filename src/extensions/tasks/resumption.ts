// Reads the unfinished tasks of an earlier process from the store and resumes them.

import { settlesWithin } from '../../async/deadline.js';
import { type BackoffOptions, backoff } from '../../async/delay.js';
import { unref } from '../../async/unref.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import type { TaskWork } from '../../server/handle/task-host.js';
import type { Logger } from '../../server/state/log.js';
import type { LiveTask } from './live-task.js';
import { Unsaveable } from './saving-errors.js';
import { readTask, type Task } from './task.js';

/** The parts of a `Resumption`. */
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
  #isClosed = false;
  /** The tasks that ended here while the entries were read, because their entries may be older than their end. */
  #endedIds: Set<string> | undefined;

  constructor(parts: ResumptionParts) {
    this.#parts = parts;
  }

  /** Resolves when all entries were read, or reading failed. */
  readonly resume = (): Promise<void> => {
    if (this.#isClosed) return Promise.resolve();
    clearTimeout(this.#retry);
    this.#resuming ??= this.#readAll().catch((error) => this.#retryLater(error));
    return this.#resuming;
  };

  /** Called when a task has ended in this process. */
  onEnd(id: string): void {
    this.#endedIds?.add(id);
  }

  /** Stops resuming tasks. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
  }

  async #readAll(): Promise<void> {
    const { entries, idOf, isLive, admit, workOf } = this.#parts;
    const endedIds = new Set<string>();
    this.#endedIds = endedIds;
    const unfinished: LiveTask[] = [];
    try {
      for await (const [key, json] of entries()) {
        if (this.#isClosed) return;
        const task = this.#read(key, idOf(key), json);
        if (task === undefined || isLive(task.id) || endedIds.has(task.id)) continue;
        const resumed = admit(task, json);
        if (resumed !== undefined) unfinished.push(resumed);
      }
    } finally {
      this.#endedIds = undefined;
      // This runs even if the store failed before the last entry, because the tasks that were read are not read again.
      void resumeTasks(unfinished, { workOf, isClosing: () => this.#isClosed });
    }
  }

  // An entry that cannot be read must not prevent the others from being resumed.
  #read(key: string, id: string, json: JsonObject): Task | undefined {
    try {
      return readTask(json, id);
    } catch (error) {
      this.#parts.log(
        'error',
        `The store's entry ${shorten(key, 64)} cannot be read, so its task is not resumed`,
        error,
      );
      return undefined;
    }
  }

  #retryLater(error: unknown): void {
    this.#resuming = undefined;
    if (this.#isClosed) return;
    this.#failures++;
    this.#parts.log('error', 'Unfinished tasks could not be read from the store. The server retries.', error);
    this.#retry = setTimeout(() => void this.resume(), backoff(this.#failures - 1, RETRY));
    unref(this.#retry);
  }
}

/** A task is not run again after this many processes ended while it ran without progress. */
const MAX_ATTEMPTS = 5;
/** From this many attempts on, a task may be the one that crashes the process, so no other task is started beside it. */
const SUSPECT_ATTEMPTS = 2;

/** The number of tasks that are started at the same time. */
const LANES = 32;
/** The time for a task to make progress before the next one is started. */
const PROGRESS_MS = 1000;
const SUSPECT_PROGRESS_MS = 5000;

interface ResumeParts extends Pick<ResumptionParts, 'workOf'> {
  readonly isClosing: () => boolean;
}

/**
 * Runs the unfinished tasks of an earlier process, a few at a time. Tasks that may have crashed that process come last and one by
 * one, so that a crash of this process is attributed to the right task.
 */
async function resumeTasks(tasks: readonly LiveTask[], { workOf, isClosing }: ResumeParts): Promise<void> {
  // Divided before any of them runs, because running one changes its count.
  const suspects = tasks.filter(({ task }) => task.attempts >= SUSPECT_ATTEMPTS);
  const others = tasks.filter(({ task }) => task.attempts < SUSPECT_ATTEMPTS);
  await inLanes(others, { lanes: LANES, progressMs: PROGRESS_MS });
  await inLanes(suspects, { lanes: 1, progressMs: SUSPECT_PROGRESS_MS });

  async function inLanes(
    live: readonly LiveTask[],
    { lanes, progressMs }: { readonly lanes: number; readonly progressMs: number },
  ): Promise<void> {
    const queue = live.values();
    const lane = async (): Promise<void> => {
      for (const task of queue) {
        if (isClosing()) return;
        await settlesWithin(run(task), progressMs, { unref: true });
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  }

  async function run(live: LiveTask): Promise<void> {
    const { task } = live;
    if (task.attempts >= MAX_ATTEMPTS) return live.fail(tooOften(task));
    try {
      await live.countAttempt();
    } catch (error) {
      // After any other error the task was cancelled, has expired, or is left to the next process.
      if (error instanceof Unsaveable) live.failWithoutJournal(tooLarge(error));
      return;
    }
    await live.start(() => workOf(task));
  }
}

function tooLarge({ message }: Unsaveable): McpError {
  return new McpError('internal_error', `The task cannot be resumed, because it cannot be saved. ${message}`);
}

function tooOften({ attempts }: Task): McpError {
  return new McpError(
    'internal_error',
    `The task was started ${attempts} times, and each time the server's process ended before the task made progress.`,
  );
}
