// Writes one task to the store, one write at a time.

import { type BackoffOptions, backoff } from '../../async/delay.js';
import { unref } from '../../async/unref.js';
import { Unsaveable } from './saving-errors.js';

/** A caller that waits for a write. */
interface Waiter {
  /** Whether the write is retried until it succeeds. */
  readonly isRetried: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Functions that run between a write and the next one: `done` if the write succeeded, `undo` if it failed. */
export interface Effects {
  readonly done?: () => void;
  readonly undo?: () => void;
}

/** The parts of a `TaskWriter`. */
export interface TaskWriterParts {
  /** Writes the task as it is now. */
  readonly write: () => Promise<void>;
  /** Called with the first of several failures in a row. */
  readonly onFailure: (error: unknown) => void;
}

// The shortest interval between two writes for changes that nobody waits for, such as progress.
const SOON_EVERY_MS = 100;
const RETRY: BackoffOptions = { baseMs: 100, maxMs: 10_000, jitter: [0.75, 1] };

/**
 * Writes one task, one write at a time. Changes made during a write go into the next one, so at most one write is queued,
 * however often the task changes.
 */
export class TaskWriter {
  readonly #parts: TaskWriterParts;
  #waiters: Waiter[] = [];
  #isWriting = false;
  #isDirty = false;
  #failures = 0;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #soonTimer: ReturnType<typeof setTimeout> | undefined;
  #idleListeners: (() => void)[] = [];
  #closeReason: Error | undefined;

  constructor(parts: TaskWriterParts) {
    this.#parts = parts;
  }

  /**
   * Writes the task as it is now. Resolves after `done`; rejects, after `undo`, if the write fails. Nothing else is written in
   * between.
   */
  tryWrite(effects: Effects = {}): Promise<void> {
    return this.#join(false, effects);
  }

  /** Writes the task as it is now, and retries until that succeeds. Rejects only if it can never succeed. */
  write(): Promise<void> {
    return this.#join(true, {});
  }

  /** Writes the task soon, together with other changes or on its own. */
  writeSoon(): void {
    this.#isDirty = true;
    if (this.#soonTimer !== undefined || this.#closeReason !== undefined) return;
    this.#soonTimer = setTimeout(() => {
      this.#soonTimer = undefined;
      if (this.#isDirty) this.writeSoon();
    }, SOON_EVERY_MS);
    unref(this.#soonTimer);
    if (this.#retryTimer === undefined) this.#start();
  }

  /** Waits for the write in progress and stops writing. Waiting and later callers get `reason`. */
  async close(reason: Error): Promise<void> {
    this.#closeReason ??= reason;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#soonTimer);
    if (this.#isWriting) await new Promise<void>((resolve) => this.#idleListeners.push(resolve));
    for (const { reject } of this.#waiters.splice(0)) reject(reason);
  }

  #join(isRetried: boolean, { done, undo }: Effects): Promise<void> {
    return new Promise((settle, fail) => {
      const resolve = (): void => {
        done?.();
        settle();
      };
      const reject = (error: unknown): void => {
        undo?.();
        fail(error);
      };
      if (this.#closeReason !== undefined) return reject(this.#closeReason);
      this.#waiters.push({ isRetried, resolve, reject });
      // While the store is unavailable, a caller whose write is retried waits for the next retry.
      if (!isRetried || this.#retryTimer === undefined) this.#start();
    });
  }

  #start(): void {
    if (this.#isWriting || this.#closeReason !== undefined) return;
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.#isWriting = true;
    void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    do {
      const waiters = this.#waiters.splice(0);
      const wasDirty = this.#isDirty;
      this.#isDirty = false;
      try {
        await this.#parts.write();
        this.#failures = 0;
        for (const { resolve } of waiters) resolve();
      } catch (error) {
        this.#onFailure(error, waiters);
        if (wasDirty) this.#isDirty = true;
      }
    } while (
      this.#closeReason === undefined &&
      this.#waiters.some(({ isRetried }) => !isRetried || this.#failures === 0)
    );
    // Set in the same turn of the event loop as the last check for waiting callers, so that later callers start a new write.
    this.#isWriting = false;
    if (this.#failures > 0 && (this.#waiters.length > 0 || this.#isDirty)) this.#retryLater();
    for (const resolve of this.#idleListeners.splice(0)) resolve();
  }

  #onFailure(error: unknown, waiters: readonly Waiter[]): void {
    const isHopeless = error instanceof Unsaveable;
    if (!isHopeless && this.#failures++ === 0) this.#parts.onFailure(error);
    const retried = waiters.filter((waiter) => waiter.isRetried);
    // When one caller's change is too large, the others are retried without it.
    const rejected =
      isHopeless && retried.length === waiters.length ? retried : waiters.filter((w) => !w.isRetried);
    for (const waiter of rejected) waiter.reject(error);
    this.#waiters.unshift(...retried.filter((waiter) => !rejected.includes(waiter)));
  }

  #retryLater(): void {
    if (this.#closeReason !== undefined) return;
    this.#retryTimer = setTimeout(() => this.#start(), backoff(this.#failures - 1, RETRY));
    unref(this.#retryTimer);
  }
}
