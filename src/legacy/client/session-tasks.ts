import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { boundedKey } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import { newestRevision } from '../../protocol/tables/revisions.js';
import { isTerminal, supportsTasks } from '../../protocol/tasks.js';
import { modernOutcome, modernTask } from '../shapes/to-modern.js';
import { type HandshakeResult, isErrorResponse } from './handshake.js';

// Tasks over a session: the methods of the extension, implemented with those of 2025-11-25.

/** Sends a call to the server, or another request in its place, and returns the result. */
export type Forward = (call: Call, method?: string, params?: JsonObject) => Promise<JsonObject>;

/** Sends a request that does not belong to a call. */
type Request = (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;

const MAX_REMEMBERED = 10_000;

/** The tasks extension in front of the tasks of 2025-11-25. */
export class SessionTasks {
  readonly #forward: Forward;
  readonly #request: Request;
  /** Whether a tool runs only as a task, by name. Only listed tools have an entry. */
  readonly #onlyAsTask = new Map<string, boolean>();
  /** The requests that wait for the questions of tasks, by task id. */
  readonly #asking = new Map<string, AbortController>();

  constructor(forward: Forward, request: Request) {
    this.#forward = forward;
    this.#request = request;
  }

  /** Remembers which tools run only as tasks. */
  learnTools({ tools }: JsonObject): void {
    for (const tool of Array.isArray(tools) ? tools : []) {
      if (!isObject(tool) || this.#onlyAsTask.size >= MAX_REMEMBERED) continue;
      const { name, execution } = tool;
      this.#onlyAsTask.set(
        boundedKey(String(name)),
        isObject(execution) && execution['taskSupport'] === 'required',
      );
    }
  }

  /** Calls a tool, as a task only if the tool demands it: a plain call is simpler, and can be cancelled. */
  async callTool(call: Call, handshake: HandshakeResult): Promise<Outcome> {
    const canBeTask = handshake.tasks && supportsTasks(call.peer);
    const onlyAsTask = this.#onlyAsTask.get(boundedKey(String(call.params['name'])));
    if (canBeTask && onlyAsTask) return this.#start(call);
    try {
      return modernOutcome('tools/call', await this.#forward(call));
    } catch (error) {
      // The error for a tool that runs only as a task (spec 2025-11-25, Tasks, Tool-Level Negotiation).
      if (!canBeTask || onlyAsTask === false || !isErrorResponse(error) || error.code !== 'method_not_found')
        throw error;
      return this.#start(call);
    }
  }

  async #start(call: Call): Promise<Outcome> {
    const result = await this.#forward(call, call.method, { ...call.params, task: {} });
    const { task, ...rest } = result;
    return isObject(task)
      ? { ...rest, ...modernTask(task), resultType: 'task' }
      : modernOutcome('tools/call', result);
  }

  /** The task, with its result or error if it has ended. The session era has a request of its own for the result. */
  async get(call: Call): Promise<Outcome> {
    const task = { ...modernTask(await this.#forward(call)), resultType: 'complete' };
    const { status } = task as JsonObject;
    if (status === 'completed' || status === 'failed') return { ...task, ...(await this.#result(call)) };
    if (status !== 'input_required') return task;
    this.#awaitQuestions(String(call.params['taskId']));
    return { ...task, inputRequests: {} };
  }

  // In 2025-11-25 a tool's own failure is a failed task; in the extension it is a completed one.
  async #result(call: Call): Promise<JsonObject> {
    try {
      const result = await this.#forward(call, 'tasks/result', { taskId: call.params['taskId'] });
      return { status: 'completed', result: modernOutcome('tools/call', result) };
    } catch (error) {
      if (!isErrorResponse(error)) throw error;
      return { status: 'failed', error: error.toWire(newestRevision) };
    }
  }

  // The server sends a task's questions as requests while the client waits for the result. The outcome of that request is
  // ignored: the next `tasks/get` reports it.
  #awaitQuestions(taskId: string): void {
    if (this.#asking.has(taskId)) return;
    const controller = new AbortController();
    this.#asking.set(taskId, controller);
    const done = (): boolean => this.#asking.delete(taskId);
    this.#request('tasks/result', { taskId }, controller.signal).then(done, done);
  }

  async cancel(call: Call): Promise<Outcome> {
    try {
      await this.#forward(call);
    } catch (error) {
      // In 2025-11-25 it is an error to cancel a task that has ended; in the extension it is not.
      if (!isErrorResponse(error) || error.code !== 'invalid_params' || !(await this.#hasEnded(call)))
        throw error;
    }
    this.#asking
      .get(String(call.params['taskId']))
      ?.abort(new McpError('cancelled', 'The task was cancelled'));
    return { resultType: 'complete' };
  }

  async #hasEnded(call: Call): Promise<boolean> {
    const { status } = await this.#forward(call, 'tasks/get').catch((): JsonObject => ({}));
    return isTerminal(status);
  }
}
