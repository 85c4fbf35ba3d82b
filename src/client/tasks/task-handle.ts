import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Outcome } from '../../protocol/call.js';
import { type CallSource, copyError, type McpError } from '../../protocol/errors.js';
import { toCallError } from '../calls/call-error.js';
import type { ToolCall } from '../calls/read-results.js';
import type { CallResult, TaskHandle, TaskState } from '../model/client.js';
import type { CallOptions } from '../model/options.js';
import type { TaskParts } from './follow-task.js';
import { toTaskState } from './task-state.js';

// The handles of tasks that a program receives.

/** The first state of a task that a call has just become. */
interface StartedTask {
  readonly call: ToolCall;
  readonly state: TaskState;
}

/** The call of a task that an earlier client has started. */
const unknownCall: ToolCall = { name: undefined, id: undefined };

/** The handle of the task that a call has become. */
export function startedHandle(parts: TaskParts, call: ToolCall, outcome: Outcome): TaskHandle {
  const state = toTaskState(outcome);
  return taskHandle(parts, state.id, { call, state });
}

/** The handle of a task that the server keeps. */
export function taskHandle(parts: TaskParts, id: string, started?: StartedTask): TaskHandle {
  const { request, finish } = parts;
  const call = started?.call ?? unknownCall;
  const name = call.name ?? id;

  const get = (options: CallOptions | undefined): Promise<Outcome> =>
    request('tasks/get', { taskId: id }, options);

  async function update(answers: JsonObject, options: CallOptions | undefined): Promise<void> {
    await request('tasks/update', { taskId: id, inputResponses: answers }, options);
  }

  async function result(options: CallOptions = {}): Promise<CallResult> {
    // Loaded with the first task whose result is requested: most servers have no tasks.
    const { followTask } = await import('./follow-task.js');
    const value = await followTask({ id, name, initialState: started?.state, parts, options, get, update });
    return finish(value, call, id);
  }

  const withTaskId = <T>(work: () => Promise<T>): Promise<T> =>
    work().catch((thrown: unknown) => {
      throw taskError(thrown, id, {
        server: parts.serverOf(id),
        method: 'tools/call',
        name: call.name,
        requestId: call.id,
      });
    });

  return {
    id,
    status: (options) => withTaskId(async () => toTaskState(await get(options))),
    result: (options) => withTaskId(() => result(options)),
    answer: (answers, options) => withTaskId(() => update(answers, options)),
    cancel: (options) =>
      withTaskId(async () => {
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

/** An error with the task's id in its data, so that `client.task(error.data.taskId)` finds the task again. */
function taskError(thrown: unknown, taskId: string, source: CallSource): McpError {
  const error = toCallError(thrown, source);
  const { data } = error;
  const details = isObject(data) ? data : data === undefined ? {} : { data };
  return copyError(error, { data: { ...details, taskId } });
}
