import { isObject, type JsonObject } from '../jsonrpc/message.js';
import type { Call, Dispatch, Middleware, Outcome } from '../protocol/call.js';
import { cancelledBy, McpError } from '../protocol/errors.js';
import { type InputRequest, QUESTION_KEY } from '../protocol/input.js';
import type { ClientCapabilities } from '../protocol/model.js';
import { checkedForm, checkedRoots, checkedSampling, checkedVisit, HandlerMistake } from './answer-checks.js';
import type { AnswerForm, Asked, Form, Handlers, SamplingRequest } from './handlers.js';
import { pause } from './pause.js';

/** Answers one question of a server's, in whatever era it was asked. */
export type Answer = (request: InputRequest, asked: Omit<Asked, 'server'>) => Promise<JsonObject>;

/** What the handlers let the client promise. */
export function capabilitiesOf({ elicit, sample, roots }: Handlers): ClientCapabilities {
  const forms = typeof elicit === 'function' || elicit?.form !== undefined;
  const visits = typeof elicit === 'object' && elicit.url !== undefined;
  return {
    ...((forms || visits) && { elicitation: { ...(forms && { form: {} }), ...(visits && { url: {} }) } }),
    ...(sample && {
      sampling:
        typeof sample === 'function'
          ? {}
          : { ...(sample.tools && { tools: {} }), ...(sample.context && { context: {} }) },
    }),
    ...(roots && { roots: {} }),
  };
}

export interface AnswerWithOptions {
  /** How many times a form may be put to the handler before its answers are given up. */
  readonly maxRounds: number;
}

export function answerWith(
  { elicit, sample, roots }: Handlers,
  { maxRounds }: AnswerWithOptions,
): (request: InputRequest, asked: Asked) => Promise<JsonObject> {
  const form = typeof elicit === 'function' ? elicit : elicit?.form;
  const visit = typeof elicit === 'object' ? elicit.url : undefined;
  const run = typeof sample === 'function' ? sample : sample?.run;

  return async function answer({ method, params = {} }, asked) {
    switch (method) {
      case 'elicitation/create': {
        const message = String(params['message'] ?? '');
        if (params['mode'] === 'url') {
          if (visit === undefined) throw unhandled('elicit.url');
          return checkedVisit(await visit({ message, url: String(params['url']) }, asked));
        }
        if (form === undefined) throw unhandled('elicit');
        const schema = isObject(params['requestedSchema']) ? params['requestedSchema'] : {};
        return fill(form, { message, schema }, asked);
      }
      case 'sampling/createMessage':
        if (run === undefined) throw unhandled('sample');
        return checkedSampling(await run(params as unknown as SamplingRequest, asked));
      case 'roots/list':
        if (roots === undefined) throw unhandled('roots');
        return { roots: checkedRoots(typeof roots === 'function' ? await roots() : roots) };
      default:
        method satisfies never;
        throw new McpError(
          'method_not_found',
          `The server asked for ${String(method).slice(0, 100)}, which this client does not know.`,
        );
    }
  };

  /** Puts a form to the handler until it is filled in as its schema wants it: the user may have made a mistake. */
  async function fill(handler: AnswerForm, shown: Form, asked: Asked): Promise<JsonObject> {
    let rejection: string | undefined;
    for (let round = 0; round < maxRounds; round++) {
      const given = await handler(shown, rejection === undefined ? asked : { ...asked, rejection });
      const checked = await checkedForm(given, shown.schema);
      if (!('misfit' in checked)) return checked;
      rejection = String(checked.misfit);
      if (asked.signal.aborted) throw cancelledBy(asked.signal.reason);
    }
    const which = asked.key === undefined ? 'the form' : `"${asked.key.slice(0, 100)}"`;
    throw new HandlerMistake(
      `The \`elicit\` handler's answer to ${which} does not fit. ${rejection} It was asked ${maxRounds} times (maxRounds).`,
    );
  }
}

