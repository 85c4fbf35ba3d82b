import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { toCallError } from '../calls/call-error.js';
import type { CallResult, TaskHandle, TaskState } from '../model/client.js';
import type { CallOptions } from '../model/options.js';
import type { TaskParts } from './follow-task.js';
import { toTaskState } from './task-state.js';

// The handles of tasks that a program receives.

/** The first state of a task that a call has just become. */
interface StartedTask {
  /** The name of the tool. */
  readonly name: string;
  readonly state: TaskState;
}

/** The handle of the task that a call has become. */
export function startedHandle(parts: TaskParts, name: string, outcome: Outcome): TaskHandle {
  const state = toTaskState(outcome);
  return taskHandle(parts, state.id, { name, state });
}

/** The handle of a task that the server keeps. */
export function taskHandle(parts: TaskParts, id: string, started?: StartedTask): TaskHandle {
  const { request, finish } = parts;
  const name = started?.name ?? id;

  const get = (options: CallOptions | undefined): Promise<Outcome> =>
    request('tasks/get', { taskId: id }, options);

  async function update(answers: JsonObject, options: CallOptions | undefined): Promise<void> {
    await request('tasks/update', { taskId: id, inputResponses: answers }, options);
  }

  async function result(options: CallOptions = {}): Promise<CallResult> {
    // Loaded with the first task whose result is requested: most servers have no tasks.
    const { followTask } = await import('./follow-task.js');
    return finish(
      name,
      await followTask({ id, name, initialState: started?.state, parts, options, get, update }),
    );
  }

  return {
    id,
    status: (options) => withTaskId(id, async () => toTaskState(await get(options))),
    result: (options) => withTaskId(id, () => result(options)),
    answer: (answers, options) => withTaskId(id, () => update(answers, options)),
    cancel: (options) =>
      withTaskId(id, async () => {
        await request('tasks/cancel', { taskId: id }, options);
      }),
  };
}

/** The handle of a call that did not become a task and has its result. */
export function doneHandle(result: CallResult): TaskHandle {
  const now = new Date().toISOString();
  const state: TaskState = {
    id: '',
    status: 'completed',
    statusMessage: undefined,
    progress: undefined,
    createdAt: now,
    lastUpdatedAt: now,
    ttlMs: undefined,
    pollIntervalMs: undefined,
    questions: {},
  };
  return {
    id: undefined,
    status: async () => state,
    result: async () => result,
    answer: async () => {},
    cancel: async () => {},
  };
}

/** Adds the task's id to every error, so that `client.task(error.data.taskId)` finds the task again. */
async function withTaskId<T>(taskId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const error = toCallError('tools/call', thrown);
    const { code, message, data, status, number } = error;
    const details = isObject(data) ? data : data === undefined ? {} : { data };
    throw new McpError(code, message, {
      status,
      cause: error.cause ?? error,
      data: { ...details, taskId },
      ...(number !== undefined && { number }),
    });
  }
}
