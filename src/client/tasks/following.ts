import { backoff, delay } from '../../async/delay.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Outcome } from '../../protocol/call.js';
import { fromWire, McpError, throwCancelled, toMcpError } from '../../protocol/errors.js';
import type { TaskState } from '../model/client.js';
import type { Progress } from '../model/options.js';
import type { TaskAnswering } from './task-answering.js';
import { toTaskState } from './task-state.js';

const FASTEST_MS = 20;
const SLOWEST_MS = 60_000;
/** The longest pause between two attempts to reach a server that is away. */
const AWAY_MS = 30_000;
/** How long a server may be away where nobody knows how long the task lives. */
const UNKNOWN_LIFE_MS = 3_600_000;
/** How long a server may answer with errors of its own. A store that is down for a minute comes back. */
const TROUBLE_MS = 120_000;

export interface FollowingParts {
  readonly get: () => Promise<Outcome>;
  readonly answers: TaskAnswering;
  readonly progress: (progress: Progress) => void;
  readonly problem: (message: string, cause?: unknown) => void;
  /** Aborts when the caller gives up, its time is over, or the client closes. */
  readonly signal: AbortSignal;
}

/**
 * Polls a task until it ends. A server that is away is waited for, with growing pauses, as long as the task can live: it is
 * still there when the server is back. Only monotonic time counts, so that no clock that is set can end the waiting.
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

  /** The result that the tool answered at last. */
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

  /** Throws what ends the waiting; otherwise the server is asked again later. */
  #onFailure(thrown: unknown): void {
    if (thrown instanceof Ended) throw thrown.error;
    const error = toMcpError(thrown);
    const kind = this.#parts.signal.aborted ? undefined : passing(error);
    if (kind === undefined) throw error;
    const now = performance.now();
    if (this.#failures++ === 0) {
      this.#failingSince = now;
      this.#parts.problem(`The task ${this.#id} cannot be seen: ${error.message} It is polled again`, error);
    }
    const overMs = kind === 'trouble' ? this.#failingSince + TROUBLE_MS : this.#livesUntil();
    if (now > overMs) throw gaveUp(this.#id, error, now - this.#failingSince);
  }

  #livesUntil(): number {
    const { ttlMs } = this.#state ?? {};
    return typeof ttlMs === 'number' ? this.#firstSeen + ttlMs : this.#failingSince + UNKNOWN_LIFE_MS;
  }
}

/** How the task itself ended, or why it cannot be answered: no further poll changes that, whatever the code is. */
class Ended {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

/** Whether a failure to see a task may pass: the server is away, or has a trouble of its own. */
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
      // What stands before a server that is being started answers 502 or 504.
      return isObject(data) && Number(data['status']) >= 500 ? 'away' : undefined;
    default:
      return undefined;
  }
}

function gaveUp(id: string, cause: McpError, ms: number): McpError {
  return new McpError(
    'timeout',
    `The task ${id} could not be seen for ${Math.round(ms / 1000)} s, longer than it lives: ${cause.message}`,
    { cause },
  );
}

function failureOf(id: string, error: unknown): McpError {
  const { code, message, data } = isObject(error) ? error : {};
  if (typeof code === 'number' && typeof message === 'string')
    return fromWire({ code, message, ...(data !== undefined && { data }) });
  return new McpError('remote_error', `The task ${id} failed`);
}