function unhandled(handler: string): McpError {
  return new McpError(
    'missing_capability',
    `The server asked a question that needs the \`${handler}\` handler. Give it to connect().`,
  );
}

/** The key of a real request of the session era, where the server is one of ours. */
export function keyOf({ params }: InputRequest): string | undefined {
  const meta = params?.['_meta'];
  const key = isObject(meta) ? meta[QUESTION_KEY] : undefined;
  return typeof key === 'string' ? key : undefined;
}

export interface AnsweringParts {
  readonly answer: Answer;
  readonly maxRounds: number;
}

/** Answers what a call asks and makes the call again with the answers, until it ends. */
export function answering({ answer, maxRounds }: AnsweringParts): Middleware {
  return async function answering(call, next) {
    let outcome = await next(call);
    if (outcome.resultType !== 'input_required') return outcome;
    // Whether each round asked for the same as the one before, though it was answered.
    let same = true;
    const noted: Answer = async (request, asked) => {
      const given = await answer(request, asked);
      if (saysNo(given)) same = false;
      return given;
    };
    for (let round = 1; outcome.resultType === 'input_required'; round++) {
      const { inputRequests } = outcome;
      if (round > maxRounds)
        throw same && isObject(inputRequests)
          ? neverFits(Object.keys(inputRequests), maxRounds)
          : asksTooOften(maxRounds);
      outcome = await again(call, next, { outcome, round, answer: noted });
      if (JSON.stringify(inputRequests) !== JSON.stringify(outcome.inputRequests)) same = false;
    }
    return outcome;
  };
}

interface Round {
  readonly outcome: Outcome;
  readonly round: number;
  readonly answer: Answer;
}

async function again(call: Call, next: Dispatch, { outcome, round, answer }: Round): Promise<Outcome> {
  const { inputRequests, requestState } = outcome;
  if (!isObject(inputRequests) && typeof requestState !== 'string')
    throw new McpError('bad_response', 'The server wants input but does not say which');
  const answers = await answerAll(inputRequests, answer, call.signal);
  // A state alone asks for another try. The first may come at once; a server that keeps saying so is given time.
  if (answers === undefined && round > 1) await pause(Math.min(100 * 2 ** round, 5000), call.signal);
  // Spec: the state of the round before last is not sent, and no state where none was given.
  const { inputResponses: _, requestState: __, ...params } = call.params;
  return next({
    ...call,
    params: {
      ...params,
      ...(answers && { inputResponses: answers }),
      ...(typeof requestState === 'string' && { requestState }),
    },
  });
}

/** Answers everything that is asked at one time; undefined where nothing is. */
export async function answerAll(
  requests: unknown,
  answer: Answer,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  if (!isObject(requests)) return undefined;
  const entries = Object.entries(requests).map(async ([key, request]) => {
    if (!isObject(request))
      throw new McpError('bad_response', `The question "${key.slice(0, 100)}" is not a request`);
    return [key, await answer(request as unknown as InputRequest, { key, signal })] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** Whether an answer refuses, which fits every question. */
export function saysNo({ action }: JsonObject): boolean {
  return action === 'decline' || action === 'cancel';
}

export function asksTooOften(maxRounds: number): McpError {
  return new McpError(
    'bad_response',
    `The server asked for input ${maxRounds + 1} times. At most ${maxRounds} are allowed (maxRounds).`,
  );
}

/** A server that asks the same again and again does so because of the answers. */
export function neverFits(keys: readonly string[], maxRounds: number): McpError {
  const asked = keys.map((key) => `"${key.slice(0, 100)}"`).slice(0, 10);
  return new McpError(
    'invalid_params',
    `The server asked ${asked.join(', ')} again after each of ${maxRounds} answers (maxRounds): what the handlers answer does not fit. It fits the form's schema, so the server expects more than the schema says.`,
  );
}
