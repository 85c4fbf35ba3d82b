import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import { TASK_PROGRESS } from '../../protocol/tables/extensions.js';
import { toProgress } from '../calls/progress.js';
import type { TaskState } from '../model/client.js';

const statuses: readonly string[] = ['working', 'input_required', 'completed', 'failed', 'cancelled'];

/** Reads what a server says of a task. */
export function toTaskState(task: JsonObject): TaskState {
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs, inputRequests } =
    task;
  if (typeof taskId !== 'string' || !statuses.includes(status as string))
    throw new McpError('bad_response', 'The server speaks of a task without an id or a status');
  const meta = isObject(task['_meta']) ? task['_meta'][TASK_PROGRESS] : undefined;
  return {
    id: taskId,
    status: status as TaskState['status'],
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
