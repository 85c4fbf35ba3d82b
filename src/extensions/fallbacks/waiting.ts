// Calls that wait for tasks, wherever these run.

import { delay } from '../../async/delay.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { McpError } from '../../protocol/errors.js';
import { TASK_PROGRESS } from '../../protocol/tables/meta-keys.js';
import type { TaskHost } from '../../server/handle/task-host.js';
import type { TaskAnnouncement } from '../../server/state/changes.js';
import type { Topic } from '../../state/topic.js';

/** The task as it is in the store is read after this time, because the bus may lose announcements. */
const LOOK_MS = 2000;
/** The calls of one caller that may wait at a time. Further ones get the state of their task at once. */
const MAX_WAITING = 16;

/** The parts of `TaskWaits`. */
export interface TaskWaitsParts {
  readonly tasks: TaskHost;
  readonly changes: Topic<TaskAnnouncement>;
}

/** The calls of this process that wait for tasks. */
export class TaskWaits {
  readonly #parts: TaskWaitsParts;
  readonly #wakes = new Map<string, Set<() => void>>();
  readonly #waiting = new Map<string, number>();
  #isSubscribed = false;
  #isClosed = false;

  constructor(parts: TaskWaitsParts) {
    this.#parts = parts;
  }

  /**
   * Waits until a task has ended or asks, at most `ms`, and reports its progress to the call. Resolves with the task as it is then;
   * undefined if the caller has none of this id.
   */
  async until(call: Call, id: string, ms: number): Promise<JsonObject | undefined> {
    const { tasks } = this.#parts;
    const caller = principalOf(call);
    const others = this.#waiting.get(caller) ?? 0;
    const endsAt = performance.now() + (others >= MAX_WAITING ? 0 : ms);
    this.#waiting.set(caller, others + 1);
    await this.#subscribe();
    const report = progressReports(call);
    const isOver = (): boolean => performance.now() >= endsAt || this.#isClosed || call.signal.aborted;
    try {
      for (;;) {
        const woken = this.#wake(id);
        try {
          const task = await tasks.details(call, id).catch((error: unknown) => {
            // While the store is unavailable, the task continues.
            if (isOver()) throw unread(error);
            return { status: 'working' };
          });
          if (task === undefined || task['status'] !== 'working') return task;
          report(task);
          if (isOver()) return task;
          const leftMs = Math.min(endsAt - performance.now(), LOOK_MS);
          await delay(leftMs, { signal: AbortSignal.any([call.signal, woken.signal]) }).catch(
            () => undefined,
          );
        } finally {
          woken.forget();
        }
      }
    } finally {
      const left = (this.#waiting.get(caller) ?? 1) - 1;
      if (left > 0) this.#waiting.set(caller, left);
      else this.#waiting.delete(caller);
    }
  }

  /** A signal that aborts when the task has changed. */
  #wake(id: string): { readonly signal: AbortSignal; readonly forget: () => void } {
    const controller = new AbortController();
    const wake = (): void => controller.abort();
    const wakes = this.#wakes.get(id) ?? new Set();
    this.#wakes.set(id, wakes.add(wake));
    return {
      signal: controller.signal,
      forget: () => {
        wakes.delete(wake);
        if (wakes.size === 0 && this.#wakes.get(id) === wakes) this.#wakes.delete(id);
      },
    };
  }

  async #subscribe(): Promise<void> {
    const { changes } = this.#parts;
    if (!this.#isSubscribed) {
      this.#isSubscribed = true;
      changes.subscribe({
        message: ({ id }) => wakeEach(this.#wakes.get(id) ?? []),
        gap: () => this.#wakeAll(),
      });
    }
    await changes.ready();
  }

  #wakeAll(): void {
    for (const wakes of [...this.#wakes.values()]) wakeEach(wakes);
  }

  /** Ends all waiting: the tasks continue, in other processes. */
  close(): void {
    this.#isClosed = true;
    this.#wakeAll();
  }
}

function wakeEach(wakes: Iterable<() => void>): void {
  for (const wake of [...wakes]) wake();
}

function unread(cause: unknown): McpError {
  return new McpError('overloaded', 'The task could not be read. Call again later.', { cause });
}

/** Sends the progress of a task as that of the call, if its client wants it. */
function progressReports(call: Call): (task: JsonObject) => void {
  const { _meta: meta } = call.params;
  const progressToken = isObject(meta) ? meta['progressToken'] : undefined;
  let last: number | undefined;
  return (task) => {
    const { _meta: own } = task;
    const report = isObject(own) ? own[TASK_PROGRESS] : undefined;
    const { progress } = isObject(report) ? report : {};
    // The progress of a request must grow.
    if (progressToken === undefined || typeof progress !== 'number' || progress <= (last ?? -1)) return;
    last = progress;
    call.notify('notifications/progress', { progressToken, ...(report as JsonObject) });
  };
}
