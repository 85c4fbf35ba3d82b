// Passes the questions of a member on to the handlers of the group's client.

import type {
  ElicitFormResult,
  Handlers,
  QuestionContext,
  SamplingResult,
} from '../../client/model/handlers.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { LinkEvents } from '../../protocol/link.js';
import type { ElicitUrlResult, InputRequest } from '../../protocol/model/input.js';
import { QUESTION_KEY } from '../../protocol/tables/meta-keys.js';

/**
 * The handlers of a member. They pass its questions on to the group's own client, which has the program's handlers. So the time
 * that a user takes is not charged to a call of the group either, and a handler that throws is reported in one place.
 */
export function askThrough(events: Pick<LinkEvents, 'ask'>, { elicit, sample, roots }: Handlers): Handlers {
  function ask<T>(
    method: InputRequest['method'],
    params: object,
    { key, signal, server }: QuestionContext,
  ): Promise<T> {
    const meta = key === undefined ? {} : { _meta: { [QUESTION_KEY]: key } };
    return events.ask(
      { method, params: { ...params, ...meta } as JsonObject },
      signal,
      server,
    ) as Promise<unknown> as Promise<T>;
  }
  const takesForms = typeof elicit === 'function' || elicit?.form !== undefined;
  const takesUrls = typeof elicit === 'object' && elicit.url !== undefined;
  return {
    ...(elicit && {
      elicit: {
        ...(takesForms && {
          form: ({ message, schema }, context) =>
            ask<ElicitFormResult>('elicitation/create', { message, requestedSchema: schema }, context),
        }),
        ...(takesUrls && {
          url: ({ message, url }, context) =>
            ask<ElicitUrlResult>('elicitation/create', { mode: 'url', message, url }, context),
        }),
      },
    }),
    ...(sample && {
      sample: {
        ...(typeof sample === 'object' && sample),
        run: (request, context) => ask<SamplingResult>('sampling/createMessage', request, context),
      },
    }),
    ...(roots && { roots }),
  };
}
