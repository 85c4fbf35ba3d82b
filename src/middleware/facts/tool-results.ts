import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';

// The results of tools, wherever they are: the outcome of a call, or the result of a task.

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
