import type { Peer } from './call.js';

// The parts of the tasks extension that servers, clients and sessions share.

/** The extension that lets a call continue as a task. */
export const TASKS = 'io.modelcontextprotocol/tasks';

/** The status of a task. `completed`, `failed` and `cancelled` are final. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

const statuses: readonly unknown[] = ['working', 'input_required', 'completed', 'failed', 'cancelled'];

export function isTaskStatus(value: unknown): value is TaskStatus {
  return statuses.includes(value);
}

/** Whether a task with this status has ended. */
export function isTerminal(status: unknown): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** Whether a peer declares the extension. */
export function supportsTasks({ capabilities: { extensions } }: Pick<Peer, 'capabilities'>): boolean {
  return extensions !== undefined && Object.hasOwn(extensions, TASKS);
}
