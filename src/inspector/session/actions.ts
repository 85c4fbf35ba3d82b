// The actions of the page on a connection. Each begins a story and continues by itself.

import { outputDifference } from '../../client/checks/output-check.js';
import type { Client } from '../../client/model/client.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { has } from '../../protocol/tables/features.js';
import { STORY } from '../../protocol/tables/meta-keys.js';
import { nameParam } from '../../protocol/tables/methods.js';
import { thrownIn } from '../../protocol/thrown-by-tool.js';
import { loggedError, refIn } from '../../tooling/process-output.js';
import type { OutputVerdict, StoryKind } from '../contract/story.js';
import { programMeta } from '../stories/program-calls.js';
import type { StoryEnding, StoryRecord } from '../stories/story-record.js';
import type { InspectedConnection } from './connection/connection.js';
import { failureOf } from './connection/failure.js';

/** The request that a story makes. */
export interface Action {
  readonly kind: StoryKind;
  readonly title: string;
  readonly method: string;
  /** The arguments for the page. */
  readonly args: JsonObject;
  readonly repeats?: number | undefined;
}

/** Runs a request as a story. The promise that it returns resolves with the end of the story, and never rejects. */
export function act(
  connection: InspectedConnection,
  action: Action,
  work: (client: Client, story: StoryRecord, signal: AbortSignal) => Promise<StoryEnding>,
): { readonly story: StoryRecord; readonly ended: Promise<void> } {
  const { client, tap } = connection.open;
  const { shared } = connection.init;
  const story = shared.book.begin({ connection: connection.id, ...action });
  const controller = new AbortController();
  story.stop = () => controller.abort(new McpError('cancelled', 'You stopped the call.'));
  const ended = tap.run(story.scope, async () => {
    let ending: StoryEnding;
    try {
      ending = await work(client, story, controller.signal);
    } catch (error) {
      ending = endingOf(error, { connection, story, signal: controller.signal });
    }
    shared.asking.leave(story, whyGone(ending));
    const { outcome } = ending;
    story.end({ ...ending, ...(outcome !== undefined && { outcome: connection.mask(outcome) }) });
    connection.keep(story, ending);
    shared.book.dropOutcomes();
  });
  return { story, ended };
}

/** Sends one request, and ends with its outcome. `settle` gets the outcome, or the error, as well. */
export function request(
  connection: InspectedConnection,
  action: Action,
  params: JsonObject,
  settle?: { readonly resolve: (outcome: Outcome) => void; readonly reject: (error: unknown) => void },
): { readonly story: StoryRecord; readonly ended: Promise<void> } {
  return act(connection, action, async (client, story, signal) => {
    const meta = metaOf(connection, story);
    try {
      const outcome = await client.request(action.method, params, { signal, ...meta });
      settle?.resolve(outcome);
      const state = outcome['isError'] === true ? 'tool-error' : 'ok';
      return { state, outcome: JSON.stringify(printable(client, outcome)) };
    } catch (error) {
      settle?.reject(error);
      throw error;
    }
  });
}

/** The keys of the inspector on a request: the story, if the server reports the steps of its handlers, and that it shows programs. */
function metaOf(
  { init: { seesJournal } }: InspectedConnection,
  { id, method, title }: StoryRecord,
): { readonly meta?: JsonObject } {
  const program = programMeta(method, title);
  if (!seesJournal) return program === undefined ? {} : { meta: program };
  return { meta: { [STORY]: id, ...program } };
}

const KINDS: ReadonlyMap<string, StoryKind> = new Map([
  ['tools/call', 'tool'],
  ['resources/read', 'read'],
  ['prompts/get', 'prompt'],
  ['completion/complete', 'complete'],
]);

/** The action that a request is, by its method. */
export function actionOf(method: string, params: JsonObject): Action {
  const name = params[nameParam(method) ?? ''];
  const kind = KINDS.get(method) ?? (method.endsWith('/list') ? 'list' : 'request');
  const args = kind === 'tool' || kind === 'prompt' ? params['arguments'] : params;
  return {
    kind,
    method,
    title: typeof name === 'string' ? name : method,
    args: isObject(args) ? args : {},
  };
}

export interface PageCall {
  readonly tool: string;
  readonly args: JsonObject;
  readonly asTask: boolean;
  readonly repeats?: number | undefined;
  /** The arguments for the page, if they are not those that are sent. */
  readonly shownArgs?: JsonObject | undefined;
  /** Gets the story before anything is sent. */
  readonly onStory?: (story: StoryRecord) => void;
  /** Gets the end before secrets are masked in it. */
  readonly onEnding?: (ending: StoryEnding) => void;
}

/** Calls a tool, and follows its task if it becomes one. */
export function callTool(
  connection: InspectedConnection,
  { tool, args, asTask, repeats, shownArgs = args, onStory, onEnding }: PageCall,
): { readonly story: StoryRecord; readonly ended: Promise<void> } {
  const action = { kind: 'tool', title: tool, method: 'tools/call', args: shownArgs, repeats } as const;
  return act(connection, action, async (client, story, signal) => {
    onStory?.(story);
    const meta = metaOf(connection, story);
    // A server of 2025-11-25 is asked for a task; newer ones decide by themselves.
    const task = asTask && has(client.server.revision, 'coreTasks') ? { task: {} } : {};
    const outcome = await client.request(
      'tools/call',
      { name: tool, arguments: args, ...task },
      { signal, ...meta },
    );
    const id = taskIn(outcome);
    if (id === undefined) logThrown(connection, textIn(outcome), thrownIn(outcome));
    else connection.tasks.add(id, tool);
    const ending =
      id === undefined
        ? endingOfTool(connection, tool, printable(client, outcome))
        : await followTask(connection, { id, tool, story, signal });
    onEnding?.(ending);
    return ending;
  });
}

