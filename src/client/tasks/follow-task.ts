import { PausableTimeout } from '../../async/pausable-timeout.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import type { ToolCall } from '../calls/read-results.js';
import type { CallResult, TaskState } from '../model/client.js';
import type { AnswerQuestion } from '../model/handlers.js';
import type { CallOptions, Progress } from '../model/options.js';
import { TaskAnswering } from './task-answering.js';
import { TaskPoller } from './task-poller.js';

// Waits for tasks. Loaded with the first task whose result is requested.

export interface FollowedTask {
  readonly id: string;
  /** The name of the tool. */
  readonly name: string;
  readonly initialState: TaskState | undefined;
  readonly parts: TaskParts;
  readonly options: CallOptions;
  readonly get: (options: CallOptions) => Promise<Outcome>;
  readonly update: (answers: JsonObject, options: CallOptions) => Promise<void>;
}

/** Waits for the result of a task, within the caller's limits, and answers its questions on the way. */
export async function followTask(task: FollowedTask): Promise<JsonObject> {
  const { id, name, initialState, parts, options, get, update } = task;
  // `maxTimeoutMs` limits all polls together; a single poll has only `timeoutMs`.
  const {
    onProgress: _,
    maxTimeoutMs = parts.maxTimeoutMs ?? Number.POSITIVE_INFINITY,
    ...callOptions
  } = options;
  const limit = new PausableTimeout(maxTimeoutMs, () => timeoutError(id, maxTimeoutMs));
  const forget = parts.pauseWithCalls(limit);
  const signals = [parts.closing, limit.signal];
  if (options.signal !== undefined) signals.push(options.signal);
  const signal = AbortSignal.any(signals);
  const polling = { ...callOptions, signal };
  const answers = new TaskAnswering({
    answer: parts.answer,
    maxRounds: parts.maxRounds,
    send: (responses) => update(responses, polling),
  });
  const poller = new TaskPoller(
    id,
    {
      get: () => get(polling),
      answers,
      progress: (progress) => parts.progress(progress, name, options),
      problem: parts.problem,
      signal,
    },
    initialState,
  );
  try {
    return await poller.result();
  } finally {
    limit.end();
    forget();
  }
}

function timeoutError(id: string, ms: number): McpError {
  return new McpError(
    'timeout',
    `The task ${id} is not done after ${ms} ms (maxTimeoutMs). The server continues it; client.task(id) finds it again.`,
  );
}

export interface TaskParts {
  readonly request: (method: string, params: JsonObject, options?: CallOptions) => Promise<Outcome>;
  readonly answer: AnswerQuestion;
  readonly maxRounds: number;
  /** Pauses a limit whenever the user is asked, until the returned function is called. */
  readonly pauseWithCalls: (limit: PausableTimeout) => () => void;
  /** The limit for a call without one of its own; undefined for no limit. */
  readonly maxTimeoutMs: number | undefined;
  /** Aborts when the client closes. */
  readonly closing: AbortSignal;
  /** Reports the progress of a tool. */
  readonly progress: (progress: Progress, name: string, options: CallOptions) => void;
  readonly problem: (message: string, cause?: unknown) => void;
  /** Turns the task's final result into the result of the call. */
  readonly finish: (result: JsonObject, call: ToolCall, taskId: string) => CallResult | Promise<CallResult>;
  /** The name of the server that has the task with this id. */
  readonly serverOf: (taskId: string) => string;
}
