// The server of an eval, as a model gets it: its tools in the shape of an API, with the calls and questions of one run.

import type { Client } from '../../client/model/client.js';
import type { Handlers } from '../../client/model/handlers.js';
import type { ToolAnswer } from '../../client/model/results.js';
import { connect } from '../../client.js';
import type { ServerObject, Target } from '../../connect/targets/target.js';
import type { AuthInit } from '../../protocol/caller.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import type { ListedTool } from '../../protocol/model/model.js';
import { calledTools, SEARCH_TOOL } from '../../protocol/model/search/search-tools.js';
import type { ModelApi } from '../../testing/mock-model/api.js';
import { type TestHandlers, toHandlers } from '../../testing/test-client/answers.js';
import { randomSecret, type TestedServer } from '../../testing/test-client/test-client.js';
import type { ReadCase } from '../cases/case.js';
import type { MadeCall } from '../cases/transcript.js';
import type { RequestedCall } from '../model/model.js';
import { answerForModel, answerOfText, offerTools } from '../model/offered-tools.js';
import { digestOf } from '../tape/digest.js';
import type { OfferedTool } from '../tape/tape.js';

/**
 * The server of an eval: a server, or anything else that `connect` takes, or a function that makes one for each run, so that no run sees what
 * another one did.
 */
export type EvalSource =
  | ServerObject
  | Target
  | (() => ServerObject | Target | Promise<ServerObject | Target>);

/** A server, connected for one run. */
export interface EvalServer {
  readonly instructions: string;
  /** The definitions as the server lists them, without those that the case leaves out. */
  readonly listed: readonly ListedTool[];
  /** The same in the shape of the API. */
  readonly tools: readonly object[];
  /** The same as digests, for a tape. */
  readonly offer: readonly OfferedTool[];
  /** Makes a call of the model. */
  readonly perform: (call: RequestedCall, signal: AbortSignal) => Promise<PerformedCall>;
  readonly asked: readonly string[];
  readonly unanswered: readonly string[];
  readonly close: () => Promise<void>;
}

export interface PerformedCall {
  readonly made: MadeCall;
  /** The result in the shape of the API. */
  readonly result: object;
}

/** The part of a result that tapes and reports have. */
const MAX_KEPT = 2000;
const MAX_ASKED = 100;

interface ServerOptions {
  readonly api: ModelApi;
  readonly asks?: ReadCase['asks'] | undefined;
  readonly tools?: ReadCase['tools'] | undefined;
  readonly caller?: AuthInit | undefined;
}

/** Connects to the server of an eval. */
export async function openServer(
  source: EvalSource,
  { api, asks = {}, tools: only, caller }: ServerOptions,
): Promise<EvalServer> {
  const questions = new Questions(asks);
  const made =
    typeof source === 'function' && !('dispatch' in source) ? await (source as () => unknown)() : source;
  // Sealed state need not outlive the run, so any secret will do.
  (made as Partial<TestedServer>).provideSecret?.(randomSecret());
  const client = (await connect(made as never, {
    ...questions.handlers,
    ...(caller && { caller }),
  })) as Client;
  try {
    return await toServer(client, { api, only, questions });
  } catch (error) {
    await client.close();
    throw error;
  }
}

interface ServerParts {
  readonly api: ModelApi;
  readonly only: readonly string[] | undefined;
  readonly questions: Questions;
}

async function toServer(client: Client, { api, only, questions }: ServerParts): Promise<EvalServer> {
  const all = await client.tools().all();
  const lost = only?.find((name) => !all.some((tool) => tool.name === name));
  if (lost !== undefined) throw new TypeError(`The server does not list the tool "${lost}" of "tools".`);
  const listed = only === undefined ? all : all.filter(({ name }) => only.includes(name));
  const answers = new Answers(client, questions);
  const { tools, names, run } = offerTools({ tools: listed, call: answers.call }, api);
  return {
    instructions: client.server.instructions ?? '',
    listed,
    tools,
    offer: listed.map(({ name }, at) => [name, digestOf(tools[at])]),
    asked: questions.asked,
    unanswered: questions.unanswered,
    close: () => client.close(),
    async perform(call, signal) {
      const { result, answer } = await answers.during(signal, () => run(call));
      const name = names.get(call.name);
      return { result, made: madeCall(call, { name, answer, all: names }) };
    },
  };
}

