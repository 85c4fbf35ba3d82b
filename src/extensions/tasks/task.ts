import { type ErrorObject, isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Auth, Peer } from '../../protocol/call.js';
import { TASK_PROGRESS } from '../../protocol/tables/meta-keys.js';
import { isTaskStatus, type TaskStatus } from '../../protocol/tasks.js';
import { type Journal, readJournal, writeJournal } from '../../server/asking/journal.js';
import { NeverKept } from './saving-errors.js';

/** A task as it is kept: what clients see of it, and what it takes to run it again. */
export interface Task {
  readonly id: string;
  /** Who may see it. */
  readonly principal: string;
  /** Who made it, as its handler knows them. */
  readonly auth?: Auth;
  readonly tool: string;
  readonly args: unknown;
  readonly peer: Peer;
  readonly createdAt: number;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  /** How many processes have run it, this one included, since it last got further. */
  attempts: number;
  updatedAt: number;
  status: TaskStatus;
  statusMessage: string | undefined;
  /** How far the handler says it is: `{ progress, total, message }`. */
  progress?: JsonObject;
  /** The questions that are open, by key. */
  open: JsonObject;
  journal: Journal;
  result: JsonObject | undefined;
  error: ErrorObject | undefined;
}

/** How long the task is to be kept. A clock that was set back since does not make it longer. */
export function remainingMs({ createdAt, ttlMs }: Task): number {
  return Math.min(createdAt + ttlMs - Date.now(), ttlMs);
}

/** What a client sees when the task is made. */
export function summary(task: Task): JsonObject {
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

/** What a client sees when it asks: with the result, the error, or the open questions. */
export function detailed(task: Task): JsonObject {
  switch (task.status) {
    case 'completed':
      return { ...summary(task), result: task.result };
    case 'failed':
      return { ...summary(task), error: task.error };
    case 'input_required':
      return { ...summary(task), inputRequests: task.open };
    case 'working':
    case 'cancelled':
      return summary(task);
    default:
      return task.status satisfies never;
  }
}

export function requestsOf(open: ReadonlyMap<string, { readonly request: unknown }>): JsonObject {
  return Object.fromEntries([...open].map(([key, { request }]) => [key, request]));
}

/** A task as it goes into the store. */
export interface Entry {
  readonly task: Task;
  readonly json: JsonObject;
  readonly bytes: number;
}

/** Throws `NeverKept` if the task is not JSON, or has more than `maxBytes`. */
export function writeTask(task: Task, maxBytes: number): Entry {
  const json: JsonObject = { ...task, journal: writeJournal(task.journal) };
  let bytes: number;
  try {
    bytes = jsonBytes(json);
  } catch (error) {
    throw new NeverKept(`It is not JSON. ${error instanceof Error ? error.message : ''}`.trim(), error);
  }
  if (bytes > maxBytes)
    throw new NeverKept(`The task has ${bytes} bytes, at most ${maxBytes} (tasks.maxTaskBytes).`);
  return { task, json, bytes };
}

export function jsonBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).byteLength;
}

/** Reads what `writeTask` made. Throws if it is something else. */
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
