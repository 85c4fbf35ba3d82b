// Stands in front of the tools of a server: lists the two tools for clients that need them, and lets calls continue as tasks.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Auth, Call, Outcome, Peer } from '../../protocol/call.js';
import { copyCall } from '../../protocol/direct.js';
import { McpError } from '../../protocol/errors.js';
import { sessionRevisions } from '../../protocol/tables/features.js';
import { supportsTasks, TASKS } from '../../protocol/tasks.js';
import type { FallbackPluginParts } from '../../server/handle/fallback-host.js';
import { withoutSoon, withTime } from './cancelled-soon.js';
import { ANSWER_QUESTION, CONTINUE_TASK } from './names.js';
import { ClientNeeds, type Needs } from './needs.js';
import { type AnswerEnd, Questions } from './questions.js';
import { Repeats } from './repeats.js';
import { isElicitation, questionsOf, ShownQuestions } from './shown-questions.js';
import { cancelled, cannotAsk, failed, failure, stillWorking, unknownTask } from './texts.js';
import { answerQuestion, continueTask, mayBeUnfinished } from './tools.js';
import { TaskWaits } from './waiting.js';

/** The fallbacks, when they are loaded. */
export interface LoadedFallbacks {
  readonly listTools: (call: Call) => Outcome | Promise<Outcome>;
  readonly callTool: (call: Call) => Outcome | Promise<Outcome>;
  /** Describes the server, unless the client shows questions in a session only. */
  readonly discover: (call: Call) => Outcome;
  /** Answers a method of tasks. */
  readonly serveTask: (call: Call) => Promise<Outcome>;
  readonly reply: (request: Request, auth: Auth | undefined) => Promise<Response>;
  readonly close: () => void;
}

/** On the state of a call that waits for the answers to a task's questions, instead of a sealed state. */
const OF_TASK = 'task.';
/** A call of a client without tasks that may be answered later. */
const DEFAULT_AFTER_MS = 45_000;

/** Does for clients what they cannot do themselves. */
export class FallbackFront implements LoadedFallbacks {
  readonly #parts: FallbackPluginParts;
  readonly #needs: ClientNeeds;
  readonly #waits: TaskWaits;
  readonly #repeats: Repeats;
  readonly #questions: Questions;
  readonly #shown: ShownQuestions;

  constructor(parts: FallbackPluginParts) {
    this.#parts = parts;
    this.#needs = new ClientNeeds(parts.options);
    this.#waits = new TaskWaits(parts);
    this.#repeats = new Repeats(parts.server, parts.store);
    this.#shown = new ShownQuestions(parts.server, parts.store);
    this.#questions = new Questions(parts, (call, method, params) => this.#ofTask(call, method, params));
  }

  discover(call: Call): Outcome {
    const { asks } = this.#needs.of(call).host;
    // Over HTTP, sessions may be off.
    const canHaveSession = call.via?.transport === 'stdio' && !sessionRevisions.includes(call.peer.revision);
    if (asks !== 'in sessions' || !canHaveSession) return this.#parts.discover();
    throw new McpError(
      'method_not_found',
      'This server asks its users, and this client shows them questions in a session only. Send initialize.',
    );
  }

