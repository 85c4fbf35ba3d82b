import { isObject, type JsonObject, printNotification } from '../../jsonrpc/message.js';
import type { Outcome, Peer } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { has } from '../../protocol/tables/features.js';
import { taskSupportOf } from '../../protocol/tables/meta-keys.js';
import { TASKS } from '../../protocol/tasks.js';
import type { ExtraCall } from '../../transports/server/open-calls.js';
import { printAsOlder } from '../shapes/to-older.js';
import {
  type ClientAnswers,
  type ClientChannel,
  type ClientRequests,
  UnansweredRequest,
} from './client-requests.js';
import { TaskWatch } from './task-watch.js';
import { MAX_ROUNDS, printCreatedTask, respondToTaskMethod, withTasks } from './tasks.js';

// Forwards the requests of a session as modern calls, and turns the outcomes back into results of the session's revision.

/** A request of a session: how to forward it, and how to ask its client. */
export interface SessionRequest {
  /** Makes a modern call from the request, or another call beside it, always as the caller that sent the request. */
  readonly forward: (peer: Peer, params: JsonObject, beside?: ExtraCall) => Promise<Outcome>;
  /** The channel for questions to the client. */
  readonly channel: () => ClientChannel;
  /**
   * Asks the client without waiting for it. The request then ends with a `ParkedCall`, and continues with the answers, in this
   * process or in another. Absent if the request waits for the answers.
   */
  readonly park?: ((asked: AskedRound) => Promise<void>) | undefined;
  /** Asks the client and waits for the answers. Default: on the channel. */
  readonly ask?: ((requests: JsonObject, signal: AbortSignal) => Promise<ClientAnswers>) | undefined;
  /** The answers with which a parked request continues. */
  readonly resumed?: ResumedRound | undefined;
}

/** The questions of a call, and what it takes to continue the call. */
export interface AskedRound {
  readonly requests: JsonObject;
  readonly requestState: unknown;
  /** How often the call has asked, this time included. */
  readonly round: number;
  /** The URL elicitations of earlier rounds that the user accepted. */
  readonly elicitationIds: readonly string[];
}

/** The answers to the questions of a call. */
export interface ResumedRound extends Omit<AskedRound, 'requests'> {
  readonly answers: JsonObject;
  /** The reason why the client could not answer. */
  readonly failure: string | undefined;
}

/** The request has asked its client and has no response yet. */
export class ParkedCall extends Error {}

export interface Forwarding {
  readonly peer: Peer;
  readonly clientRequests: ClientRequests;
}

/** Serves a request that the session does not serve itself, with modern calls. Returns the JSON of a result. */
export async function forwardRequest(
  { method, params = {} }: { readonly method: string; readonly params: JsonObject | undefined },
  request: SessionRequest,
  session: Forwarding,
): Promise<string> {
  try {
    if (has(session.peer.revision, 'coreTasks')) {
      if (method.startsWith('tasks/')) return await serveTaskMethod(method, params, request, session);
      if (method === 'tools/call' && isObject(params['task']))
        return await callAsTask(params, request, session);
    }
    return printAsOlder(
      session.peer.revision,
      method,
      await untilComplete(session.peer, params, request, session),
    );
  } catch (error) {
    const lacksCapability = isMissingCapability(error);
    const isRejected = McpError.is(error) && error.code === 'user_rejected';
    if (!(error instanceof UnansweredRequest || lacksCapability || isRejected)) throw error;
    if (lacksCapability && needsTasks(error))
      throw new McpError('method_not_found', 'This tool runs only as a task.');
    // A model sees the failed result of a tool, but not an error of the protocol.
    if (method === 'tools/call')
      return JSON.stringify({ content: [{ type: 'text', text: error.message }], isError: true });
    if (isRejected) throw error;
    throw new McpError(lacksCapability ? 'invalid_request' : 'internal_error', error.message);
  }
}

