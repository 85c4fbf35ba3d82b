import type { JsonObject } from '../../jsonrpc/message.js';
import { IDEMPOTENCY_KEY } from '../../protocol/tables/meta-keys.js';
import type { CallSender, ReadOutcome } from '../calls/call-sender.js';
import { requireComplete, type ToolCall, ToolCallResult } from '../calls/read-results.js';
import type { KnownTools } from '../checks/known-tools.js';
import type { CallResult, Client, TaskHandle, ToolCallOptions } from '../model/client.js';
import type { AnswerQuestion } from '../model/handlers.js';
import type { CallOptions } from '../model/options.js';
import type { TaskParts } from './follow-task.js';

// Calls of tools, which may become tasks.

export interface ClientToolParts {
  readonly sender: CallSender;
  readonly knownTools: KnownTools;
  readonly answer: AnswerQuestion;
  readonly maxRounds: number;
  /** The client's own `maxTimeoutMs`, which also limits waiting for tasks; undefined for no limit. */
  readonly maxTimeoutMs: number | undefined;
  readonly problem: (message: string, cause?: unknown) => void;
  /** The name of the server that an outcome, or the task with an id, comes from. */
  readonly serverOf: (settled: unknown) => string;
}

/** The methods of a client that call tools and follow tasks. */
export function toolCalls({
  sender,
  knownTools,
  answer,
  maxRounds,
  maxTimeoutMs,
  problem,
  serverOf,
}: ClientToolParts): Pick<Client, 'tool' | 'callTool' | 'startTool' | 'task'> {
  const parts: TaskParts = {
    request: (method, params, options) => sender.sendFresh(method, params, options),
    answer: (request, context) => sender.whileAsking(() => answer(request, context)),
    maxRounds,
    pauseWithCalls: (limit) => sender.pauseWithCalls(limit),
    maxTimeoutMs,
    progress: (progress, name, { onProgress }) =>
      sender.reportProgress(progress, { method: 'tools/call', name, onProgress }),
    problem,
    finish: (result, call, taskId) => finish(result, call, serverOf(taskId)),
    serverOf,
    closing: sender.closing,
  };

  function finish(result: JsonObject, call: ToolCall, server: string): CallResult | Promise<CallResult> {
    const check = knownTools.check(call.name, result);
    if (check === undefined) return new ToolCallResult(result, call, server);
    return check.then(() => new ToolCallResult(result, call, server));
  }

  const read: ReadOutcome<CallResult | TaskHandle> = (outcome, call) => {
    if (outcome.resultType !== 'task') return finish(requireComplete(outcome), call, serverOf(outcome));
    const { name, id } = call;
    return tasks().then(({ startedHandle }) => startedHandle(parts, { name, id }, outcome));
  };

  function send(name: string, args: object, options: ToolCallOptions): Promise<CallResult | TaskHandle> {
    return sender.sendFresh('tools/call', { name, arguments: args }, withKey(options), read);
  }

  async function startTool(
    name: string,
    args: object = {},
    options: ToolCallOptions = {},
  ): Promise<TaskHandle> {
    const resultOrTask = await send(name, args, options);
    return 'unwrap' in resultOrTask ? (await tasks()).doneHandle(resultOrTask) : resultOrTask;
  }

  async function callTool(
    name: string,
    args: object = {},
    options: ToolCallOptions = {},
  ): Promise<CallResult> {
    const resultOrTask = await send(name, args, options);
    if ('unwrap' in resultOrTask) return resultOrTask;
    try {
      return await resultOrTask.result(options);
    } catch (error) {
      // The caller cancelled the call, so the task is cancelled too.
      if (options.signal?.aborted) void resultOrTask.cancel().catch(() => {});
      throw error;
    }
  }

  return { callTool, startTool, task: (id) => taskById(parts, id), tool: toFunctions(callTool) };
}

// Loaded with the first task: most servers have none.
function tasks(): Promise<typeof import('./task-handle.js')> {
  return import('./task-handle.js');
}

function taskById(parts: TaskParts, id: string): TaskHandle {
  const handle = async (): Promise<TaskHandle> => (await tasks()).taskHandle(parts, id);
  return {
    id,
    status: async (options) => (await handle()).status(options),
    result: async (options) => (await handle()).result(options),
    answer: async (answers, options) => (await handle()).answer(answers, options),
    cancel: async (options) => (await handle()).cancel(options),
  };
}

function withKey(options: ToolCallOptions): ToolCallOptions {
  const { idempotencyKey } = options;
  if (idempotencyKey === undefined) return options;
  return { ...options, meta: { ...options.meta, [IDEMPOTENCY_KEY]: idempotencyKey } };
}

function toFunctions(callTool: Client['callTool']): Client['tool'] {
  return new Proxy({} as Client['tool'], {
    get(_, name) {
      // `await` reads `then`, so there cannot be a function of this name.
      if (typeof name !== 'string' || name === 'then') return undefined;
      return async (args?: object, options?: CallOptions) => (await callTool(name, args, options)).unwrap();
    },
  });
}
