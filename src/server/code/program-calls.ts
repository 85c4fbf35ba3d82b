// The calls of a program, each as the calls of a client: with all middleware, all rules, and the answers to its questions.

import { delay } from '../../async/delay.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { type Call, type Outcome, withoutParamHeaders } from '../../protocol/call.js';
import { copyCall } from '../../protocol/direct.js';
import { McpError } from '../../protocol/errors.js';
import type { InputRequest } from '../../protocol/model/input.js';
import { IDEMPOTENCY_KEY } from '../../protocol/tables/meta-keys.js';
import { isTerminal, supportsTasks, TASKS } from '../../protocol/tasks.js';
import type { CallContext } from '../context/call-context.js';
import { isUnknownCaller } from '../state/unknown-callers.js';
import type { CodeHost } from './code-host.js';
import { type CallEnd, endOf, failed } from './outcome-value.js';

/** The parts of a run of a program. */
export interface ProgramParts extends CodeHost {
  readonly ctx: CallContext<never, never>;
  readonly call: Call;
}

/** A call that has not ended: it asks something, or has become a task, or both. */
export interface UnendedCall {
  readonly ask?: Readonly<Record<string, InputRequest>>;
  /** The state that its server wants back with the answers. */
  readonly state?: string;
  readonly task?: string;
}

/** The state of a call after one of its steps. */
export type CallState = CallEnd | UnendedCall;

/** Whether a call has ended. */
export function isEnd(reply: CallState): reply is CallEnd {
  return 'json' in reply || 'error' in reply;
}

const MIN_POLL_MS = 20;
const MAX_POLL_MS = 1000;
const CANCEL_MS = 5000;

/** Makes the calls of a program. */
export class ProgramCalls {
  readonly #parts: ProgramParts;

  constructor(parts: ProgramParts) {
    this.#parts = parts;
  }

  /** Calls a tool, or continues a call with the answers to its questions. */
  async call(
    name: string,
    args: JsonObject,
    { key, ...rest }: { readonly key: string } & JsonObject,
  ): Promise<CallState> {
    if (this.#parts.isFront(name)) return this.#front(name);
    return this.#attempt(name, {
      method: 'tools/call',
      params: { ...rest, name, arguments: args, ...this.#meta(key) },
    });
  }

  /** The end of a call of a tool that the caller does not have. */
  missing(name: string): CallEnd {
    return failed(`There is no tool ${name}.`, 'invalid_params');
  }

  /** Calls a tool that only reads, to see what the program would do with the result. Undefined if it would have to ask or wait. */
  async preview(name: string, args: JsonObject): Promise<CallEnd | undefined> {
    if (this.#parts.isFront(name)) return this.#front(name);
    const call = this.#innerCall({ method: 'tools/call', params: { name, arguments: args } });
    const { ctx, dispatch } = this.#parts;
    try {
      const reply = replyOf(name, await dispatch({ ...call, peer: { ...call.peer, capabilities: {} } }));
      return isEnd(reply) ? reply : undefined;
    } catch (error) {
      if (ctx.endReason !== undefined || ctx.signal.aborted || !McpError.is(error)) throw error;
      return error.code === 'missing_capability' ? undefined : failed(error.message, error.code);
    }
  }

  #front(name: string): CallEnd {
    return failed(`${name} cannot be called from a program. Call the tools themselves.`, 'invalid_params');
  }

  /** Waits until a task has ended or asks something. */
  async follow(name: string, taskId: string): Promise<CallState> {
    const { ctx } = this.#parts;
    try {
      for (let waitMs = MIN_POLL_MS; ; waitMs = Math.min(2 * waitMs, MAX_POLL_MS)) {
        const reply = await this.#attempt(name, { method: 'tasks/get', params: { taskId } }, taskId);
        if (isEnd(reply) || reply.ask !== undefined) return reply;
        await delay(waitMs, { signal: ctx.signal, unref: true });
      }
    } catch (error) {
      if (isCancelled(ctx)) await this.#cancel(taskId);
      throw error;
    }
  }

  /** A task that the program has started does not outlive it, unless another process continues the program. */
  async #cancel(taskId: string): Promise<void> {
    const { dispatch } = this.#parts;
    const call = this.#innerCall({ method: 'tasks/cancel', params: { taskId } });
    await dispatch({ ...call, signal: AbortSignal.timeout(CANCEL_MS) }).catch(() => undefined);
  }

  /** Answers the questions of a task. */
  answerTask(name: string, taskId: string, inputResponses: JsonObject): Promise<CallState> {
    return this.#attempt(name, { method: 'tasks/update', params: { taskId, inputResponses } }, taskId);
  }

  // A caller that is not known cannot have keys.
  #meta(key: string): JsonObject {
    const { call, hasUser } = this.#parts;
    return isUnknownCaller(call, hasUser) ? {} : { _meta: { [IDEMPOTENCY_KEY]: key } };
  }

  /** Makes a call. A failure is its end, unless the program itself is over. */
  async #attempt(
    name: string,
    request: Pick<Call, 'method' | 'params'>,
    taskId?: string,
  ): Promise<CallState> {
    const { ctx, dispatch } = this.#parts;
    try {
      return replyOf(name, await dispatch(this.#innerCall(request)), taskId);
    } catch (error) {
      if (ctx.endReason !== undefined || ctx.signal.aborted || !McpError.is(error)) throw error;
      return failed(error.message, error.code);
    }
  }

  #innerCall(request: Pick<Call, 'method' | 'params'>): Call {
    const { ctx, call } = this.#parts;
    const { peer } = call;
    const { capabilities } = peer;
    // The program waits for tasks, whether its client can or not.
    const extensions = { ...capabilities.extensions, [TASKS]: {} };
    const waiting = supportsTasks(peer) ? peer : { ...peer, capabilities: { ...capabilities, extensions } };
    const copy = copyCall(call, { ...request, peer: waiting, http: withoutParamHeaders(call.http) });
    return { ...copy, inProgram: true, signal: ctx.signal };
  }
}

function isCancelled({ endReason, signal }: ProgramParts['ctx']): boolean {
  const reason: unknown = endReason ?? (signal.aborted ? signal.reason : undefined);
  return McpError.is(reason) && reason.code === 'cancelled';
}

function replyOf(name: string, outcome: Outcome, taskId?: string): CallState {
  const { resultType, inputRequests, requestState } = outcome;
  if (resultType === 'input_required')
    return {
      ask: (inputRequests ?? {}) as Readonly<Record<string, InputRequest>>,
      ...(typeof requestState === 'string' && { state: requestState }),
    };
  if (resultType === 'task') return { task: outcome['taskId'] as string };
  return taskId === undefined ? endOf(name, outcome) : taskReply(name, outcome, taskId);
}

function taskReply(name: string, details: Outcome, taskId: string): CallState {
  const { status, result, error, inputRequests, statusMessage } = details;
  if (status === 'input_required' && isObject(inputRequests))
    return { task: taskId, ask: inputRequests as Readonly<Record<string, InputRequest>> };
  if (!isTerminal(status)) return { task: taskId };
  if (status === 'completed') return endOf(name, result as Outcome);
  const message = isObject(error) ? error['message'] : statusMessage;
  return failed(
    typeof message === 'string' ? message : `The task of ${name} was ${String(status)}.`,
    'task_failed',
  );
}
