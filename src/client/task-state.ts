import { isObject, type JsonObject } from '../jsonrpc/message.js';
import { McpError } from '../protocol/errors.js';
import type { TaskState } from './model.js';

const statuses: readonly string[] = ['working', 'input_required', 'completed', 'failed', 'cancelled'];

/** Reads what a server says of a task. */
export function toTaskState(said: JsonObject): TaskState {
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs, inputRequests } =
    said;
  if (typeof taskId !== 'string' || !statuses.includes(status as string))
    throw new McpError('bad_response', 'The server speaks of a task without an id or a status');
  return {
    id: taskId,
    status: status as TaskState['status'],
    statusMessage: typeof statusMessage === 'string' ? statusMessage : undefined,
    createdAt: String(createdAt ?? ''),
    lastUpdatedAt: String(lastUpdatedAt ?? ''),
    ttlMs: typeof ttlMs === 'number' || ttlMs === null ? ttlMs : undefined,
    pollIntervalMs: typeof pollIntervalMs === 'number' ? pollIntervalMs : undefined,
    questions: isObject(inputRequests) ? (inputRequests as Record<string, JsonObject>) : {},
  };
}
