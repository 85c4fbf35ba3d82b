// The head of a task: the entry that clients see.

import type { ErrorObject, JsonObject } from '../../../jsonrpc/message.js';
import { TASK_PROGRESS } from '../../../protocol/tables/meta-keys.js';
import { isTaskStatus, isTerminal, type TaskStatus } from '../../../protocol/tasks.js';
import type { StoreEntry } from '../../../state/store.js';

/** The head of a task. Everything that is needed to run the task is in its journal, which is not written again with each change. */
export interface TaskHead {
  readonly id: string;
  /** The tool, whose rules decide who sees the task. Absent from tasks of earlier versions. */
  readonly tool?: string;
  readonly createdAt: number;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  readonly updatedAt: number;
  readonly status: TaskStatus;
  readonly statusMessage?: string | undefined;
  /** The progress that the handler reported: `{ progress, total, message }`. */
  readonly progress?: JsonObject | undefined;
  /** The questions that the client was asked. An answer counts for the round in which its question was asked. */
  readonly open: readonly AskedQuestion[];
  /** Whether the task only waits for answers, so that nobody holds it. */
  readonly waiting?: boolean;
  readonly result?: JsonObject | undefined;
  readonly error?: ErrorObject | undefined;
  /** The bytes that are counted for the caller. */
  readonly bytes: number;
  /** How often the task was started without success since its journal had this size. */
  readonly failed?: { readonly count: number; readonly at: number } | undefined;
  /** The server whose task it is, and its version when the task began. Absent from tasks of earlier versions. */
  readonly server?: string;
  readonly release?: string;
  /** The version of the tool that began the task, or to which it was migrated; absent if the tool has no versions. */
  readonly version?: string | undefined;
  /** The processes that cannot continue the task. */
  readonly refused?: readonly string[] | undefined;
}

/** A question that was asked: its key, the number of its round, and the request. */
export type AskedQuestion = readonly [key: string, round: number, request: unknown];

/** The end of a task: its last status, with a result or an error. */
export type Ending = Pick<TaskHead, 'status' | 'result' | 'error' | 'statusMessage'>;

/** A head as it was read, with the time that the task has left. */
export interface StoredHead {
  readonly head: TaskHead;
  readonly version: string;
  /** By the clock of the store. */
  readonly remainingMs: number;
  readonly expiresInMs: number;
}

/** An unfinished task stays in the store for this long after it has expired, so that the next process can count it down. */
export const GRACE_MS: number = 7 * 24 * 3_600_000;

/** Reads a head. Throws if the entry is something else. */
export function readHead(
  { value, version, expiresInMs = Number.POSITIVE_INFINITY }: StoreEntry,
  id: string,
): StoredHead {
  if (value['id'] !== id || !isTaskStatus(value['status']) || !Array.isArray(value['open']))
    throw new TypeError('The entry is not a task');
  const head = value as unknown as TaskHead;
  const remainingMs = isTerminal(head.status) ? expiresInMs : expiresInMs - GRACE_MS;
  return { head, version, remainingMs, expiresInMs };
}

/** The head after its end. */
export function endedHead(head: TaskHead, ending: Ending): TaskHead {
  const { id, tool, createdAt, ttlMs, pollIntervalMs, progress, statusMessage, bytes } = head;
  return {
    ...(tool !== undefined && { tool }),
    ...{ id, createdAt, ttlMs, pollIntervalMs, updatedAt: laterThan(head), open: [], bytes },
    ...(progress !== undefined && { progress }),
    ...(statusMessage !== undefined && { statusMessage }),
    ...ending,
  };
}

/** The time of a change. A clock that is set back, or that of another process, must not make the task younger. */
export function laterThan({ updatedAt }: Pick<TaskHead, 'updatedAt'>): number {
  return Math.max(Date.now(), updatedAt);
}

/** Converts a task to the shape that a client gets when the task is created. */
export function toSummary(task: TaskHead): JsonObject {
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
export function toDetails(task: TaskHead): JsonObject {
  switch (task.status) {
    case 'completed':
      return { ...toSummary(task), result: task.result };
    case 'failed':
      return { ...toSummary(task), error: task.error };
    case 'input_required':
      return {
        ...toSummary(task),
        inputRequests: Object.fromEntries(task.open.map(([key, , request]) => [key, request])),
      };
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

/** Whether a value has the form of a task's id. */
export function isTaskId(value: unknown): value is string {
  return (
    typeof value === 'string' && /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(value)
  );
}
