import { isObject, type JsonObject } from '../jsonrpc/message.js';
import type { Outcome, Peer } from '../protocol/call.js';
import { McpError } from '../protocol/errors.js';
import { TASKS } from '../protocol/extensions.js';
import type { Revision } from '../protocol/revisions.js';
import { printFor } from './projection.js';

// The tasks of 2025-11-25 were part of the protocol; today they are an extension with other names and fewer methods.

const RELATED = 'io.modelcontextprotocol/related-task';

/** What it takes to serve the old methods with the new ones. */
export interface TaskWay {
  readonly revision: Revision;
  /** Makes a modern call, as a client that knows tasks. */
  readonly call: (method: string, params: JsonObject) => Promise<Outcome>;
  /** Asks the client and gives its answers by key. */
  readonly ask: (requests: JsonObject) => Promise<JsonObject>;
  /** Resolves when the task has changed; `ready` is called when no change can be missed any more. */
  readonly nextChange: (taskId: string, ready: () => Promise<boolean>) => Promise<void>;
}

/** A client that knows tasks, as far as the server can tell. */
export function knowingTasks(peer: Peer): Peer {
  const { capabilities } = peer;
  return {
    ...peer,
    capabilities: { ...capabilities, extensions: { ...capabilities.extensions, [TASKS]: {} } },
  };
}

/** The capability of 2025-11-25 in place of the extension's. */
export function taskCapabilities(capabilities: JsonObject): JsonObject {
  const { extensions, ...rest } = capabilities;
  if (!isObject(extensions) || !Object.hasOwn(extensions, TASKS)) return capabilities;
  const { [TASKS]: _, ...others } = extensions;
  return {
    ...rest,
    ...(Object.keys(others).length > 0 && { extensions: others }),
    tasks: { cancel: {}, requests: { tools: { call: {} } } },
  };
}

/** The answer to one of the old methods, as the JSON of a result. */
export async function answerTask(method: string, params: JsonObject, way: TaskWay): Promise<string> {
  switch (method) {
    case 'tasks/get':
      return JSON.stringify(olderTask(await way.call('tasks/get', params)));
    case 'tasks/cancel':
      return cancel(params, way);
    case 'tasks/result':
      return result(params, way);
    default:
      throw new McpError('method_not_found', `Method not found: ${method}`);
  }
}

/** The task that a call became, as 2025-11-25 writes it. */
export function createdTask(outcome: Outcome): string {
  return JSON.stringify({ task: olderTask(outcome) });
}

async function cancel(params: JsonObject, way: TaskWay): Promise<string> {
  const { status } = await way.call('tasks/get', params);
  if (isTerminal(status))
    throw new McpError('invalid_params', `The task has ended already: ${String(status)}`);
  await way.call('tasks/cancel', params);
  return JSON.stringify(olderTask(await way.call('tasks/get', params)));
}

// Blocks until the task has ended. Its questions are asked meanwhile, on the stream of this request.
async function result(params: JsonObject, way: TaskWay): Promise<string> {
  const taskId = String(params['taskId']);
  for (;;) {
    // Looked at first: a task that is not there, or no longer, never changes.
    let task = await way.call('tasks/get', params);
    if (task['status'] === 'working') {
      await way.nextChange(taskId, async () => {
        task = await way.call('tasks/get', params);
        return task['status'] !== 'working';
      });
    }
    if (task['status'] === 'input_required') {
      const inputResponses = await way.ask(related(task['inputRequests'] as JsonObject, taskId));
      await way.call('tasks/update', { taskId, inputResponses });
    } else if (isTerminal(task['status'])) return ended(task, way.revision, taskId);
  }
}

function ended(task: Outcome, revision: Revision, taskId: string): string {
  if (isObject(task['error'])) {
    const { code, message, data } = task['error'];
    throw new McpError('internal_error', String(message), { number: Number(code), data });
  }
  const outcome = task['result'] as Outcome | undefined;
  if (outcome === undefined) throw new McpError('invalid_params', 'The task was cancelled and has no result');
  const _meta = { ...(isObject(outcome['_meta']) && outcome['_meta']), [RELATED]: { taskId } };
  return printFor(revision, 'tools/call', { ...outcome, _meta });
}

function related(requests: JsonObject, taskId: string): JsonObject {
  return Object.fromEntries(
    Object.entries(requests).map(([key, request]) => {
      const { method, params } = request as { method: string; params?: JsonObject };
      return [key, { method, params: { ...params, _meta: { [RELATED]: { taskId } } } }];
    }),
  );
}

// A tool's own failure was a failed task then, and is a completed one now.
function olderTask(task: Outcome): JsonObject {
  const {
    taskId,
    status,
    statusMessage,
    createdAt,
    lastUpdatedAt,
    ttlMs,
    pollIntervalMs,
    result: value,
  } = task;
  const failed = status === 'completed' && isObject(value) && value['isError'] === true;
  return {
    taskId,
    status: failed ? 'failed' : status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt,
    lastUpdatedAt,
    ttl: ttlMs,
    pollInterval: pollIntervalMs,
  };
}

function isTerminal(status: unknown): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}
