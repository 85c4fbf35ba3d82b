import { isObject, type JsonObject, printNotification } from '../jsonrpc/message.js';
import type { Outcome, Peer } from '../protocol/call.js';
import { McpError } from '../protocol/errors.js';
import { TASKS } from '../protocol/extensions.js';
import { has } from '../protocol/features.js';
import { printFor } from './projection.js';
import { type Line, type Questions, Unanswered } from './questions.js';
import { answerTask, createdTask, knowingTasks } from './tasks.js';

/** How a request of a session gets its answer. */
export interface Way {
  /** Makes a modern call of it, or another one beside it. */
  readonly forward: (peer: Peer, params: JsonObject, method?: string) => Promise<Outcome>;
  /** Where the client is asked, if it has to be. */
  readonly line: () => Line;
}

export interface Forwarding {
  readonly peer: Peer;
  readonly questions: Questions;
  /** See TaskWay. */
  readonly nextChange: (taskId: string, ready: () => Promise<boolean>, signal: AbortSignal) => Promise<void>;
}

const MAX_ROUNDS = 32;

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
    if (!(error instanceof Unanswered)) throw asOlder(error);
    if (method !== 'tools/call') throw new McpError('internal_error', error.message);
    return JSON.stringify({ content: [{ type: 'text', text: error.message }], isError: true });
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
    const page = await way.forward(peer, cursor === undefined ? {} : { cursor }, 'tools/list');
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
    call: (modern, modernParams) => way.forward(peer, modernParams, modern),
    ask: async (requests) => (await session.questions.ask(requests, peer.revision, way.line())).answers,
    nextChange: (taskId, ready) => session.nextChange(taskId, ready, way.line().signal),
  });
}

// Spec 2025-11-25, Tasks: a tool that must be a task is no method for a call that is none.
function asOlder(error: unknown): unknown {
  if (!McpError.is(error) || error.code !== 'missing_capability') return error;
  const { extensions } =
    (error.data as { requiredCapabilities?: { extensions?: object } }).requiredCapabilities ?? {};
  return extensions !== undefined && Object.hasOwn(extensions, TASKS)
    ? new McpError('method_not_found', 'This tool runs only as a task')
    : error;
}
