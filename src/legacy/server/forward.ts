import { isObject, type JsonObject, printNotification } from '../../jsonrpc/message.js';
import type { Outcome, Peer } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { TASKS } from '../../protocol/tables/extensions.js';
import { has } from '../../protocol/tables/features.js';
import type { Beside } from '../../transports/server/open-calls.js';
import { printFor } from '../shapes/to-older.js';
import { type Line, type Questions, Unanswered } from './client-requests.js';
import { TaskWatch } from './task-watch.js';
import { answerTask, createdTask, knowingTasks, MAX_ROUNDS } from './tasks.js';

/** How a request of a session gets its answer. */
export interface Way {
  /** Makes a modern call of it, or another one beside it: always in the name of whoever sent the request. */
  readonly forward: (peer: Peer, params: JsonObject, beside?: Beside) => Promise<Outcome>;
  /** Where the client is asked, if it has to be. */
  readonly line: () => Line;
}

export interface Forwarding {
  readonly peer: Peer;
  readonly questions: Questions;
}

/** Answers what the session itself does not, with modern calls; the answer is the JSON of a result. */
export async function forwardRequest(
  { method, params = {} }: { readonly method: string; readonly params: JsonObject | undefined },
  way: Way,
  session: Forwarding,
): Promise<string> {
  try {
    if (has(session.peer.revision, 'coreTasks')) {
      if (method.startsWith('tasks/')) return await answerAsTask(method, params, way, session);
      if (method === 'tools/call' && isObject(params['task'])) return await callAsTask(params, way, session);
    }
    return printFor(session.peer.revision, method, await untilComplete(session.peer, params, way, session));
  } catch (error) {
    const cannotBeAsked = isMissingCapability(error);
    if (!(error instanceof Unanswered || cannotBeAsked)) throw error;
    if (cannotBeAsked && needsTasks(error))
      throw new McpError('method_not_found', 'This tool runs only as a task');
    // The model can read a tool's failure; an error is for the program between.
    if (method === 'tools/call')
      return JSON.stringify({ content: [{ type: 'text', text: error.message }], isError: true });
    throw new McpError(cannotBeAsked ? 'invalid_request' : 'internal_error', error.message);
  }
}

// An outcome that asks for input becomes real questions to the client, and the call is made again with the answers.
async function untilComplete(
  peer: Peer,
  params: JsonObject,
  way: Way,
  { questions }: Forwarding,
): Promise<Outcome> {
  const visits: string[] = [];
  let outcome = await way.forward(peer, params);
  for (let round = 1; outcome.resultType === 'input_required'; round++) {
    if (round > MAX_ROUNDS)
      throw new McpError('internal_error', `The call asked more than ${MAX_ROUNDS} times`);
    const { inputRequests, requestState } = outcome;
    const asked = await questions.ask(inputRequests, peer.revision, way.line());
    visits.push(...asked.visits);
    outcome = await way.forward(peer, { ...params, inputResponses: asked.answers, requestState });
  }
  if (visits.length > 0 && isSuccess(outcome)) tellOfVisits(visits, way.line());
  return outcome;
}

function isSuccess({ resultType, isError }: Outcome): boolean {
  return resultType === 'complete' && isError !== true;
}

// Spec 2025-11-25, Elicitation: an accepted visit has only begun. A handler that came to its result has what it was for.
function tellOfVisits(visits: readonly string[], { send }: Line): void {
  for (const elicitationId of visits)
    send(printNotification('notifications/elicitation/complete', { elicitationId }));
}

async function callAsTask({ task, ...params }: JsonObject, way: Way, session: Forwarding): Promise<string> {
  if (!(await canBeTask(params['name'], way, session.peer))) {
    throw new McpError('method_not_found', 'This tool does not run as a task');
  }
  return createdTask(await untilComplete(knowingTasks(session.peer), params, way, session));
}

async function canBeTask(name: unknown, way: Way, peer: Peer): Promise<boolean> {
  let cursor: unknown;
  do {
    const page = await way.forward(peer, cursor === undefined ? {} : { cursor }, { method: 'tools/list' });
    const tool = (page['tools'] as JsonObject[]).find((listed) => listed['name'] === name);
    if (tool !== undefined) return tool['execution'] !== undefined;
    cursor = page['nextCursor'];
  } while (cursor !== undefined);
  return false;
}

function answerAsTask(method: string, params: JsonObject, way: Way, session: Forwarding): Promise<string> {
  const peer = knowingTasks(session.peer);
  return answerTask(method, params, {
    revision: peer.revision,
    call: (modern, modernParams) => way.forward(peer, modernParams, { method: modern }),
    ask: (requests, signal) =>
      session.questions.ask(requests, peer.revision, { send: way.line().send, signal }),
    watch: (taskId) =>
      new TaskWatch(
        taskId,
        (listenParams, subscription) =>
          way.forward(peer, listenParams, { method: 'subscriptions/listen', ...subscription }),
        way.line().signal,
      ),
  });
}

// Before 2026-07-28 there is no error that says this.
function isMissingCapability(error: unknown): error is McpError {
  return McpError.is(error) && error.code === 'missing_capability';
}

// Spec 2025-11-25, Tasks: a tool that must be a task is not a method for a call that is not one.
function needsTasks({ data }: McpError): boolean {
  const { extensions } =
    (data as { requiredCapabilities?: { extensions?: object } } | undefined)?.requiredCapabilities ?? {};
  return extensions !== undefined && Object.hasOwn(extensions, TASKS);
}
