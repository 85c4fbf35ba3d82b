import { isObject } from '../../jsonrpc/message.js';
import type { Middleware } from '../../protocol/call.js';
import type { InputRequest } from '../../protocol/model/input.js';
import type { ClientCapabilities } from '../../protocol/model/model.js';
import { QUESTION_KEY } from '../../protocol/tables/meta-keys.js';
import type { Handlers } from '../model/handlers.js';
import type { AnsweringParts } from './answer-rounds.js';

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

/** The key of a real request of the session era, where the server is one of ours. */
export function keyOf({ params }: InputRequest): string | undefined {
  const meta = params?.['_meta'];
  const key = isObject(meta) ? meta[QUESTION_KEY] : undefined;
  return typeof key === 'string' ? key : undefined;
}

/** Answers what a call asks and makes the call again with the answers, until it ends. */
export function answering({ answer, maxRounds }: AnsweringParts): Middleware {
  return async function answering(call, next) {
    const outcome = await next(call);
    if (outcome.resultType !== 'input_required') return outcome;
    const { answerRounds } = await import('./answer-rounds.js');
    return answerRounds(call, next, { outcome, answer, maxRounds });
  };
}
