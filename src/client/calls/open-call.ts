import { Lifetime } from '../../async/lifetime.js';
import { unref } from '../../async/unref.js';
import { McpError } from '../../protocol/errors.js';
import type { EventHub } from '../connection/event-hub.js';
import type { PendingCall } from '../model/client.js';

// A call in progress: its timeouts, its progress and its end; and the one timer for the timeouts of all calls.

export interface TimeLimits {
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
}

export interface OpenCallParts {
  readonly method: string;
  readonly name: string | undefined;
  /** Undefined for a call that may take forever, such as a subscription. */
  readonly limits: TimeLimits | undefined;
  readonly clock: Clock;
  /** Has the problems that were reported during the call. */
  readonly hub: Pick<EventHub, 'reported' | 'problemSince'>;
}

/** The lifetime of a call whose clock stands still while the user is asked. */
export class PausableLifetime extends Lifetime {
  #pausedAt: number | undefined;
  #pausedMs = 0;

  get isPaused(): boolean {
    return this.#pausedAt !== undefined;
  }

  /** Time spent waiting for the user, which is not charged to the call. */
  get pausedMs(): number {
    return this.#pausedMs + (this.#pausedAt === undefined ? 0 : performance.now() - this.#pausedAt);
  }

  pause(): void {
    this.#pausedAt ??= performance.now();
  }

  /** Ends the pause. Returns its length in milliseconds; 0 if there was none. */
  resume(): number {
    if (this.#pausedAt === undefined) return 0;
    const ms = performance.now() - this.#pausedAt;
    this.#pausedAt = undefined;
    this.#pausedMs += ms;
    return ms;
  }
}

/** A call in progress: it ends with a response, on a timeout, when its caller cancels it, or when the client closes. */
export class OpenCall implements Timed {
  readonly id: number;
  readonly lifetime: PausableLifetime = new PausableLifetime();
  readonly method: string;
  readonly name: string | undefined;
  readonly #limits: TimeLimits | undefined;
  readonly #clock: Clock;
  readonly #hub: OpenCallParts['hub'];
  readonly #reported: number;
  readonly #startedAt: number = performance.now();
  #activeAt: number = this.#startedAt;
  #lastProgress: number | undefined;
  #beganWhileAsking = false;
  #fail: ((reason: unknown) => void) | undefined;

  constructor(id: number, { method, name, limits, clock, hub }: OpenCallParts) {
    this.id = id;
    this.method = method;
    this.name = name;
    this.#limits = limits;
    this.#clock = clock;
    this.#hub = hub;
    this.#reported = hub.reported;
    if (limits !== undefined) clock.add(Math.min(limits.timeoutMs, limits.maxTimeoutMs), this.#startedAt);
  }

  /** The outcome of `work`; rejects with the reason if the call is ended first. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#fail = reject;
      if (this.lifetime.ended) return reject(this.lifetime.signal.reason);
      work().then(resolve, reject);
    });
  }

  /** Ends the call early, without waiting for a dispatch that ignores its signal. */
  end(reason: unknown): void {
    this.lifetime.end(reason);
    this.#fail?.(reason);
  }

  /** Releases the timer when the call has ended. */
  done(): void {
    if (this.#limits !== undefined) this.#clock.remove();
  }

  /** Restarts `timeoutMs`: the server has reported progress. */
  keepAlive(progress?: number): void {
    this.#activeAt = performance.now();
    if (progress !== undefined) this.#lastProgress = progress;
  }

  /** Stops the clock: a question has opened. */
  pause(): void {
    this.#beganWhileAsking = false;
    this.lifetime.pause();
  }

  /**
   * Stops the clock of a call that begins while a question is open. Its `maxTimeoutMs` still runs until the next question: the handler
   * that answers may have made the call, and would wait forever for a server that does not respond.
   */
  pauseFromStart(): void {
    this.#beganWhileAsking = true;
    this.lifetime.pause();
  }

  resume(): void {
    this.#activeAt += this.lifetime.resume();
  }

  get state(): PendingCall {
    return {
      requestId: this.id,
      method: this.method,
      name: this.name,
      sinceMs: Math.round(performance.now() - this.#startedAt),
      lastProgress: this.#lastProgress,
    };
  }

  check(now: number): number {
    if (this.#limits === undefined) return Number.POSITIVE_INFINITY;
    const { timeoutMs, maxTimeoutMs } = this.#limits;
    const { isPaused, pausedMs } = this.lifetime;
    if (isPaused && !this.#beganWhileAsking) return Math.min(timeoutMs, 1000);
    const untilSilent = isPaused ? 1000 : this.#activeAt + timeoutMs - now;
    const untilMax = this.#startedAt + (isPaused ? 0 : pausedMs) + maxTimeoutMs - now;
    if (untilSilent > 0 && untilMax > 0) return Math.min(untilSilent, untilMax);
    const label = this.name === undefined ? this.method : `${this.method} "${this.name}"`;
    const message =
      untilMax <= 0
        ? `${label} took longer than ${maxTimeoutMs} ms in all (maxTimeoutMs)`
        : `${label}: no response and no progress for ${timeoutMs} ms (timeoutMs)`;
    const problem = this.#hub.problemSince(this.#reported);
    this.end(new McpError('timeout', problem === undefined ? message : `${message}. Meanwhile: ${problem}`));
    return Number.POSITIVE_INFINITY;
  }
}

/** Something with a deadline. */
export interface Timed {
  /** Acts if the deadline has passed; otherwise returns the milliseconds until the next check. */
  readonly check: (now: number) => number;
}

const MAX_MS = 2 ** 31 - 1;

/** One timer for all calls of a client. Most calls end long before their deadline, and a timer costs as much as a call. */
export class Clock {
  readonly #all: () => readonly Timed[];
  #size = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #due = Number.POSITIVE_INFINITY;
  #closed = false;

  /** `all` returns everything to check; it may include calls without a deadline, which were never added. */
  constructor(all: () => readonly Timed[]) {
    this.#all = all;
  }

  /** Counts one more call with a deadline, to be checked in `ms` or sooner. */
  add(ms: number, now: number): void {
    this.#size += 1;
    if (now + ms < this.#due) this.#arm(now, ms);
    // While no call waits, the timer is unreferenced, so that the process can exit; the next call uses the same timer.
    else if (this.#size === 1) ref(this.#timer);
  }

  /** Counts one call fewer. */
  remove(): void {
    this.#size -= 1;
    if (this.#size > 0 || this.#timer === undefined) return;
    if (this.#closed || !unref(this.#timer)) this.#stop();
  }

  /** Stops keeping a timer between calls. Calls that are added later still have their deadlines. */
  close(): void {
    this.#closed = true;
    if (this.#size === 0) this.#stop();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#due = Number.POSITIVE_INFINITY;
  }

  #arm(now: number, ms: number): void {
    clearTimeout(this.#timer);
    this.#due = now + ms;
    this.#timer = setTimeout(() => this.#tick(), Math.min(Math.max(1, Math.ceil(ms)), MAX_MS));
  }

  #tick(): void {
    this.#stop();
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const timed of this.#all()) next = Math.min(next, timed.check(now));
    if (this.#size > 0 && next < Number.POSITIVE_INFINITY) this.#arm(now, next);
  }
}

function ref(timer: ReturnType<typeof setTimeout> | undefined): void {
  if (typeof timer === 'object') (timer as { ref?(): void }).ref?.();
}
