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
  /** The state in words, if the server sends any. */
  readonly statusMessage: string | undefined;
  /** The progress in numbers, if the server reports it. */
  readonly progress: Progress | undefined;
  /** The time when the task was created, as an ISO 8601 string. */
  readonly createdAt: string;
  /** The time of the last change, as an ISO 8601 string. */
  readonly lastUpdatedAt: string;
  /** The lifetime of the task from its creation, in milliseconds; `null`: no limit; undefined: not known. */
  readonly ttlMs: number | null | undefined;
  /** The time between two polls that the server asks for, in milliseconds. */
  readonly pollIntervalMs: number | undefined;
  /** The questions that wait for an answer, by key. */
  readonly questions: Readonly<Record<string, JsonObject>>;
}

/** A task at the server: its state, its questions, its result. */
export interface TaskHandle {
  /**
   * The id with which `client.task` finds the task again; undefined if the server made no task and the result is already there.
   */
  readonly id: string | undefined;
  /** Asks the server for the current state. */
  readonly status: (options?: CallOptions) => Promise<TaskState>;
  /**
   * Waits for the result, and answers questions on the way with the client's handlers. A wait that is aborted or times out does
   * not cancel the task.
   */
  readonly result: (options?: CallOptions) => Promise<CallResult>;
  /** Answers questions by key, in the protocol's form, instead of the client's handlers. */
  readonly answer: (answers: Readonly<Record<string, JsonObject>>, options?: CallOptions) => Promise<void>;
  /** Asks the server to cancel the task. */
  readonly cancel: (options?: CallOptions) => Promise<void>;
}
