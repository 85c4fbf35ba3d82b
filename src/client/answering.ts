import { isObject, type JsonObject } from '../jsonrpc/message.js';
import type { Call, Dispatch, Middleware, Outcome } from '../protocol/call.js';
import { McpError } from '../protocol/errors.js';
import { type InputRequest, QUESTION_KEY, type Root, withDefaults } from '../protocol/input.js';
import type { ClientCapabilities } from '../protocol/model.js';
import type { Asked, FormAnswer, Handlers, SamplingRequest } from './handlers.js';
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

export function answerWith({
  elicit,
  sample,
  roots,
}: Handlers): (request: InputRequest, asked: Asked) => Promise<JsonObject> {
  const form = typeof elicit === 'function' ? elicit : elicit?.form;
  const visit = typeof elicit === 'object' ? elicit.url : undefined;
  const run = typeof sample === 'function' ? sample : sample?.run;

  return async function answer({ method, params = {} }, asked) {
    switch (method) {
      case 'elicitation/create': {
        const message = String(params['message'] ?? '');
        if (params['mode'] === 'url') {
          if (visit === undefined) throw unhandled('elicit.url');
          return { ...(await visit({ message, url: String(params['url']) }, asked)) };
        }
        if (form === undefined) throw unhandled('elicit');
        const schema = isObject(params['requestedSchema']) ? params['requestedSchema'] : {};
        return filledIn(schema, await form({ message, schema }, asked));
      }
      case 'sampling/createMessage':
        if (run === undefined) throw unhandled('sample');
        return { ...(await run(params as unknown as SamplingRequest, asked)) };
      case 'roots/list':
        if (roots === undefined) throw unhandled('roots');
        return { roots: (typeof roots === 'function' ? await roots() : roots).map(toRoot) };
      default:
        method satisfies never;
        throw new McpError(
          'method_not_found',
          `The server asked for ${String(method).slice(0, 100)}, which nobody knows`,
        );
    }
  };
}

function filledIn(schema: JsonObject, answer: FormAnswer): JsonObject {
  return answer.action === 'accept'
    ? { action: 'accept', content: withDefaults(schema, answer.content ?? {}) }
    : { action: answer.action };
}

function toRoot(root: string | Root): Root {
  const { uri } = typeof root === 'string' ? { uri: root } : root;
  if (!URL.canParse(uri))
    throw new McpError(
      'invalid_params',
      `The root "${uri}" is not a URI: write a folder as file:///its/path`,
    );
  return typeof root === 'string' ? { uri } : root;
}

function unhandled(handler: string): McpError {
  return new McpError(
    'missing_capability',
    `The server asked a question that needs the \`${handler}\` handler: give it to connect()`,
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
    for (let round = 1; outcome.resultType === 'input_required'; round++) {
      if (round > maxRounds) {
        throw new McpError(
          'bad_response',
          `The server asked for input ${round} times in one call: ${maxRounds} are allowed (maxRounds)`,
        );
      }
      outcome = await again(call, next, { outcome, round, answer });
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

/** A server that asks the same again and again does so because of the answers. */
export function neverFits(keys: string, maxRounds: number): McpError {
  return new McpError(
    'invalid_params',
    `The server asked "${keys.slice(0, 200)}" again after each of ${maxRounds} answers: what the handlers answer does not fit. The form's schema need not show everything the server checks; its message may say more. (maxRounds)`,
  );
}
