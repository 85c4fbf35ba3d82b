import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Outcome, Peer } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { notFound } from '../../protocol/not-found.js';
import type { Revision } from '../../protocol/tables/revisions.js';
import { isTerminal, TASKS } from '../../protocol/tasks.js';
import { printAsOlder } from '../shapes/to-older.js';
import type { ClientAnswers } from './client-requests.js';
import type { TaskWatch } from './task-watch.js';

// Tasks for clients of 2025-11-25, where they are part of the protocol. The old methods are served with those of the extension,
// which has other names and fewer methods.

const RELATED = 'io.modelcontextprotocol/related-task';

/** The number of times that one request may ask its client. */
export const MAX_ROUNDS = 32;

/** The functions that serve the old methods with the new ones. */
export interface TaskRequest {
  readonly revision: Revision;
  /** Makes a modern call, as a client that supports tasks. */
  readonly call: (method: string, params: JsonObject) => Promise<Outcome>;
  /** Asks the client. Aborting the signal withdraws the questions. */
  readonly ask: (requests: JsonObject, signal: AbortSignal) => Promise<ClientAnswers>;
  /** Starts to watch a task for changes. */
  readonly watch: (taskId: string) => TaskWatch;
}

/** The peer with the tasks extension among its capabilities. */
export function withTasks(peer: Peer): Peer {
  const { capabilities } = peer;
  return {
    ...peer,
    capabilities: { ...capabilities, extensions: { ...capabilities.extensions, [TASKS]: {} } },
  };
}

/** The server's capabilities with the one of 2025-11-25 in place of the extension. */
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

/** The response to one of the old methods, as the JSON of a result. */
export async function respondToTaskMethod(
  method: string,
  params: JsonObject,
  request: TaskRequest,
): Promise<string> {
  switch (method) {
    case 'tasks/get':
      return JSON.stringify(olderTask(await request.call('tasks/get', params)));
    case 'tasks/cancel':
      return cancel(params, request);
    case 'tasks/result':
      return result(params, request);
    default:
      throw notFound('method', method);
  }
}

/** Prints the task that a call became, in the shape of 2025-11-25. */
export function printCreatedTask(outcome: Outcome): string {
  return JSON.stringify({ task: olderTask(outcome) });
}

async function cancel(params: JsonObject, request: TaskRequest): Promise<string> {
  const { status } = await request.call('tasks/get', params);
  if (isTerminal(status))
    throw new McpError('invalid_params', `The task has already ended: ${String(status)}.`);
  await request.call('tasks/cancel', params);
  return JSON.stringify(olderTask(await request.call('tasks/get', params)));
}

// Waits until the task has ended. Meanwhile, the task's questions are asked on the stream of this request.
async function result(params: JsonObject, request: TaskRequest): Promise<string> {
  // Fetched before it is watched: for a task that does not exist or belongs to another caller, this throws.
  let task = await request.call('tasks/get', params);
  const taskId = task['taskId'] as string;
  const watch = request.watch(taskId);
  let questions: TaskQuestions | undefined;
  try {
    for (let rounds = 0; !isTerminal(task['status']); task = await request.call('tasks/get', params)) {
      const requests =
        task['status'] === 'input_required' ? (task['inputRequests'] as JsonObject) : undefined;
      // The questions were answered elsewhere, or have changed: the user's answer is no longer needed.
      if (questions !== undefined && !questions.isAbout(requests)) {
        questions.withdraw();
        questions = undefined;
      }
      if (requests !== undefined && questions === undefined) {
        if (++rounds > MAX_ROUNDS)
          throw new McpError('internal_error', `The task asked the client more than ${MAX_ROUNDS} times.`);
        questions = new TaskQuestions(requests, request, { taskId, wake: watch.wake });
      }
      await watch.next(task['pollIntervalMs']);
      const inputResponses = questions?.answers();
      if (inputResponses === undefined) continue;
      questions = undefined;
      await request.call('tasks/update', { taskId, inputResponses });
    }
    return finalResult(task, request.revision, taskId);
  } finally {
    questions?.withdraw();
    watch.close();
  }
}

/** Questions of a task that the client is answering. */
class TaskQuestions {
  readonly #about: string;
  readonly #controller = new AbortController();
  #answers: JsonObject | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(
    requests: JsonObject,
    request: TaskRequest,
    { taskId, wake }: { readonly taskId: string; readonly wake: () => void },
  ) {
    this.#about = JSON.stringify(requests);
    request
      .ask(relateToTask(requests, taskId), this.#controller.signal)
      .then(
        ({ answers }) => {
          this.#answers = answers;
        },
        (error) => {
          this.#failure = { error };
        },
      )
      .finally(wake);
  }

  isAbout(requests: JsonObject | undefined): boolean {
    return JSON.stringify(requests) === this.#about;
  }

  /** The answers; undefined until they have arrived. Throws if the client could not answer. */
  answers(): JsonObject | undefined {
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.#answers;
  }

  withdraw(): void {
    this.#controller.abort();
  }
}

function finalResult(task: Outcome, revision: Revision, taskId: string): string {
  if (isObject(task['error'])) {
    const { code, message, data } = task['error'];
    throw new McpError('internal_error', String(message), { number: Number(code), data });
  }
  const outcome = task['result'] as Outcome | undefined;
  if (outcome === undefined)
    throw new McpError('invalid_params', 'The task was cancelled and has no result.');
  const _meta = { ...(isObject(outcome['_meta']) && outcome['_meta']), [RELATED]: { taskId } };
  return printAsOlder(revision, 'tools/call', { ...outcome, _meta });
}

function relateToTask(requests: JsonObject, taskId: string): JsonObject {
  return Object.fromEntries(
    Object.entries(requests).map(([key, request]) => {
      const { method, params } = request as { method: string; params?: JsonObject };
      return [key, { method, params: { ...params, _meta: { [RELATED]: { taskId } } } }];
    }),
  );
}

// In 2025-11-25 a tool's own failure is a failed task; in the extension it is a completed one.
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
  const hasFailed = status === 'completed' && isObject(value) && value['isError'] === true;
  return {
    taskId,
    status: hasFailed ? 'failed' : status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt,
    lastUpdatedAt,
    ttl: ttlMs,
    pollInterval: pollIntervalMs,
  };
}
