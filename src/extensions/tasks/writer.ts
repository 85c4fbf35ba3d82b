// Writes one task to the store, one write at a time.

import { type BackoffOptions, backoff } from '../../async/delay.js';
import { unref } from '../../async/unref.js';
import { Unsaveable } from './saving-errors.js';

/** A caller that waits for a write. */
interface Waiter {
  /** Whether the write is retried until it succeeds. */
  readonly patient: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Functions that run after a write and before the next one. */
export interface Effects {
  readonly done?: () => void;
  readonly undo?: () => void;
}

export interface TaskWriterParts {
  /** Writes the task as it is now. */
  readonly write: () => Promise<void>;
  /** Called with the first of several failures in a row. */
  readonly onFailure: (error: unknown) => void;
}

// A progress report goes into the next write. If there is none for this long, it is written on its own.
const PROGRESS_EVERY_MS = 100;
const RETRY: BackoffOptions = { baseMs: 100, maxMs: 10_000, jitter: [0.75, 1] };

/**
 * Writes one task, one write at a time. Changes made during a write go into the next one, so at most one write is queued,
 * however often the task changes.
 */
export class TaskWriter {
  readonly #parts: TaskWriterParts;
  #waiting: Waiter[] = [];
  #writing = false;
  #wanted = false;
  #failures = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #progress: ReturnType<typeof setTimeout> | undefined;
  #idlers: (() => void)[] = [];
  #closed: Error | undefined;

  constructor(parts: TaskWriterParts) {
    this.#parts = parts;
  }

  /**
   * Writes the task as it is now. Resolves after `done`; rejects, after `undo`, if the write fails. Nothing else is written in
   * between.
   */
  attempt(effects: Effects = {}): Promise<void> {
    return this.#join(false, effects);
  }

  /** Resolves when the task as it is now is in the store, after as many retries as needed. Rejects if it can never be saved. */
  keep(): Promise<void> {
    return this.#join(true, {});
  }

  /** Writes soon, together with other changes or on its own, without waiting. */
  soon(): void {
    this.#wanted = true;
    if (this.#progress !== undefined || this.#closed !== undefined) return;
    this.#progress = setTimeout(() => {
      this.#progress = undefined;
      if (this.#wanted) this.soon();
    }, PROGRESS_EVERY_MS);
    unref(this.#progress);
    if (this.#retry === undefined) this.#start();
  }

  /** Resolves when no write is in progress. Nothing is written afterwards; waiting and later callers get `reason`. */
  async close(reason: Error): Promise<void> {
    this.#closed ??= reason;
    clearTimeout(this.#retry);
    clearTimeout(this.#progress);
    if (this.#writing) await new Promise<void>((resolve) => this.#idlers.push(resolve));
    for (const { reject } of this.#waiting.splice(0)) reject(reason);
  }

  #join(patient: boolean, { done, undo }: Effects): Promise<void> {
    return new Promise((settle, fail) => {
      const resolve = (): void => {
        done?.();
        settle();
      };
      const reject = (error: unknown): void => {
        undo?.();
        fail(error);
      };
      if (this.#closed !== undefined) return reject(this.#closed);
      this.#waiting.push({ patient, resolve, reject });
      // While the store is unavailable, a patient caller waits for the next retry.
      if (!patient || this.#retry === undefined) this.#start();
    });
  }

  #start(): void {
    if (this.#writing || this.#closed !== undefined) return;
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#writing = true;
    void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    do {
      const waiters = this.#waiting.splice(0);
      const wanted = this.#wanted;
      this.#wanted = false;
      try {
        await this.#parts.write();
        this.#failures = 0;
        for (const { resolve } of waiters) resolve();
      } catch (error) {
        this.#failed(error, waiters);
        if (wanted) this.#wanted = true;
      }
    } while (
      this.#closed === undefined &&
      this.#waiting.some(({ patient }) => !patient || this.#failures === 0)
    );
    // Set in the same turn as the last check for waiting callers, so that later ones start a new write.
    this.#writing = false;
    if (this.#failures > 0 && (this.#waiting.length > 0 || this.#wanted)) this.#retryLater();
    for (const resolve of this.#idlers.splice(0)) resolve();
  }

  #failed(error: unknown, waiters: readonly Waiter[]): void {
    const isHopeless = error instanceof Unsaveable;
    if (!isHopeless && this.#failures++ === 0) this.#parts.onFailure(error);
    const patient = waiters.filter((waiter) => waiter.patient);
    // When one caller's change is too large, the others are retried without it.
    const rejected =
      isHopeless && patient.length === waiters.length ? patient : waiters.filter((w) => !w.patient);
    for (const waiter of rejected) waiter.reject(error);
    this.#waiting.unshift(...patient.filter((waiter) => !rejected.includes(waiter)));
  }

  #retryLater(): void {
    if (this.#closed !== undefined) return;
    this.#retry = setTimeout(() => this.#start(), backoff(this.#failures - 1, RETRY));
    unref(this.#retry);
  }
}