interface CallFacts {
  /** The name of the tool at the server; undefined if the tool was not offered. */
  readonly name: string | undefined;
  /** The answer of the server; undefined if nothing was sent. */
  readonly answer: ToolAnswer | undefined;
  readonly all: ReadonlyMap<string, string>;
}

function madeCall({ name: said, args, written }: RequestedCall, { name, answer, all }: CallFacts): MadeCall {
  if (name === undefined) return { tool: said, ...given(args, written), refused: 'unknown', result: '' };
  if (args === undefined)
    return { tool: name, written: shorten(written, MAX_KEPT), refused: 'malformed', result: '' };
  const [tool = name] = calledTools(
    { name, arguments: args },
    new Map([...all].map(([, own]) => [own, true])),
  );
  const inner = tool === name ? args : (args['arguments'] as typeof args);
  return {
    tool,
    args: typeof inner === 'object' && inner !== null ? inner : {},
    result: shorten(answer?.text ?? '', MAX_KEPT),
    ...(answer?.isError && { isError: true }),
    ...(name === SEARCH_TOOL && answer && { found: digestOf(answer.content) }),
  };
}

function given(args: MadeCall['args'], written: string): Pick<MadeCall, 'args' | 'written'> {
  return args === undefined ? { written: shorten(written, MAX_KEPT) } : { args };
}

/** The answers of the server to the calls of a model, one after another. */
class Answers {
  readonly #client: Client;
  readonly #questions: Questions;
  #signal: AbortSignal | undefined;
  #last: ToolAnswer | undefined;

  constructor(client: Client, questions: Questions) {
    this.#client = client;
    this.#questions = questions;
  }

  async during(
    signal: AbortSignal,
    work: () => Promise<object>,
  ): Promise<{ readonly result: object; readonly answer: ToolAnswer | undefined }> {
    this.#signal = signal;
    this.#last = undefined;
    const result = await work();
    return { result, answer: this.#last };
  }

  readonly call = async (name: string, args: object): Promise<ToolAnswer> => {
    const answer = await this.#answer(name, args);
    this.#last = answer;
    return answer;
  };

  /** A call that fails, for example because nobody answers its question, is a result as well: a host tells the model. */
  async #answer(name: string, args: object): Promise<ToolAnswer> {
    const before = this.#questions.unanswered.length;
    try {
      return answerForModel(await this.#client.callTool(name, args, { signal: this.#signal }));
    } catch (error) {
      this.#signal?.throwIfAborted();
      if (this.#questions.unanswered.length > before) return answerOfText('The user did not answer.', true);
      return answerOfText(error instanceof Error ? error.message : String(error), true);
    }
  }
}

/** The questions of the server, answered by the case. */
class Questions {
  readonly asked: string[] = [];
  readonly unanswered: string[] = [];
  readonly handlers: Handlers;

  constructor(asks: TestHandlers) {
    const { elicit, sample } = toHandlers(asks, {});
    const { form, url } = elicit as { form: AnyHandler; url: AnyHandler };
    this.handlers = {
      elicit: { form: this.#watched(form), url: this.#watched(url) },
      // A model that the server asks would be one more to pay for: it gets the answers of the case alone.
      sample: { ...(sample as object), run: this.#watched((sample as { run: AnyHandler }).run) },
    } as Handlers;
  }

  #watched(handler: AnyHandler): AnyHandler {
    return (question, context) => {
      const name = context.key ?? question.message ?? 'a question';
      if (this.asked.length < MAX_ASKED) this.asked.push(name);
      // The client asks again with the reason why an answer did not fit.
      if (context.rejection !== undefined) this.unanswered.push(`${name} (${context.rejection})`);
      if (context.rejection !== undefined) return { action: 'cancel' };
      try {
        return handler(question, context);
      } catch (error) {
        if (this.unanswered.length < MAX_ASKED)
          this.unanswered.push(question.message === undefined ? name : `${name}: ${question.message}`);
        throw error;
      }
    };
  }
}

type AnyHandler = (
  question: { readonly message?: string },
  context: { readonly key?: string | undefined; readonly rejection?: string },
) => unknown;
