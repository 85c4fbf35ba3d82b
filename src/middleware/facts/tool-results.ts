import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { copyCall } from '../../protocol/direct.js';

// The results of tools, wherever they are: the outcome of a call, the result of a task, or a notification of a task.

/** The result of a tool that an outcome has; undefined if it has none. */
export function toolResultOf({ method }: Call, outcome: Outcome): JsonObject | undefined {
  if (method === 'tools/call') return outcome.resultType === 'complete' ? outcome : undefined;
  const { result } = outcome;
  return method === 'tasks/get' && isObject(result) ? result : undefined;
}

/** The outcome with another result of the tool. */
export function withToolResult({ method }: Call, outcome: Outcome, result: JsonObject): Outcome {
  return method === 'tools/call' ? { ...result, resultType: 'complete' } : { ...outcome, result };
}

/** A result that the model reads as a failure. The `_meta` of the result that it replaces is kept. */
export function failedResult(text: string, { _meta }: JsonObject): JsonObject {
  return { isError: true, content: [{ type: 'text', text }], ...(_meta !== undefined && { _meta }) };
}

/**
 * The call for the other side of a middleware that changes results of tools. If it is a subscription, the notifications of tasks that
 * come back through it are changed as the outcomes of `tasks/get` are.
 */
export function changingTasks(call: Call, change: (get: Call, outcome: Outcome) => Promise<Outcome>): Call {
  const filter = call.method === 'subscriptions/listen' ? call.params['notifications'] : undefined;
  if (!isObject(filter) || !Array.isArray(filter['taskIds']) || filter['taskIds'].length === 0) return call;
  return copyCall(call, {
    notify(method, params = {}) {
      const { taskId, result } = params;
      if (method !== 'notifications/tasks' || !isObject(result)) return call.notify(method, params);
      const get = copyCall(call, { method: 'tasks/get', params: { taskId } });
      change(get, { ...params, resultType: 'complete' }).then(
        ({ resultType, ...task }) => call.notify(method, task),
        // Nobody waits for a notification: the client polls the task anyway.
        () => undefined,
      );
    },
  });
}
