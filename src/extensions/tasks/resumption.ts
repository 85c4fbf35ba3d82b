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
  #endedMeanwhile: Set<string> | undefined;

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

  /** A task has ended in this process. */
  ended(id: string): void {
    this.#endedMeanwhile?.add(id);
  }

  /** Stops resuming tasks. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
  }

  async #readAll(): Promise<void> {
    const { entries, idOf, isLive, admit, workOf } = this.#parts;
    const ended = new Set<string>();
    this.#endedMeanwhile = ended;
    const unfinished: LiveTask[] = [];
    try {
      for await (const [key, json] of entries()) {
        if (this.#isClosed) return;
        const task = this.#read(key, idOf(key), json);
        if (task === undefined || isLive(task.id) || ended.has(task.id)) continue;
        const resumed = admit(task, json);
        if (resumed !== undefined) unfinished.push(resumed);
      }
    } finally {
      this.#endedMeanwhile = undefined;
      // Even if the store failed before the last entry: the tasks that were read are not read again.
      void resumeTasks(unfinished, { workOf, isClosing: () => this.#isClosed });
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
    if (this.#isClosed) return;
    this.#failures++;
    this.#parts.log('error', 'Unfinished tasks could not be resumed', error);
    this.#retry = setTimeout(() => void this.resume(), backoff(this.#failures - 1, RETRY));
    unref(this.#retry);
  }
}

/** A task is not run again after this many processes ended while it ran without progress. */
const MAX_ATTEMPTS = 5;
/** From this many attempts on, a task may be the one that ends the process, so no other task is started beside it. */
const SUSPECT_ATTEMPTS = 2;

const AT_ONCE = 32;
/** The time for a task to make progress before the next one is started. */
const PATIENCE_MS = 1000;
const PATIENCE_WITH_SUSPECTS_MS = 5000;

interface ResumeParts extends Pick<ResumptionParts, 'workOf'> {
  readonly isClosing: () => boolean;
}

/**
 * Runs unfinished tasks of an earlier process, a few at a time. Tasks that may have ended that process come last and one by one,
 * so that a crash of this process is attributed to the right one.
 */
async function resumeTasks(tasks: readonly LiveTask[], { workOf, isClosing }: ResumeParts): Promise<void> {
  // Divided before any of them runs, because running one changes its count.
  const suspects = tasks.filter(({ task }) => task.attempts >= SUSPECT_ATTEMPTS);
  const others = tasks.filter(({ task }) => task.attempts < SUSPECT_ATTEMPTS);
  await inLanes(others, { lanes: AT_ONCE, patienceMs: PATIENCE_MS });
  await inLanes(suspects, { lanes: 1, patienceMs: PATIENCE_WITH_SUSPECTS_MS });

  async function inLanes(
    waiting: readonly LiveTask[],
    { lanes, patienceMs }: { readonly lanes: number; readonly patienceMs: number },
  ): Promise<void> {
    const queue = waiting.values();
    const lane = async (): Promise<void> => {
      for (const live of queue) {
        if (isClosing()) return;
        await settlesWithin(run(live), patienceMs, { unref: true });
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
      // Otherwise the task was cancelled, has expired, or is left to the next process.
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