/** Follows a task that is known by its id alone. */
export function followById(
  connection: InspectedConnection,
  id: string,
): { readonly story: StoryRecord; readonly ended: Promise<void> } {
  const tool = connection.tasks.toolOf(id);
  const action = { kind: 'task', title: tool ?? id, method: 'tasks/get', args: { taskId: id } } as const;
  return act(connection, action, async (client, story, signal) => {
    // The first poll makes the state known, before the result is waited for.
    story.task = { id, status: 'working', polls: 0 };
    await client.task(id).status({ signal });
    return followTask(connection, { id, tool, story, signal });
  });
}

interface FollowedTask {
  readonly id: string;
  readonly tool: string | undefined;
  readonly story: StoryRecord;
  readonly signal: AbortSignal;
}

async function followTask(
  connection: InspectedConnection,
  { id, tool, story, signal }: FollowedTask,
): Promise<StoryEnding> {
  const { client } = connection.open;
  const { taskResults } = connection.init.shared;
  const handle = client.task(id);
  const stopWaiting = story.stop;
  // A task is cancelled at the server, which then says that it is. A server that refuses is left alone.
  story.stop = async () => {
    await handle.cancel({ timeoutMs: 10_000 }).catch(() => stopWaiting?.('cancelled'));
  };
  try {
    await handle.result({ signal });
  } catch (error) {
    const result = taskResults.take(story.id);
    if (result !== undefined) return endingOfTool(connection, tool, result);
    if (story.task?.status === 'cancelled')
      return { state: 'cancelled', error: failureOf(connection, error, story.at) };
    throw error;
  }
  return endingOfTool(connection, tool, taskResults.take(story.id) ?? {});
}

function endingOfTool(
  connection: InspectedConnection,
  tool: string | undefined,
  result: JsonObject,
): StoryEnding {
  const outcome = JSON.stringify(result);
  if (result['isError'] === true) return { state: 'tool-error', outcome };
  return { state: 'ok', outcome, outputCheck: checkOutput(connection, tool, result) };
}

/** Whether a result fits the schema of its tool; undefined if the tool has none. */
function checkOutput(
  connection: InspectedConnection,
  tool: string | undefined,
  result: JsonObject,
): OutputVerdict | undefined {
  const schema = connection.catalog.tools.find((one) => one.tool.name === tool)?.tool['outputSchema'];
  if (!isObject(schema)) return undefined;
  try {
    const difference = outputDifference(schema, result['structuredContent']);
    return difference === undefined ? { result: 'fits' } : { result: 'differs', ...difference };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { result: 'unchecked', reason: `The output schema cannot be read: ${why.slice(0, 500)}` };
  }
}

function textIn({ content }: Outcome): string {
  const [first]: readonly unknown[] = Array.isArray(content) ? content : [];
  return isObject(first) && typeof first['text'] === 'string' ? first['text'] : '';
}

/** The id of the task that a call has become. */
function taskIn(outcome: Outcome): string | undefined {
  const task = isObject(outcome['task']) ? outcome['task'] : outcome.resultType === 'task' ? outcome : {};
  return typeof task['taskId'] === 'string' ? task['taskId'] : undefined;
}

/** The outcome as the server sent it: the client adds the type that older revisions do not have. */
function printable(client: Client, outcome: Outcome): JsonObject {
  if (!has(client.server.revision, 'handshake') || outcome.resultType !== 'complete') return outcome;
  const { resultType: _, ...rest } = outcome;
  return rest;
}

interface Failed {
  readonly connection: InspectedConnection;
  readonly story: StoryRecord;
  readonly signal: AbortSignal;
}

function endingOf(error: unknown, { connection, story, signal }: Failed): StoryEnding {
  const isCancelled = signal.aborted && McpError.is(error) && error.code === 'cancelled';
  const failure = failureOf(connection, error, story.at);
  if (McpError.is(error)) logThrown(connection, failure.message, error.cause);
  return { state: isCancelled ? 'cancelled' : 'error', error: failure };
}

/** Logs the error behind a message with a reference. Only a server in this process gives it; another one logs it by itself. */
function logThrown(connection: InspectedConnection, message: string, thrown: unknown): void {
  const ref = refIn(message);
  if (ref === undefined || thrown === undefined) return;
  const { id, init, mask } = connection;
  const error = loggedError(message, thrown);
  const title = mask(error.title);
  init.shared.log(id, {
    source: 'problem',
    level: 'error',
    text: `${error.what}: ${title}`,
    error: { ...error, title, stack: mask(error.stack) },
  });
}

function whyGone({ state, error }: StoryEnding): string {
  if (state === 'cancelled') return 'the call was stopped';
  return error === undefined ? 'the call is over' : `the call has failed: ${error.message}`;
}
