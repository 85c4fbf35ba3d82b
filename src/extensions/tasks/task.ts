import type { ErrorObject, JsonObject } from '../../jsonrpc/message.js';
import type { Peer } from '../../protocol/call.js';
import { TASK_PROGRESS } from '../../protocol/extensions.js';
import { type Journal, readJournal, writeJournal } from '../../server/asking/journal.js';

type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** A task as it is kept: what clients see of it, and what it takes to run it again. */
export interface Task {
  readonly id: string;
  /** Who may see it. */
  readonly principal: string;
  readonly tool: string;
  readonly args: unknown;
  readonly peer: Peer;
  readonly createdAt: number;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
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

export function isTerminal({ status }: Pick<Task, 'status'>): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

export function expiresAt({ createdAt, ttlMs }: Task): number {
  return createdAt + ttlMs;
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

export function writeTask(task: Task): JsonObject {
  return { ...task, journal: writeJournal(task.journal) };
}

export function readTask(json: JsonObject): Task {
  return { ...(json as unknown as Task), journal: readJournal(json['journal'] as JsonObject) };
}