  listTools(call: Call): Outcome | Promise<Outcome> {
    const needs = this.#needs.of(call);
    const listed = this.#parts.listTools(call);
    const hasTasks = needs.tasks && this.#parts.offersTasks();
    if (!hasTasks && !this.#mayPassOn(needs)) return listed;
    return listed instanceof Promise
      ? listed.then((outcome) => this.#withTools(outcome, needs))
      : this.#withTools(listed, needs);
  }

  #withTools(outcome: Outcome, needs: Needs): Outcome {
    const { tools, nextCursor } = outcome;
    const isChanged = (tool: JsonObject): boolean =>
      this.#mayPassOn(needs) || this.#parts.kindOf(String(tool['name'])) !== 'call';
    const own = [continueTask, ...(this.#mayPassOn(needs) ? [answerQuestion] : [])];
    return {
      ...outcome,
      tools: [
        ...(tools as readonly JsonObject[]).map((tool) => (isChanged(tool) ? mayBeUnfinished(tool) : tool)),
        // On the last page.
        ...(nextCursor === undefined ? own : []),
      ],
    };
  }

  callTool(call: Call): Outcome | Promise<Outcome> {
    const needs = this.#needs.of(call);
    const { cancelsWithinMs } = needs.host;
    if (needs.asking || cancelsWithinMs === 0) return this.#serve(call, needs);
    const { call: next, wasSoon } = withoutSoon(call, cancelsWithinMs);
    // Nobody can have read the question: for this call, the client counts as one that cannot ask.
    const outcome = this.#serve(next, wasSoon ? { ...needs, asking: true } : needs);
    return outcome instanceof Promise ? outcome.then(withTime) : withTime(outcome);
  }

  #serve(call: Call, needs: Needs): Outcome | Promise<Outcome> {
    // A client of a session that asks for a task gets one, and nothing else.
    if (sessionRevisions.includes(call.peer.revision) && supportsTasks(call.peer))
      return this.#parts.callTool(call);
    const { name } = call.params;
    const mayPassOn = this.#mayPassOn(needs);
    if (name === ANSWER_QUESTION && mayPassOn) return this.#answer(call, { ...needs, asking: true });
    // A question that is passed on has made a task also if the client has tasks, or long calls do not end early.
    if (name === CONTINUE_TASK && (needs.tasks || mayPassOn)) return this.#continue(call, needs);
    if (!needs.tasks && !needs.asking) return this.#parts.callTool(call);
    return this.#call(call, needs);
  }

  /** Whether questions may reach the user in another way: always, or because the host cancels some of them by itself. */
  #mayPassOn(needs: Needs): boolean {
    return this.#passesOn({ ...needs, asking: needs.asking || needs.host.cancelsWithinMs > 0 });
  }

  /** Whether questions reach the user in another way. */
  #passesOn({ asking: isNeeded }: Needs): boolean {
    const { asking } = this.#parts.options;
    return isNeeded && (asking === 'model' || asking === 'url');
  }

  async #call(call: Call, needs: Needs): Promise<Outcome> {
    const { requestState, inputResponses } = call.params;
    if (typeof requestState === 'string' && requestState.startsWith(OF_TASK))
      return this.#answered(call, needs, { id: requestState.slice(OF_TASK.length), inputResponses });
    const kind = this.#parts.kindOf(String(call.params['name']));
    const isTask = kind === 'task' && needs.tasks;
    const mayBeTask = isTask || (kind === 'background' && needs.tasks) || needs.asking;
    if (kind === undefined || !mayBeTask) return this.#parts.callTool(call);
    const place = requestState === undefined ? await this.#repeats.placeOf(call) : undefined;
    const earlier = place && (await this.#repeats.find(place));
    const { after = DEFAULT_AFTER_MS } = this.#parts.options.tasks ?? {};
    const waitMs = Math.min(after, needs.host.waitMs);
    if (earlier !== undefined && (await this.#exists(call, earlier)))
      return this.#wait(call, needs, { id: earlier, waitMs });
    const taskId = isTask && place !== undefined ? await this.#repeats.claim(place) : crypto.randomUUID();
    const outcome = await this.#callFor(call, needs, taskId);
    if (outcome.resultType !== 'task') return outcome;
    const id = String(outcome['taskId']);
    if (place !== undefined && !isTask) await this.#repeats.note(place, id);
    return this.#wait(call, needs, { id, waitMs });
  }

  async #exists(call: Call, id: string): Promise<boolean> {
    return (await this.#parts.tasks.details(call, id)) !== undefined;
  }

  /** Calls the tool as a client that can do what this one cannot. */
  async #callFor(call: Call, needs: Needs, taskId: string): Promise<Outcome> {
    const standIn = { taskId, asks: this.#passesOn(needs) };
    try {
      return await this.#parts.callTool(copyCall(call, { peer: this.#lifted(call, needs), standIn }));
    } catch (error) {
      if (!needs.asking || !McpError.is(error) || error.code !== 'missing_capability') throw error;
      return this.#parts.complete(failure(`${NOBODY_ASKED} ${error.message}`));
    }
  }

  #lifted({ peer }: Call, needs: Needs): Peer {
    const { elicitation, extensions, ...rest } = peer.capabilities;
    const asked = this.#passesOn(needs) ? { form: {}, url: {} } : needs.asking ? undefined : elicitation;
    const { [TASKS]: _, ...others } = extensions ?? {};
    const withTasks = needs.tasks ? { ...others, [TASKS]: {} } : extensions;
    return {
      ...peer,
      capabilities: {
        ...rest,
        ...(asked && { elicitation: asked }),
        ...(withTasks && { extensions: withTasks }),
      },
    };
  }

  /** Calls a method of tasks for the caller. */
  async #ofTask(call: Call, method: string, params: JsonObject): Promise<Outcome> {
    const extensions = { [TASKS]: {} };
    const peer = { ...call.peer, capabilities: { ...call.peer.capabilities, extensions } };
    const answer = this.#parts.tasks.methods.get(method) as (call: Call) => Promise<Outcome>;
    return answer(copyCall(call, { method, params, peer }));
  }

