import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import { TASK_PROGRESS } from '../../protocol/tables/meta-keys.js';
import { isTaskStatus } from '../../protocol/tasks.js';
import type { TaskState } from '../model/client.js';
import { toProgress } from '../model/options.js';

/** Reads the state of a task from a server's message. */
export function toTaskState(task: JsonObject): TaskState {
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs, inputRequests } =
    task;
  if (typeof taskId !== 'string' || !isTaskStatus(status))
    throw new McpError('bad_response', 'The server sent a task without a valid id or status');
  const meta = isObject(task['_meta']) ? task['_meta'][TASK_PROGRESS] : undefined;
  return {
    id: taskId,
    status,
    statusMessage: typeof statusMessage === 'string' ? statusMessage : undefined,
    progress: isObject(meta) ? toProgress(meta) : undefined,
    createdAt: String(createdAt ?? ''),
    lastUpdatedAt: String(lastUpdatedAt ?? ''),
    ttlMs: ttlMs === null ? null : milliseconds(ttlMs),
    pollIntervalMs: milliseconds(pollIntervalMs),
    questions: isObject(inputRequests) ? (inputRequests as Record<string, JsonObject>) : {},
  };
}

function milliseconds(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined;
}