// If an outcome asks for input, the client is asked with real requests, and the call is made again with the answers.
async function untilComplete(
  peer: Peer,
  params: JsonObject,
  request: SessionRequest,
  { clientRequests }: Forwarding,
): Promise<Outcome> {
  const { resumed, park } = request;
  if (resumed?.failure !== undefined) throw new UnansweredRequest(resumed.failure);
  let outcome = await request.forward(
    peer,
    resumed === undefined
      ? params
      : { ...params, inputResponses: resumed.answers, requestState: resumed.requestState },
  );
  if (resumed === undefined && outcome.resultType !== 'input_required') return outcome;
  const ask = request.ask ?? ((requests) => clientRequests.ask(requests, peer.revision, request.channel()));
  const elicitationIds = [...(resumed?.elicitationIds ?? [])];
  for (let round = (resumed?.round ?? 0) + 1; outcome.resultType === 'input_required'; round++) {
    if (round > MAX_ROUNDS)
      throw new McpError('internal_error', `The call asked the client more than ${MAX_ROUNDS} times.`);
    const { inputRequests, requestState } = outcome;
    const requests = isObject(inputRequests) ? inputRequests : {};
    if (park !== undefined && Object.keys(requests).length > 0) {
      await park({ requests, requestState, round, elicitationIds });
      throw new ParkedCall();
    }
    const response = await ask(requests, request.channel().signal);
    elicitationIds.push(...response.elicitationIds);
    outcome = await request.forward(peer, { ...params, inputResponses: response.answers, requestState });
  }
  if (elicitationIds.length > 0 && isSuccess(outcome)) announceComplete(elicitationIds, request.channel());
  return outcome;
}

function isSuccess({ resultType, isError }: Outcome): boolean {
  return resultType === 'complete' && isError !== true;
}

// Spec 2025-11-25, Elicitation: accepting a URL only begins the visit. If the handler succeeds, the visit is complete.
function announceComplete(elicitationIds: readonly string[], { send }: ClientChannel): void {
  for (const elicitationId of elicitationIds)
    send(printNotification('notifications/elicitation/complete', { elicitationId }));
}

async function callAsTask(
  { task, ...params }: JsonObject,
  request: SessionRequest,
  session: Forwarding,
): Promise<string> {
  if (!(await canBeTask(params['name'], request, session.peer))) {
    throw new McpError('method_not_found', 'This tool does not run as a task. Call it without "task".');
  }
  return printCreatedTask(await untilComplete(withTasks(session.peer), params, request, session));
}

async function canBeTask(name: unknown, request: SessionRequest, peer: Peer): Promise<boolean> {
  let cursor: unknown;
  let dependsOnCaller = false;
  do {
    const page = await request.forward(peer, cursor === undefined ? {} : { cursor }, {
      method: 'tools/list',
    });
    const tool = (page['tools'] as JsonObject[]).find((candidate) => candidate['name'] === name);
    if (tool !== undefined) return ['optional', 'required'].includes(String(taskSupportOf(tool)));
    cursor = page['nextCursor'];
    dependsOnCaller = page['cacheScope'] === 'private';
  } while (cursor !== undefined);
  // The call itself says whether the tool is unknown, or whether its caller lacks scopes.
  return dependsOnCaller;
}

function serveTaskMethod(
  method: string,
  params: JsonObject,
  request: SessionRequest,
  session: Forwarding,
): Promise<string> {
  const peer = withTasks(session.peer);
  return respondToTaskMethod(method, params, {
    revision: peer.revision,
    call: (modern, modernParams) => request.forward(peer, modernParams, { method: modern }),
    ask:
      request.ask ??
      ((requests, signal) =>
        session.clientRequests.ask(requests, peer.revision, { send: request.channel().send, signal })),
    watch: (taskId) =>
      new TaskWatch(
        taskId,
        (listenParams, subscription) =>
          request.forward(peer, listenParams, { method: 'subscriptions/listen', ...subscription }),
        request.channel().signal,
      ),
  });
}

// Revisions before 2026-07-28 do not have this error.
function isMissingCapability(error: unknown): error is McpError {
  return McpError.is(error) && error.code === 'missing_capability';
}

// Spec 2025-11-25, Tasks: a plain call of a tool that runs only as a task fails with `method_not_found`.
function needsTasks({ data }: McpError): boolean {
  const { extensions } =
    (data as { requiredCapabilities?: { extensions?: object } } | undefined)?.requiredCapabilities ?? {};
  return extensions !== undefined && Object.hasOwn(extensions, TASKS);
}
