// The tasks that this process holds.

import { delay } from '../../async/delay.js';
import { every } from '../../async/every.js';
import type { TaskEvent } from '../../protocol/telemetry/events.js';
import { begin, taskEvents } from '../../protocol/telemetry/tracing.js';
import type { Lease } from '../../state/store.js';
import type { LiveTask } from './running/live-task.js';

const TICK_MS = 1000;

/** The tasks that this process holds, by id. Tasks that expire are ended and removed. */
export class LiveTasks {
  readonly #tasks = new Map<string, LiveTask>();
  readonly #parked = new Set<LiveTask>();
  /** The functions that publish the ends of tasks. */
  readonly #ends = new Map<LiveTask, (last: Partial<TaskEvent>) => void>();
  #stopTimer: (() => void) | undefined;

  /** The number of tasks that run. */
  get running(): number {
    return this.#tasks.size - this.#parked.size;
  }

  /** The number of tasks whose handlers wait for an answer in this process. */
  get parked(): number {
    return this.#parked.size;
  }

  get(id: string): LiveTask | undefined {
    return this.#tasks.get(id);
  }

  [Symbol.iterator](): IterableIterator<LiveTask> {
    return this.#tasks.values();
  }

  add(live: LiveTask): void {
    this.#tasks.set(live.id, live);
    const end = begin(taskEvents, () => ({ id: live.id, tool: live.held.journal.call.tool }));
    if (end !== undefined) this.#ends.set(live, end);
    this.#stopTimer ??= every(TICK_MS, () => {
      for (const each of [...this.#tasks.values()]) if (each.isExpired) void each.expire();
    });
  }

  delete(live: LiveTask): void {
    this.#parked.delete(live);
    const { status, result, error } = live.visible;
    this.#ends.get(live)?.({ status, result, error });
    this.#ends.delete(live);
    // Another run of the task may have taken its place.
    if (this.#tasks.get(live.id) === live) this.#tasks.delete(live.id);
    if (this.#tasks.size > 0) return;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  /** Ends the run of the task that was held under this lease, if there is one. */
  lose({ token }: Lease): void {
    for (const live of this.#tasks.values()) if (live.held.lease.token === token) return live.lose();
  }

  /** Notes whether a task only waits for an answer. */
  park(live: LiveTask, isParked: boolean): void {
    if (isParked && this.#tasks.get(live.id) === live) this.#parked.add(live);
    else this.#parked.delete(live);
  }

  /** Looks for answers to all tasks that wait. */
  lookForAnswers(): void {
    for (const live of this.#tasks.values()) if (live.mayHaveAnswers) live.look();
  }

  /** Leaves all tasks for other processes. */
  async leave(deadline: Promise<void>): Promise<void> {
    this.#stopTimer?.();
    await Promise.all([...this.#tasks.values()].map((live) => live.leave(deadline)));
  }
}

/** Makes a promise that resolves after `ms`, or when `done` is called. */
export function deadlineIn(ms: number): { readonly deadline: Promise<void>; readonly done: () => void } {
  const controller = new AbortController();
  const deadline = delay(ms, { signal: controller.signal }).catch(() => undefined);
  return { deadline, done: () => controller.abort() };
}
