import { type BackoffOptions, backoff } from '../../async/delay.js';
import { unref } from '../../async/unref.js';
import { NeverKept } from './saving-errors.js';

/** Somebody who waits for a write. */
interface Waiter {
  /** Whether the write is repeated until it succeeds. */
  readonly patient: boolean;
  readonly kept: () => void;
  readonly refused: (error: unknown) => void;
}

/** What follows from a write, before the next one. */
export interface Effects {
  readonly done?: () => void;
  readonly undo?: () => void;
}

export interface TaskWriterParts {
  /** Writes the task as it is now. */
  readonly write: () => Promise<void>;
  /** The first of several failures in a row. */
  readonly onFailure: (error: unknown) => void;
}

// A report of progress is in the next write. If there is none for this long, it gets one of its own.
const PROGRESS_EVERY_MS = 100;
const RETRY: BackoffOptions = { baseMs: 100, maxMs: 10_000, jitter: [0.75, 1] };

/**
 * Writes one task, one write at a time. Whatever changes while a write is under way goes into the next one, so there is at most
 * one in line, however often the task changes.
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
   * Resolves when the task as it is now is in the store, after `done`; rejects if that write fails, after `undo`. Nothing else is
   * written in between.
   */
  attempt(effects: Effects = {}): Promise<void> {
    return this.#join(false, effects);
  }

  /** Resolves when the task as it is now is in the store, however many writes that takes. Rejects when it never can be. */
  keep(): Promise<void> {
    return this.#join(true, {});
  }

  /** Writes soon, with whatever else is to be written or by itself. Nobody waits. */
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

  /** Resolves when no write is under way. Nothing is written after it: whoever waits, or will, gets `reason`. */
  async close(reason: Error): Promise<void> {
    this.#closed ??= reason;
    clearTimeout(this.#retry);
    clearTimeout(this.#progress);
    if (this.#writing) await new Promise<void>((resolve) => this.#idlers.push(resolve));
    for (const { refused } of this.#waiting.splice(0)) refused(reason);
  }

  #join(patient: boolean, { done, undo }: Effects): Promise<void> {
    return new Promise((resolve, reject) => {
      const kept = (): void => {
        done?.();
        resolve();
      };
      const refused = (error: unknown): void => {
        undo?.();
        reject(error);
      };
      if (this.#closed !== undefined) return refused(this.#closed);
      this.#waiting.push({ patient, kept, refused });
      // A patient one waits its turn where the store is away: somebody has just tried.
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
        for (const { kept } of waiters) kept();
      } catch (error) {
        this.#failed(error, waiters);
        if (wanted) this.#wanted = true;
      }
    } while (
      this.#closed === undefined &&
      this.#waiting.some(({ patient }) => !patient || this.#failures === 0)
    );
    // In the same breath as the last look at who waits: whoever comes after it starts again.
    this.#writing = false;
    if (this.#failures > 0 && (this.#waiting.length > 0 || this.#wanted)) this.#retryLater();
    for (const tell of this.#idlers.splice(0)) tell();
  }

  #failed(error: unknown, waiters: readonly Waiter[]): void {
    const isHopeless = error instanceof NeverKept;
    if (!isHopeless && this.#failures++ === 0) this.#parts.onFailure(error);
    const patient = waiters.filter((waiter) => waiter.patient);
    // Where somebody has brought what is too much, the others are tried without it.
    const refused =
      isHopeless && patient.length === waiters.length ? patient : waiters.filter((w) => !w.patient);
    for (const waiter of refused) waiter.refused(error);
    this.#waiting.unshift(...patient.filter((waiter) => !refused.includes(waiter)));
  }

  #retryLater(): void {
    if (this.#closed !== undefined) return;
    this.#retry = setTimeout(() => this.#start(), backoff(this.#failures - 1, RETRY));
    unref(this.#retry);
  }
}
