import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { cancelledBy, McpError } from '../../protocol/errors.js';
import type { InputRequest } from '../../protocol/model/input.js';
import type {
  ElicitForm,
  ElicitFormHandler,
  Handlers,
  QuestionContext,
  SamplingRequest,
} from '../model/handlers.js';
import { checkedForm, checkedRoots, checkedSampling, checkedVisit, HandlerMistake } from './answer-checks.js';

// Answers the server's questions with the program's handlers. Loaded with the first question: most clients get none.

export interface AnswerWithParts {
  /** The number of times that a form may be put to the handler; then the question fails. */
  readonly maxRounds: number;
  /** Reports a handler that fails: in a session, only the server receives the error. */
  readonly problem: (message: string, cause?: unknown) => void;
}

/** Answers with the program's handlers. An error that a handler throws is reported and rethrown. */
export function answerWith(
  handlers: Handlers,
  parts: AnswerWithParts,
): (request: InputRequest, asked: QuestionContext) => Promise<JsonObject> {
  const handle = handling(handlers, parts);
  return async function answer(request, asked) {
    try {
      return await handle(request, asked);
    } catch (error) {
      if (error instanceof HandlerMistake) parts.problem(error.message);
      else if (!McpError.is(error)) parts.problem("A handler for the server's questions threw", error);
      throw error;
    }
  };
}

function handling(
  { elicit, sample, roots }: Handlers,
  { maxRounds }: AnswerWithParts,
): (request: InputRequest, asked: QuestionContext) => Promise<JsonObject> {
  const form = typeof elicit === 'function' ? elicit : elicit?.form;
  const visit = typeof elicit === 'object' ? elicit.url : undefined;
  const run = typeof sample === 'function' ? sample : sample?.run;

  return async function handle({ method, params = {} }, asked) {
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
          `The server asked for ${shorten(method, 100)}, which this client does not support.`,
        );
    }
  };

  /** Puts a form to the handler until the answer fits the schema: the user may have made a mistake. */
  async function fill(
    handler: ElicitFormHandler,
    request: ElicitForm,
    asked: QuestionContext,
  ): Promise<JsonObject> {
    let rejection: string | undefined;
    for (let round = 0; round < maxRounds; round++) {
      const result = await handler(request, rejection === undefined ? asked : { ...asked, rejection });
      const checked = await checkedForm(result, request.schema);
      if (!('misfit' in checked)) return checked;
      rejection = String(checked.misfit);
      if (asked.signal.aborted) throw cancelledBy(asked.signal.reason);
    }
    const which = asked.key === undefined ? 'the form' : `"${shorten(asked.key, 100)}"`;
    throw new HandlerMistake(
      `The \`elicit\` handler's answer to ${which} does not fit. ${rejection} The handler was asked ${maxRounds} times (maxRounds).`,
    );
  }
}

function unhandled(handler: string): McpError {
  return new McpError(
    'missing_capability',
    `The server asked a question that needs the \`${handler}\` handler. Pass it to connect().`,
  );
}
