// The call that a task's handler sees.

import { type Lifetime, withSignal } from '../../async/lifetime.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call } from '../../protocol/call.js';
import type { Task } from './task.js';

/** The call that a task's handler answers: the one that created the task, without its request. */
export function taskCall(task: Task, lifetime: Lifetime, onProgress: (report: JsonObject) => void): Call {
  const { id, tool, args, peer, auth } = task;
  const call = {
    id,
    method: 'tools/call',
    params: { name: tool, arguments: args, _meta: { progressToken: id } },
    peer,
    auth,
    notify: (method: string, { progressToken, ...report }: JsonObject = {}) => {
      if (method === 'notifications/progress') onProgress(report);
    },
  };
  return withSignal(call, lifetime);
}

export function statusMessageOf({ progress, total, message }: JsonObject): string {
  const share = total === undefined ? `${progress}` : `${progress}/${total}`;
  return typeof message === 'string' ? `${message} (${share})` : share;
}