  async #continue(call: Call, needs: Needs): Promise<Outcome> {
    const { requestState, inputResponses } = call.params;
    const { task: id, cancel } = argumentsOf(call);
    if (typeof id !== 'string' || (cancel !== undefined && typeof cancel !== 'boolean'))
      return this.#parts.complete(failure(`${CONTINUE_TASK} needs {"task": "the id"}, and nothing else.`));
    if (typeof requestState === 'string') return this.#answered(call, needs, { id, inputResponses });
    if (!(await this.#exists(call, id))) return this.#parts.complete(unknownTask(id));
    if (cancel === true) await this.#ofTask(call, 'tasks/cancel', { taskId: id });
    return this.#wait(call, needs, { id, waitMs: needs.host.waitMs });
  }

  /** Takes the answers that a client which can be asked has to the questions of a task. */
  async #answered(
    call: Call,
    needs: Needs,
    { id, inputResponses }: { readonly id: string; readonly inputResponses: unknown },
  ): Promise<Outcome> {
    if (isObject(inputResponses)) await this.#ofTask(call, 'tasks/update', { taskId: id, inputResponses });
    return this.#wait(call, needs, { id, waitMs: needs.host.waitMs });
  }

  async #answer(call: Call, needs: Needs): Promise<Outcome> {
    const { task: id, ...given } = argumentsOf(call);
    if (typeof id !== 'string') return this.#parts.complete(failure(`${ANSWER_QUESTION} needs "task".`));
    const task = await this.#parts.tasks.details(call, id);
    if (task === undefined) return this.#parts.complete(unknownTask(id));
    const answered: AnswerEnd = await this.#questions.answer(call, task, given);
    if (answered.problem !== undefined) return this.#parts.complete(failure(answered.problem));
    return this.#wait(call, needs, { id, waitMs: needs.host.waitMs });
  }

  /** Waits for a task, and makes the outcome from its state. */
  async #wait(
    call: Call,
    needs: Needs,
    { id, waitMs }: { readonly id: string; readonly waitMs: number },
  ): Promise<Outcome> {
    const { complete } = this.#parts;
    const task = await this.#waits.until(call, id, waitMs);
    if (task === undefined) return complete(unknownTask(id));
    switch (task['status']) {
      case 'working':
        return complete(stillWorking(id, task));
      case 'input_required':
        return this.#asked(call, needs, task);
      default:
        if (!call.signal.aborted) await this.#repeats.told(call, id);
        return complete(resultOf(id, task));
    }
  }

  async #asked(call: Call, needs: Needs, task: JsonObject): Promise<Outcome> {
    const id = String(task['taskId']);
    const { theirs, own } = split(task, needs);
    if (own.length > 0 && !this.#passesOn(needs)) return this.#parts.complete(await this.#stop(call, id));
    if (theirs.length > 0)
      return {
        resultType: 'input_required',
        inputRequests: Object.fromEntries(theirs),
        requestState: `${OF_TASK}${id}`,
      };
    return this.#parts.complete(await this.#questions.ask(call, id, own));
  }

  /** Ends a task whose question nobody can be asked. */
  async #stop(call: Call, id: string): Promise<JsonObject> {
    await this.#ofTask(call, 'tasks/cancel', { taskId: id });
    return cannotAsk();
  }

  async serveTask(call: Call): Promise<Outcome> {
    const needs = this.#needs.of(call);
    const isOwnHost = needs.asking || needs.host.cancelsWithinMs === 0 || !supportsTasks(call.peer);
    const serve = this.#parts.tasks.methods.get(call.method) as (call: Call) => Promise<Outcome>;
    if (isOwnHost || call.method === 'tasks/cancel') return serve(call);
    return call.method === 'tasks/get'
      ? this.#withoutUnseen(call, needs, await serve(call))
      : this.#update(call, needs, serve);
  }

  /** The task as it is, unless its host has cancelled a question that nobody has seen: then it ends for this client, and continues by the model. */
  async #withoutUnseen(call: Call, needs: Needs, task: Outcome): Promise<Outcome> {
    const { inputRequests, ...rest } = task;
    const id = String(task['taskId']);
    const status = task['status'];
    if (status !== 'input_required' && status !== 'cancelled') return task;
    if (!(await this.#shown.isUnseen(call, id))) {
      if (status === 'input_required') await this.#shown.note(call, task);
      return task;
    }
    const ended = (result: JsonObject): Outcome => ({
      ...(rest as Outcome),
      status: 'completed',
      result: { resultType: 'complete', ...result },
    });
    if (status === 'cancelled') return ended(cannotAsk());
    const { theirs, own } = split(task, { ...needs, asking: true });
    if (own.length > 0 && !this.#mayPassOn(needs)) return ended(await this.#stop(call, id));
    if (theirs.length > 0) return { ...task, inputRequests: Object.fromEntries(theirs) };
    return ended(await this.#questions.ask(call, id, own));
  }

  /** Takes the answers to the questions of a task, without the cancellations that came sooner than a person can read. */
  async #update(call: Call, needs: Needs, serve: (call: Call) => Promise<Outcome>): Promise<Outcome> {
    const { taskId, inputResponses } = call.params;
    const task = typeof taskId === 'string' ? await this.#parts.tasks.details(call, taskId) : undefined;
    const soon = task && (await this.#shown.cancelledSoon(call, task, needs.host.cancelsWithinMs));
    if (!soon?.length) return serve(call);
    const id = String(taskId);
    await this.#shown.noteUnseen(call, id);
    if (!this.#mayPassOn(needs)) await this.#stop(call, id);
    const rest = Object.entries(inputResponses as JsonObject).filter(([key]) => !soon.includes(key));
    return serve(copyCall(call, { params: { ...call.params, inputResponses: Object.fromEntries(rest) } }));
  }

  reply(request: Request, auth: Auth | undefined): Promise<Response> {
    return this.#questions.reply(request, auth);
  }

  close(): void {
    this.#waits.close();
  }
}

const NOBODY_ASKED =
  'This needs an answer of the user, and this application cannot ask for it. Tell the user, and do not try again.';

/** The open questions of a task: those that its client answers, and those that reach the user in another way, or not at all. */
function split(
  task: JsonObject,
  { asking }: Needs,
): Readonly<Record<'theirs' | 'own', readonly (readonly [key: string, request: JsonObject])[]>> {
  const open = questionsOf(task);
  const isOwn = ([, request]: (typeof open)[number]): boolean => asking && isElicitation(request);
  return { theirs: open.filter((question) => !isOwn(question)), own: open.filter(isOwn) };
}

function argumentsOf({ params }: Call): JsonObject {
  const { arguments: args = {} } = params;
  if (!isObject(args)) throw new McpError('invalid_params', 'params.arguments must be an object');
  return args;
}

/** The result of a task that has ended. */
function resultOf(id: string, task: JsonObject): JsonObject {
  switch (task['status']) {
    case 'completed':
      return task['result'] as JsonObject;
    case 'failed':
      return failed(task);
    default:
      return cancelled(id);
  }
}
