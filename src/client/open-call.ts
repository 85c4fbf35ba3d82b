import { McpError } from '../protocol/errors.js';
import { Lifetime } from '../protocol/lifetime.js';
import type { PendingCall } from './model.js';

export interface TimeLimits {
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  /** What has gone wrong on the connection since the call began: an answer that could not be read looks like none. */
  readonly problem: () => string | undefined;
}

/** A call under way: it ends with an answer, or when its time is over, its caller gives up, or the client closes. */
export class OpenCall {
  readonly lifetime: Lifetime = new Lifetime();
  readonly #method: string;
  readonly #name: string | undefined;
  readonly #limits: TimeLimits | undefined;
  readonly #begun = performance.now();
  #seen = this.#begun;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pausedAt: number | undefined;
  /** Time that was spent on the user's answers: it counts against nobody. */
  #pausedMs = 0;
  #lastProgress: number | undefined;
  #fail: ((reason: unknown) => void) | undefined;

  /** Without limits it may take for ever, as a subscription does. */
  constructor(method: string, name: string | undefined, limits: TimeLimits | undefined) {
    this.#method = method;
    this.#name = name;
    this.#limits = limits;
    if (limits !== undefined) this.#arm(Math.min(limits.timeoutMs, limits.maxTimeoutMs));
  }

  /** The outcome of `work`, or the reason for which the call was ended before. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#fail = reject;
      if (this.lifetime.ended) return reject(this.lifetime.signal.reason);
      work().then(resolve, reject);
    });
  }

  /** Ends it early. A dispatch that does not look at its signal is not waited for. */
  end(reason: unknown): void {
    this.lifetime.end(reason);
    this.#fail?.(reason);
  }

  /** It has its answer. */
  done(): void {
    clearTimeout(this.#timer);
  }

  /** The server has shown that it is at work. */
  alive(progress?: number): void {
    this.#seen = performance.now();
    if (progress !== undefined) this.#lastProgress = progress;
  }

  pause(): void {
    this.#pausedAt ??= performance.now();
  }

  resume(): void {
    if (this.#pausedAt === undefined) return;
    const ms = performance.now() - this.#pausedAt;
    this.#pausedAt = undefined;
    this.#pausedMs += ms;
    this.#seen += ms;
  }

  get state(): PendingCall {
    return {
      method: this.#method,
      name: this.#name,
      sinceMs: Math.round(performance.now() - this.#begun),
      lastProgress: this.#lastProgress,
    };
  }

  // The timer is not set anew with each sign of life; it looks, when it fires, how much is left.
  #arm(ms: number): void {
    this.#timer = setTimeout(() => this.#check(), Math.min(Math.max(1, Math.ceil(ms)), 2 ** 31 - 1));
  }

  #check(): void {
    const { timeoutMs, maxTimeoutMs, problem } = this.#limits as TimeLimits;
    if (this.#pausedAt !== undefined) return this.#arm(Math.min(timeoutMs, 1000));
    const now = performance.now();
    const silent = this.#seen + timeoutMs - now;
    const total = this.#begun + this.#pausedMs + maxTimeoutMs - now;
    if (silent > 0 && total > 0) return this.#arm(Math.min(silent, total));
    const what = this.#name === undefined ? this.#method : `${this.#method} "${this.#name}"`;
    const late =
      total <= 0
        ? `${what} took longer than ${maxTimeoutMs} ms in all (maxTimeoutMs)`
        : `${what}: no answer and no progress for ${timeoutMs} ms (timeoutMs)`;
    const odd = problem();
    this.end(new McpError('timeout', odd === undefined ? late : `${late}. Meanwhile: ${odd}`));
  }
}
