// The tasks that run in this process.

import { delay } from '../../async/delay.js';
import { unref } from '../../async/unref.js';
import type { Logger } from '../../server/state/log.js';
import type { LiveTask } from './live-task.js';

const TICK_MS = 1000;

/** The tasks that run in this process, by id. Tasks that expire are ended and removed. */
export class LiveTasks {
  readonly #log: Logger;
  readonly #tasks = new Map<string, LiveTask>();
  readonly #expiring = new Set<LiveTask>();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  get size(): number {
    return this.#tasks.size;
  }

  get(id: string): LiveTask | undefined {
    return this.#tasks.get(id);
  }

  has(id: string): boolean {
    return this.#tasks.has(id);
  }

  add(live: LiveTask): void {
    this.#tasks.set(live.task.id, live);
    if (this.#timer !== undefined) return;
    let clockOffset = Date.now() - performance.now();
    this.#timer = setInterval(() => {
      const newOffset = Date.now() - performance.now();
      // The store uses the wall clock. When that is set, the expiry of each running task is written again.
      const wasClockSet = Math.abs(newOffset - clockOffset) > TICK_MS;
      clockOffset = newOffset;
      this.#tick(wasClockSet);
    }, TICK_MS);
    unref(this.#timer);
  }

  delete(id: string): void {
    this.#tasks.delete(id);
    if (this.#tasks.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Leaves all tasks for the next process. Running steps have `drainMs` to finish. */
  async close(drainMs: number): Promise<void> {
    clearInterval(this.#timer);
    const done = new AbortController();
    const deadline = delay(drainMs, { signal: done.signal }).catch(() => undefined);
    await Promise.all([...this.#tasks.values()].map((live) => live.leave(deadline)));
    done.abort();
    this.#tasks.clear();
  }

  #tick(wasClockSet: boolean): void {
    for (const live of [...this.#tasks.values()]) {
      if (live.isExpired) this.#expire(live);
      else if (wasClockSet) live.touch();
    }
  }

  #expire(live: LiveTask): void {
    // The store may take longer than one tick.
    if (this.#expiring.has(live)) return;
    this.#expiring.add(live);
    live
      .expire()
      .catch((error) =>
        this.#log('error', `The expired task ${live.task.id} could not be removed from the store`, error),
      )
      .finally(() => this.#expiring.delete(live));
  }
}
