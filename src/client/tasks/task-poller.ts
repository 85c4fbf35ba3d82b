import { backoff, delay } from '../../async/delay.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Outcome } from '../../protocol/call.js';
import { fromWire, McpError, throwCancelled, toMcpError } from '../../protocol/errors.js';
import type { TaskState } from '../model/client.js';
import type { Progress } from '../model/options.js';
import type { TaskAnswering } from './task-answering.js';
import { toTaskState } from './task-state.js';

// Polls a task until it ends.

const FASTEST_MS = 20;
const SLOWEST_MS = 60_000;
/** The longest pause between two attempts to reach a server that is unavailable. */
const AWAY_MS = 30_000;
/** The time that a server may be unavailable if the task's lifetime is unknown. */
const UNKNOWN_LIFE_MS = 3_600_000;
/** The time that a server may answer with internal errors: its store may be down for a minute. */
const TROUBLE_MS = 120_000;

export interface FollowingParts {
  readonly get: () => Promise<Outcome>;
  readonly answers: TaskAnswering;
  readonly progress: (progress: Progress) => void;
  readonly problem: (message: string, cause?: unknown) => void;
  /** Aborts when the caller cancels, on a timeout, or when the client closes. */
  readonly signal: AbortSignal;
}

/**
 * Polls a task until it ends. While the server is unavailable, polling continues with growing pauses for as long as the task
 * can live: the task may still exist when the server is back. Time is monotonic, so that setting the clock has no effect.
 */
export class Following {
  readonly #id: string;
  readonly #parts: FollowingParts;
  #state: TaskState | undefined;
  #firstSeen = performance.now();
  #reached = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #failingSince = 0;

  constructor(id: string, parts: FollowingParts, initialState?: TaskState) {
    this.#id = id;
    this.#parts = parts;
    if (initialState !== undefined) this.#see(initialState);
  }

  /** The final result of the task. */
  async result(): Promise<JsonObject> {
    const { signal } = this.#parts;
    for (;;) {
      if (this.#state !== undefined || this.#failures > 0)
        await delay(this.#nextMs(), { signal }).catch(throwCancelled);
      try {
        const ended = await this.#poll();
        this.#failures = 0;
        if (ended !== undefined) return ended;
      } catch (error) {
        this.#onFailure(error);
      }
    }
  }

  async #poll(): Promise<JsonObject | undefined> {
    const { get, answers, signal } = this.#parts;
    const response = await get();
    const state = toTaskState(response);
    this.#see(state);
    switch (state.status) {
      case 'completed':
        if (!isObject(response['result']))
          throw new McpError('bad_response', `The task ${this.#id} is complete but has no result`);
        return response['result'];
      case 'failed':
        throw new Ended(failureOf(this.#id, response['error']));
      case 'cancelled':
        throw new Ended(
          new McpError('cancelled', state.statusMessage ?? `The task ${this.#id} was cancelled`),
        );
      case 'input_required':
        await answers.ask(state.questions, signal).catch((error: unknown) => {
          throw new Ended(error);
        });
        await answers.send();
        return undefined;
      case 'working':
        return undefined;
      default:
        return state.status satisfies never;
    }
  }

  #see(state: TaskState): void {
    this.#firstSeen = this.#state === undefined ? performance.now() : this.#firstSeen;
    this.#state = state;
    const { progress } = state;
    if (progress === undefined || !(progress.progress > this.#reached)) return;
    this.#reached = progress.progress;
    this.#parts.progress(progress);
  }

  #nextMs(): number {
    const { pollIntervalMs = 1000 } = this.#state ?? {};
    const interval = Math.min(Math.max(pollIntervalMs, FASTEST_MS), SLOWEST_MS);
    if (this.#failures === 0) return interval;
    return backoff(this.#failures, { baseMs: Math.min(interval, AWAY_MS), maxMs: AWAY_MS });
  }

  /** Throws an error that ends the polling, and returns if the server is polled again. */
  #onFailure(thrown: unknown): void {
    if (thrown instanceof Ended) throw thrown.error;
    const error = toMcpError(thrown);
    const kind = this.#parts.signal.aborted ? undefined : passing(error);
    if (kind === undefined) throw error;
    const now = performance.now();
    if (this.#failures++ === 0) {
      this.#failingSince = now;
      this.#parts.problem(`Polling the task ${this.#id} failed and is retried: ${error.message}`, error);
    }
    const overMs = kind === 'trouble' ? this.#failingSince + TROUBLE_MS : this.#livesUntil();
    if (now > overMs) throw gaveUp(this.#id, error, now - this.#failingSince);
  }

  #livesUntil(): number {
    const { ttlMs } = this.#state ?? {};
    return typeof ttlMs === 'number' ? this.#firstSeen + ttlMs : this.#failingSince + UNKNOWN_LIFE_MS;
  }
}

/** An error that is final whatever its code: the task itself failed, or its questions cannot be answered. */
class Ended {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

/** Tells whether a failed poll may succeed later: the server is unavailable, or has an internal error. */
function passing({ code, data }: McpError): 'away' | 'trouble' | undefined {
  switch (code) {
    case 'connect_failed':
    case 'connection_closed':
    case 'timeout':
    case 'overloaded':
      return 'away';
    case 'internal_error':
      return 'trouble';
    case 'bad_response':
      // A proxy answers 502 or 504 while the server behind it starts.
      return isObject(data) && Number(data['status']) >= 500 ? 'away' : undefined;
    default:
      return undefined;
  }
}

function gaveUp(id: string, cause: McpError, ms: number): McpError {
  return new McpError(
    'timeout',
    `The task ${id} could not be polled for ${Math.round(ms / 1000)} s, longer than it lives: ${cause.message}`,
    { cause },
  );
}

function failureOf(id: string, error: unknown): McpError {
  const { code, message, data } = isObject(error) ? error : {};
  if (typeof code === 'number' && typeof message === 'string')
    return fromWire({ code, message, ...(data !== undefined && { data }) });
  return new McpError('remote_error', `The task ${id} failed`);
}
