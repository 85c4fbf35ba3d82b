// A task as it is stored, and as clients see it.

import { type ErrorObject, isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Auth, Call, Peer } from '../../protocol/call.js';
import { principalOf, storableAuth } from '../../protocol/caller.js';
import { TASK_PROGRESS } from '../../protocol/tables/meta-keys.js';
import { isTaskStatus, type TaskStatus } from '../../protocol/tasks.js';
import { type Journal, readJournal, writeJournal } from '../../server/asking/journal.js';
import { sizeOf } from '../../server/asking/size.js';
import type { TaskWork } from '../../server/handle/task-host.js';
import { Unsaveable } from './saving-errors.js';

/** A task as it is stored: the part that clients see, and everything needed to run it again. */
export interface Task {
  readonly id: string;
  /** The caller that may see the task. */
  readonly principal: string;
  /** The caller that created the task, as its handler sees it. */
  readonly auth?: Auth;
  readonly tool: string;
  readonly args: unknown;
  readonly peer: Peer;
  readonly createdAt: number;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  /** The number of processes that have run the task since it last made progress, this process included. */
  attempts: number;
  updatedAt: number;
  status: TaskStatus;
  statusMessage: string | undefined;
  /** The progress that the handler reported: `{ progress, total, message }`. */
  progress?: JsonObject;
  /** The questions that are open, by key. */
  open: JsonObject;
  journal: Journal;
  result: JsonObject | undefined;
  error: ErrorObject | undefined;
}

/** Makes a task for a call to a tool. `defaults` are the settings for tools without their own. */
export function newTask(
  call: Call,
  { name, args, options }: TaskWork,
  defaults: Pick<Task, 'ttlMs' | 'pollIntervalMs' | 'journal'>,
): Task {
  const now = Date.now();
  return {
    id: crypto.randomUUID(),
    principal: principalOf(call),
    ...(call.auth && { auth: storableAuth(call.auth) }),
    tool: name,
    args,
    peer: call.peer,
    createdAt: now,
    updatedAt: now,
    ttlMs: options.ttlMs ?? defaults.ttlMs,
    pollIntervalMs: options.pollIntervalMs ?? defaults.pollIntervalMs,
    attempts: 1,
    status: 'working',
    statusMessage: undefined,
    open: {},
    journal: defaults.journal,
    result: undefined,
    error: undefined,
  };
}

/** The time until the task expires. A clock that was set back does not extend it. */
export function remainingMs({ createdAt, ttlMs }: Task): number {
  return Math.min(createdAt + ttlMs - Date.now(), ttlMs);
}

/** Converts a task to the shape that a client gets when the task is created. */
export function toSummary(task: Task): JsonObject {
  const { id, status, statusMessage, createdAt, updatedAt, ttlMs, pollIntervalMs, progress } = task;
  return {
    taskId: id,
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs,
    pollIntervalMs,
    ...(progress !== undefined && { _meta: { [TASK_PROGRESS]: progress } }),
  };
}

/** Converts a task to the shape that `tasks/get` returns: with the result, the error, or the open questions. */
export function toDetails(task: Task): JsonObject {
  switch (task.status) {
    case 'completed':
      return { ...toSummary(task), result: task.result };
    case 'failed':
      return { ...toSummary(task), error: task.error };
    case 'input_required':
      return { ...toSummary(task), inputRequests: task.open };
    case 'working':
    case 'cancelled':
      return toSummary(task);
    default:
      return task.status satisfies never;
  }
}

/** The status message for a progress report. */
export function statusMessageOf({ progress, total, message }: JsonObject): string {
  const share = total === undefined ? `${progress}` : `${progress}/${total}`;
  return typeof message === 'string' ? `${message} (${share})` : share;
}

/** The requests of open questions, by key. */
export function requestsOf(open: ReadonlyMap<string, { readonly request: unknown }>): JsonObject {
  return Object.fromEntries([...open].map(([key, { request }]) => [key, request]));
}

/** A task as it is written to the store. */
export interface TaskEntry {
  readonly task: Task;
  readonly json: JsonObject;
  readonly bytes: number;
}

/** Writes a task as JSON. Throws `Unsaveable` if the task is not JSON, or is larger than `maxBytes`. */
export function writeTask(task: Task, maxBytes: number): TaskEntry {
  const json: JsonObject = { ...task, journal: writeJournal(task.journal) };
  let bytes: number;
  try {
    bytes = sizeOf(JSON.stringify(json));
  } catch (error) {
    throw new Unsaveable(
      `The task has a value that is not JSON. ${error instanceof Error ? error.message : ''}`.trim(),
      error,
    );
  }
  if (bytes > maxBytes)
    throw new Unsaveable(`The task has ${bytes} bytes; the limit is ${maxBytes} (tasks.maxTaskBytes).`);
  return { task, json, bytes };
}

/** Reads the JSON that `writeTask` wrote. Throws if it is something else. */
export function readTask(json: JsonObject, id: string): Task {
  const { journal } = json;
  if (json['id'] !== id || !isObject(journal) || !isTaskStatus(json['status']) || !isObject(json['open']))
    throw new TypeError('The entry is not a task');
  return {
    ...(json as unknown as Task),
    attempts: Number(json['attempts'] ?? 0),
    journal: readJournal(journal),
  };
}
