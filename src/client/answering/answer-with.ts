import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { webUrl } from '../../protocol/checks/web-url.js';
import { quote, shorten } from '../../protocol/encoding/shorten.js';
import { cancelledBy, McpError, userRejected } from '../../protocol/errors.js';
import type { InputRequest } from '../../protocol/model/input.js';
import { MAX_URI_LENGTH } from '../../protocol/tables/limits.js';
import type {
  ElicitForm,
  ElicitFormHandler,
  Handlers,
  QuestionContext,
  SamplingHandler,
  SamplingRequest,
  SamplingResult,
} from '../model/handlers.js';
import {
  HandlerMistake,
  readFormResult,
  readRoots,
  readSamplingResult,
  readUrlResult,
  UnfitAnswer,
} from './answer-checks.js';

// Answers the server's questions with the program's handlers. Loaded with the first question: most clients get none.

/** The words of the problem that is reported if a server asks the user to open an address that does not lead to the web. */
export const NOT_A_PAGE = 'which is not an https: or http: address';

export interface AnswerWithParts {
  /** The number of times that the handler may be called for one form; then the question fails. */
  readonly maxRounds: number;
  /** Reports a handler that fails: in a session, only the server receives the error. */
  readonly problem: (message: string, cause?: unknown) => void;
}

/** Answers with the program's handlers. An error that a handler throws is reported and rethrown. */
export function answerWith(
  handlers: Handlers,
  parts: AnswerWithParts,
): (request: InputRequest, context: QuestionContext) => Promise<JsonObject> {
  const handle = handling(handlers, parts);
  return async function answer(request, context) {
    try {
      return await handle(request, context);
    } catch (error) {
      if (error instanceof HandlerMistake || error instanceof UnfitAnswer) parts.problem(error.message);
      else if (!McpError.is(error)) parts.problem("A handler for the server's questions threw", error);
      throw error;
    }
  };
}

function handling(
  { elicit, sample, roots }: Handlers,
  { maxRounds, problem }: AnswerWithParts,
): (request: InputRequest, context: QuestionContext) => Promise<JsonObject> {
  const fillIn = typeof elicit === 'function' ? elicit : elicit?.form;
  const openUrl = typeof elicit === 'object' ? elicit.url : undefined;
  const run = typeof sample === 'function' ? sample : sample?.run;

  return async function handle({ method, params = {} }, context) {
    switch (method) {
      case 'elicitation/create': {
        const message = String(params['message'] ?? '');
        if (params['mode'] === 'url') {
          if (openUrl === undefined) throw unhandled('elicit.url');
          const url = isShort(params['url']) ? webUrl(params['url']) : undefined;
          if (url === undefined) return declineUrl(params['url'], context);
          return readUrlResult(await openUrl({ message, url: url.href }, context));
        }
        if (fillIn === undefined) throw unhandled('elicit');
        const schema = isObject(params['requestedSchema']) ? params['requestedSchema'] : {};
        return askUntilFit(fillIn, { message, schema }, context);
      }
      case 'sampling/createMessage':
        if (run === undefined) throw unhandled('sample');
        return readSamplingResult(await runModel(run, params as unknown as SamplingRequest, context));
      case 'roots/list':
        if (roots === undefined) throw unhandled('roots');
        return { roots: readRoots(typeof roots === 'function' ? await roots() : roots) };
      default:
        method satisfies never;
        throw new McpError(
          'method_not_found',
          `The server asked for ${shorten(method, 100)}, which this client does not support.`,
        );
    }
  };

  async function runModel(
    handler: SamplingHandler,
    request: SamplingRequest,
    context: QuestionContext,
  ): Promise<SamplingResult> {
    const result = await handler(request, context);
    if (isObject(result) && (result['action'] === 'decline' || result['action'] === 'cancel'))
      throw userRejected();
    return result as SamplingResult;
  }

  // A page that shows the address as a link, or a program that opens it, would run what the server wrote.
  function declineUrl(address: unknown, { server }: QuestionContext): JsonObject {
    const shown = quote(String(address), 100);
    problem(
      `The server ${quote(server, 64)} asks the user to open ${shown}, ${NOT_A_PAGE}. The client declined.`,
    );
    return { action: 'decline' };
  }

  /** Calls the handler until the answer fits the schema: the user may have made a mistake. */
  async function askUntilFit(
    handler: ElicitFormHandler,
    request: ElicitForm,
    context: QuestionContext,
  ): Promise<JsonObject> {
    let rejection: string | undefined;
    for (let round = 0; round < maxRounds; round++) {
      const result = await handler(request, rejection === undefined ? context : { ...context, rejection });
      const answer = await readFormResult(result, request.schema);
      if (!('misfit' in answer)) return answer;
      rejection = String(answer.misfit);
      if (context.signal.aborted) throw cancelledBy(context.signal.reason);
    }
    const question = context.key === undefined ? 'the form' : `"${shorten(context.key, 100)}"`;
    throw new UnfitAnswer(
      `The \`elicit\` handler's answer to ${question} does not fit. ${rejection} The handler was asked ${maxRounds} times (maxRounds).`,
    );
  }
}

function isShort(address: unknown): boolean {
  return typeof address === 'string' && address.length <= MAX_URI_LENGTH;
}

function unhandled(handler: string): McpError {
  return new McpError(
    'missing_capability',
    `The server asked a question that needs the \`${handler}\` handler. Pass it to connect().`,
  );
}
