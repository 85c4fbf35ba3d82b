import { setTimeout } from 'node:timers/promises';
import type { InProcess, Outcome } from 'fullmcp';

/** Polls a task until it has ended, and answers its questions. */
export async function follow(
  call: InProcess,
  taskId: unknown,
  answer: (key: string) => unknown,
): Promise<Outcome> {
  for (;;) {
    const task = await call('tasks/get', { taskId });
    if (task['status'] === 'input_required') {
      const keys = Object.keys(task['inputRequests'] as object);
      const inputResponses = Object.fromEntries(keys.map((key) => [key, answer(key)]));
      await call('tasks/update', { taskId, inputResponses });
    } else if (task['status'] === 'working') {
      await setTimeout(task['pollIntervalMs'] as number);
    } else return task; // completed, failed or cancelled
  }
}

/** Subscribes to the changes of a task instead of polling. */
export function watch(
  call: InProcess,
  taskId: unknown,
  onStatus: (status: unknown) => void,
  signal: AbortSignal,
) {
  return call(
    'subscriptions/listen',
    { notifications: { taskIds: [taskId] } },
    {
      signal,
      onNotification: (method, task) => method === 'notifications/tasks' && onStatus(task?.['status']),
    },
  );
}
