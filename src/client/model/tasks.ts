import type { JsonObject } from '../../jsonrpc/message.js';
import type { CallOptions, Progress } from './options.js';
import type { CallResult } from './results.js';

// Tasks: the types that a program uses.

/** The state of a task. */
export interface TaskState {
  /** The id of the task. */
  readonly id: string;
  /** `input_required` waits for answers; `completed`, `failed` and `cancelled` are final. */
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  /** The state in words, when the server gives them. */
  readonly statusMessage: string | undefined;
  /** The progress in numbers, when the server reports it. */
  readonly progress: Progress | undefined;
  /** The time when the task was made, as an ISO 8601 string. */
  readonly createdAt: string;
  /** The time of the last change, as an ISO 8601 string. */
  readonly lastUpdatedAt: string;
  /** The time that the server keeps the task, in milliseconds; `null` for no limit, undefined when the server does not say. */
  readonly ttlMs: number | null | undefined;
  /** The pause between two polls that the server asks for, in milliseconds. */
  readonly pollIntervalMs: number | undefined;
  /** The questions that wait for an answer, by key. */
  readonly questions: Readonly<Record<string, JsonObject>>;
}

/** A task at the server: its state, its questions, its result. */
export interface TaskHandle {
  /**
   * The id to find the task again with `client.task`; undefined when the server made no task and the result is already there.
   */
  readonly id: string | undefined;
  /** Asks the server for the state now. */
  readonly status: (options?: CallOptions) => Promise<TaskState>;
  /**
   * Waits for the result, and answers questions on the way with the client's handlers. Stopping to wait does not cancel the
   * task.
   */
  readonly result: (options?: CallOptions) => Promise<CallResult>;
  /** Answers questions by key, in the protocol's form, instead of the client's handlers. */
  readonly answer: (answers: Readonly<Record<string, JsonObject>>, options?: CallOptions) => Promise<void>;
  /** Asks the server to cancel the task. */
  readonly cancel: (options?: CallOptions) => Promise<void>;
}
