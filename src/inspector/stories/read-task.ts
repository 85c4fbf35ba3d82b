// Reads tasks from messages of any revision.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { isTaskStatus } from '../../protocol/tasks.js';
import type { TaskView } from '../contract/story.js';

/** 2025-11-25, Tasks: says which task a message belongs to. */
const RELATED = 'io.modelcontextprotocol/related-task';

/** A message may be megabytes. Secrets are masked before it is cut to what is shown. */
const MAX_LOOKED_AT = 20_000;

/** The id of the task that a message of the server is about. */
export function relatedTask(params: JsonObject | undefined): string | undefined {
  const meta = params?.['_meta'];
  const related = isObject(meta) ? meta[RELATED] : undefined;
  const id = isObject(related) ? related['taskId'] : params?.['taskId'];
  return typeof id === 'string' ? id : undefined;
}

/** The task in a result or a notification, put on top of what is known of it; undefined if there is none. Its words are masked. */
export function readTask(
  value: JsonObject,
  known: TaskView | undefined,
  mask: (text: string) => string,
): TaskView | undefined {
  const task = isObject(value['task']) ? value['task'] : value;
  const { taskId, status, statusMessage, createdAt, ttlMs, ttl, pollIntervalMs, pollInterval } = task;
  if (typeof taskId !== 'string' || !isTaskStatus(status)) return undefined;
  const created = typeof createdAt === 'string' ? Date.parse(createdAt) : Number.NaN;
  const lifetime = number(ttlMs) ?? number(ttl);
  const pollMs = number(pollIntervalMs) ?? number(pollInterval);
  return {
    id: taskId.slice(0, 1000),
    status,
    ...(typeof statusMessage === 'string' && {
      statusMessage: mask(statusMessage.slice(0, MAX_LOOKED_AT)).slice(0, 2000),
    }),
    ...(!Number.isNaN(created) && { createdAt: created }),
    ...(lifetime !== undefined && !Number.isNaN(created) && { keptUntil: created + lifetime }),
    ...(pollMs !== undefined && { pollMs }),
    polls: known?.polls ?? 0,
    ...(known?.lastPoll !== undefined && { lastPoll: known.lastPoll }),
  };
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
