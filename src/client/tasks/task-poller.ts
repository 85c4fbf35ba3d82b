import { backoff, delay } from '../../async/delay.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Outcome } from '../../protocol/call.js';
import { fromWire, McpError, throwCancelled, toMcpError } from '../../protocol/errors.js';
import type { TaskState } from '../model/client.js';
import type { Progress } from '../model/options.js';
import type { TaskAnswering } from './task-answering.js';
import { toTaskState } from './task-state.js';

// Polls a task until it ends.

const MIN_INTERVAL_MS = 20;
const MAX_INTERVAL_MS = 60_000;
/** The longest delay between two polls of a server that is unavailable. */
const MAX_DELAY_MS = 30_000;
/** The time that a server may be unavailable if the task's lifetime is unknown. */
const DEFAULT_LIFE_MS = 3_600_000;
/** The time that a server may answer with internal errors: its store may be down for a minute. */
const MAX_INTERNAL_ERRORS_MS = 120_000;

export interface TaskPollerParts {
  readonly get: () => Promise<Outcome>;
  readonly answers: TaskAnswering;
  readonly progress: (progress: Progress) => void;
  readonly problem: (message: string, cause?: unknown) => void;
  /** Aborts when the caller cancels, on a timeout, or when the client closes. */
  readonly signal: AbortSignal;
}

/**
 * Polls a task until it ends. While the server is unavailable, polling continues with growing delays for as long as the task
 * can live: the task may still exist when the server is back. A change of the system clock has no effect.
 */
export class TaskPoller {
  readonly #id: string;
  readonly #parts: TaskPollerParts;
  #state: TaskState | undefined;
  #knownSince = performance.now();
  #lastProgress = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #failingSince = 0;

  constructor(id: string, parts: TaskPollerParts, initialState?: TaskState) {
    this.#id = id;
    this.#parts = parts;
    if (initialState !== undefined) this.#update(initialState);
  }

  /** The final result of the task. */
  async result(): Promise<JsonObject> {
    const { signal } = this.#parts;
    for (;;) {
      if (this.#state !== undefined || this.#failures > 0)
        await delay(this.#nextMs(), { signal }).catch(throwCancelled);
      try {
        const result = await this.#poll();
        this.#failures = 0;
        if (result !== undefined) return result;
      } catch (error) {
        this.#onFailure(error);
      }
    }
  }

  async #poll(): Promise<JsonObject | undefined> {
    const { get, answers, signal } = this.#parts;
    const response = await get();
    const state = toTaskState(response);
    this.#update(state);
    switch (state.status) {
      case 'completed':
        if (!isObject(response['result']))
          throw new McpError('bad_response', `The task ${this.#id} is complete but has no result`);
        return response['result'];
      case 'failed':
        throw new FinalError(failureOf(this.#id, response['error']));
      case 'cancelled':
        throw new FinalError(
          new McpError('cancelled', state.statusMessage ?? `The task ${this.#id} was cancelled`),
        );
      case 'input_required':
        await answers.ask(state.questions, signal).catch((error: unknown) => {
          throw new FinalError(error);
        });
        await answers.send();
        return undefined;
      case 'working':
        return undefined;
      default:
        return state.status satisfies never;
    }
  }

  #update(state: TaskState): void {
    this.#knownSince = this.#state === undefined ? performance.now() : this.#knownSince;
    this.#state = state;
    const { progress } = state;
    if (progress === undefined || !(progress.progress > this.#lastProgress)) return;
    this.#lastProgress = progress.progress;
    this.#parts.progress(progress);
  }

  #nextMs(): number {
    const { pollIntervalMs = 1000 } = this.#state ?? {};
    const interval = Math.min(Math.max(pollIntervalMs, MIN_INTERVAL_MS), MAX_INTERVAL_MS);
    if (this.#failures === 0) return interval;
    return backoff(this.#failures, { baseMs: Math.min(interval, MAX_DELAY_MS), maxMs: MAX_DELAY_MS });
  }

  /** Throws an error that ends the polling; returns if the server is to be polled again. */
  #onFailure(thrown: unknown): void {
    if (thrown instanceof FinalError) throw thrown.error;
    const error = toMcpError(thrown);
    const kind = this.#parts.signal.aborted ? undefined : outageOf(error);
    if (kind === undefined) throw error;
    const now = performance.now();
    if (this.#failures++ === 0) {
      this.#failingSince = now;
      this.#parts.problem(`Polling the task ${this.#id} failed and is retried: ${error.message}`, error);
    }
    const until = kind === 'internal' ? this.#failingSince + MAX_INTERNAL_ERRORS_MS : this.#livesUntil();
    if (now > until) throw giveUpError(this.#id, error, now - this.#failingSince);
  }

  #livesUntil(): number {
    const { ttlMs } = this.#state ?? {};
    return typeof ttlMs === 'number' ? this.#knownSince + ttlMs : this.#failingSince + DEFAULT_LIFE_MS;
  }
}

/** Wraps an error that ends the polling whatever its code: the task itself failed, or its questions cannot be answered. */
class FinalError {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

/** The reason why a failed poll may succeed later: the server is unavailable, or has an internal error. */
function outageOf({ code, data }: McpError): 'unavailable' | 'internal' | undefined {
  switch (code) {
    case 'connect_failed':
    case 'connection_closed':
    case 'timeout':
    case 'overloaded':
      return 'unavailable';
    case 'internal_error':
      return 'internal';
    case 'bad_response':
      // A proxy answers 502 or 504 while the server behind it starts.
      return isObject(data) && Number(data['status']) >= 500 ? 'unavailable' : undefined;
    default:
      return undefined;
  }
}

function giveUpError(id: string, cause: McpError, ms: number): McpError {
  return new McpError(
    'timeout',
    `The task ${id} could not be polled for ${Math.round(ms / 1000)} s, so the client gave up: ${cause.message}`,
    { cause },
  );
}

function failureOf(id: string, error: unknown): McpError {
  const { code, message, data } = isObject(error) ? error : {};
  if (typeof code === 'number' && typeof message === 'string')
    return fromWire({ code, message, ...(data !== undefined && { data }) });
  return new McpError('remote_error', `The task ${id} failed`);
}
