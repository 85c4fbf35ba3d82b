import { settlesWithin } from '../../../async/deadline.js';
import type { AppendOptions, EventLog, FollowedStream } from '../../../state/event-log.js';

/** The options of a `GuardedLog`. */
export interface GuardedLogOptions {
  /** Reports a problem to the operator. */
  readonly warn?: ((message: string) => void) | undefined;
  /** The time after which an event counts as not stored. */
  readonly timeoutMs?: number;
}

// After a failure the log is not tried with each event: a log that hangs would delay every stream.
const PAUSE_MS = 1000;

/** An event log that may fail or be slow. The operator is told once, and no stream waits for the log for long. */
export class GuardedLog {
  readonly #log: EventLog;
  readonly #warn: (message: string) => void;
  readonly #timeoutMs: number;
  #isFailing = false;
  #pausedUntil = 0;

  constructor(log: EventLog, { warn = () => undefined, timeoutMs = 5000 }: GuardedLogOptions = {}) {
    this.#log = log;
    this.#warn = warn;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Stores an event. Undefined if the log failed or took too long: the event may have been stored nevertheless. Throws a
   * `RangeError` if the event is too large for the log.
   */
  async append(stream: string, data: string, options?: AppendOptions): Promise<string | undefined> {
    if (this.#isFailing && performance.now() < this.#pausedUntil) return undefined;
    try {
      const appended = this.#log.append(stream, data, options);
      if (!(await this.#isInTime(appended))) throw this.#timeout();
      const id = await appended;
      this.#recover();
      return id;
    } catch (error) {
      if (error instanceof RangeError) throw error;
      this.report(error);
      return undefined;
    }
  }

  /** Follows a stream. Undefined if the log does not know it. Rejects if the log fails or takes too long. */
  async follow(after: string, signal: AbortSignal): Promise<FollowedStream | undefined> {
    const following = this.#log.follow(after, signal);
    if (!(await this.#isInTime(following))) throw this.#timeout();
    return following;
  }

  /** Tells the operator that the log fails, unless that is known. */
  report(error: unknown): void {
    this.#pausedUntil = performance.now() + PAUSE_MS;
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#warn(
      `The event log failed: ${error instanceof Error ? error.message : String(error)} Events are still sent to connected clients, but a client that loses its connection cannot fetch them.`,
    );
  }

  #recover(): void {
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#warn('The event log works again.');
  }

  #isInTime(work: Promise<unknown>): Promise<boolean> {
    // The caller may be gone when the log fails at last.
    work.catch(() => undefined);
    return settlesWithin(work, this.#timeoutMs, { unref: true });
  }

  #timeout(): Error {
    return new Error(`It did not respond within ${this.#timeoutMs} ms.`);
  }
}
