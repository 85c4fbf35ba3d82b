import { isObject } from '../../jsonrpc/message.js';
import type { Middleware } from '../../protocol/call.js';
import type { InputRequest } from '../../protocol/model/input.js';
import type { ClientCapabilities } from '../../protocol/model/model.js';
import { QUESTION_KEY } from '../../protocol/tables/meta-keys.js';
import type { Handlers } from '../model/handlers.js';
import type { AnsweringParts } from './answer-rounds.js';

// The part of answering questions that every client loads: its capabilities, and the middleware that notices a question.

/** The capabilities that the client declares, given its handlers. */
export function capabilitiesOf({ elicit, sample, roots }: Handlers): ClientCapabilities {
  const takesForms = typeof elicit === 'function' || elicit?.form !== undefined;
  const takesUrls = typeof elicit === 'object' && elicit.url !== undefined;
  return {
    ...((takesForms || takesUrls) && {
      elicitation: { ...(takesForms && { form: {} }), ...(takesUrls && { url: {} }) },
    }),
    ...(sample && {
      sampling:
        typeof sample === 'function'
          ? {}
          : { ...(sample.tools && { tools: {} }), ...(sample.context && { context: {} }) },
    }),
    ...(roots && { roots: {} }),
  };
}

/** The key of a question that a session sends as a request; only servers made with fullmcp send a key. */
export function keyOf({ params }: InputRequest): string | undefined {
  const meta = params?.['_meta'];
  const key = isObject(meta) ? meta[QUESTION_KEY] : undefined;
  return typeof key === 'string' ? key : undefined;
}

/** Answers the questions of a call and sends the call again with the answers, until it completes. */
export function answering({ answer, maxRounds }: AnsweringParts): Middleware {
  return async function answering(call, next) {
    const outcome = await next(call);
    if (outcome.resultType !== 'input_required') return outcome;
    const { answerRounds } = await import('./answer-rounds.js');
    return answerRounds(call, next, { outcome, answer, maxRounds });
  };
}
