import { isObject, type JsonObject } from '../jsonrpc/message.js';
import type { Outcome } from '../protocol/call.js';
import { fromWire, McpError } from '../protocol/errors.js';
import { type Answer, answerAll } from './answering.js';
import type { CallResult, TaskHandle, TaskState } from './model.js';
import type { CallOptions } from './options.js';
import { pause } from './pause.js';
import { toTaskState } from './task-state.js';

export interface TaskParts {
  readonly request: (method: string, params: JsonObject, options?: CallOptions) => Promise<Outcome>;
  readonly answer: Answer;
  /** Aborts when the client closes. */
  readonly closing: AbortSignal;
  /** Makes a result of what the tool answered at last. */
  readonly finish: (name: string, result: JsonObject) => CallResult | Promise<CallResult>;
}

const FASTEST_MS = 20;
const SLOWEST_MS = 60_000;

/** A task that the server keeps. `made` is what it said when it made it. */
export function taskHandle(
  parts: TaskParts,
  id: string,
  made?: Outcome & { readonly name: string },
): TaskHandle {
  const { request, answer, finish, closing } = parts;
  const name = made?.name ?? id;

  async function get(options: CallOptions | undefined): Promise<Outcome> {
    return request('tasks/get', { taskId: id }, options);
  }

  async function update(answers: JsonObject, options: CallOptions | undefined): Promise<void> {
    await request('tasks/update', { taskId: id, inputResponses: answers }, options);
  }

  const until = ({ signal }: CallOptions): AbortSignal =>
    signal === undefined ? closing : AbortSignal.any([signal, closing]);

  async function result(options: CallOptions = {}): Promise<CallResult> {
    const signal = until(options);
    const deadline =
      options.maxTimeoutMs === undefined
        ? Number.POSITIVE_INFINITY
        : performance.now() + options.maxTimeoutMs;
    const answered = new Set<string>();
    let state = made === undefined ? undefined : toTaskState(made);
    for (;;) {
      if (state !== undefined) await pause(intervalOf(state), signal);
      const said = await get(options);
      state = toTaskState(said);
      switch (state.status) {
        case 'completed':
          if (!isObject(said['result']))
            throw new McpError('bad_response', `The task ${id} is complete but has no result`);
          return finish(name, said['result']);
        case 'failed':
          throw failureOf(id, said['error']);
        case 'cancelled':
          throw new McpError('cancelled', state.statusMessage ?? `The task ${id} was cancelled`, {
            data: { taskId: id },
          });
        case 'input_required':
          await answerNew(state, answered, options);
          break;
        case 'working':
          break;
        default:
          state.status satisfies never;
      }
      if (performance.now() > deadline)
        throw new McpError(
          'timeout',
          `The task ${id} is not done after ${options.maxTimeoutMs} ms (maxTimeoutMs): it goes on, and client.task(id) finds it again`,
          {
            data: { taskId: id },
          },
        );
    }
  }

  // An answer may take a while to reach the task: a question is not asked twice while it stays open.
  async function answerNew(
    { questions }: TaskState,
    answered: Set<string>,
    options: CallOptions,
  ): Promise<void> {
    for (const key of answered) if (!Object.hasOwn(questions, key)) answered.delete(key);
    const open = Object.entries(questions).filter(([key]) => !answered.has(key));
    if (open.length === 0) return;
    const answers = await answerAll(Object.fromEntries(open), answer, until(options));
    for (const [key] of open) answered.add(key);
    if (answers !== undefined) await update(answers, options);
  }

  return {
    id,
    status: async (options) => toTaskState(await get(options)),
    result,
    answer: (answers, options) => update(answers, options),
    async cancel(options) {
      await request('tasks/cancel', { taskId: id }, options);
    },
  };
}

/** What a call gives whose server made no task of it. */
export function doneHandle(result: CallResult): TaskHandle {
  const now = new Date().toISOString();
  const state: TaskState = {
    id: '',
    status: 'completed',
    statusMessage: undefined,
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

function intervalOf({ pollIntervalMs = 1000 }: TaskState): number {
  return Math.min(Math.max(pollIntervalMs, FASTEST_MS), SLOWEST_MS);
}

function failureOf(id: string, error: unknown): McpError {
  const { code, message, data } = isObject(error) ? error : {};
  if (typeof code === 'number' && typeof message === 'string')
    return fromWire({ code, message, ...(data !== undefined && { data }) });
  return new McpError('remote_error', `The task ${id} failed`, { data: { taskId: id } });
}
