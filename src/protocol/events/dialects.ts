// The two dialects of events, as rows of a table. Everything that a draft may still change is here, in `offer.ts` or in `wire.ts`.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { ClientCapabilities } from '../model/model.js';
import { EVENTS, eventCapabilities } from './offer.js';

/**
 * The dialects. `sketch` is the design sketch of the working group, which hosts and clients in use follow. `sep` is SEP-3415. Their methods,
 * payloads, headers and signatures are the same.
 */
export type EventDialect = 'sketch' | 'sep';

/** The kinds of failures that only events have. */
export type EventFailure = 'not_found' | 'forbidden' | 'exhausted' | 'unsupported' | 'callback';

interface Dialect {
  /** The JSON-RPC numbers of the failures. */
  readonly numbers: Readonly<Record<EventFailure, number>>;
  /** The header `webhook-id` of an event: the id of the event, or one of its own for each message. */
  readonly webhookId: 'event' | 'message';
}

type FailureCode = 'invalid_params' | 'forbidden' | 'overloaded' | 'remote_error';

/** The stable names of the failures, as `McpError` has them, at both ends. */
export const failureCodes: Readonly<Record<EventFailure, FailureCode>> = {
  not_found: 'invalid_params',
  forbidden: 'forbidden',
  exhausted: 'overloaded',
  unsupported: 'invalid_params',
  callback: 'remote_error',
};

/** The table of the dialects. */
export const dialects: Readonly<Record<EventDialect, Dialect>> = {
  sketch: {
    numbers: {
      not_found: -32011,
      forbidden: -32012,
      exhausted: -32013,
      unsupported: -32014,
      callback: -32015,
    },
    webhookId: 'event',
  },
  sep: {
    numbers: {
      not_found: -32023,
      forbidden: -32024,
      exhausted: -32025,
      unsupported: -32026,
      callback: -32027,
    },
    webhookId: 'event',
  },
};

/**
 * The dialect of a request. Only clients of the SEP declare the extension; a client of the sketch, or of a session, declares nothing.
 * Declaring it is never required.
 */
export function dialectOf({ extensions }: ClientCapabilities): EventDialect {
  return extensions !== undefined && Object.hasOwn(extensions, EVENTS) ? 'sep' : 'sketch';
}

/** The failure that has a number in any dialect; undefined if it is not one of events. */
export function failureOf(number: number | undefined): EventFailure | undefined {
  for (const { numbers } of Object.values(dialects))
    for (const [failure, its] of Object.entries(numbers)) if (its === number) return failure as EventFailure;
  return undefined;
}

/** The capabilities of a server with its events in both places, if it declares them in one. */
export function declaringEvents<T extends JsonObject>(capabilities: T): T {
  const settings = eventSettingsOf(capabilities);
  if (settings === undefined) return capabilities;
  const { capability, extension } = eventCapabilities(settings);
  const { extensions } = capabilities;
  return {
    ...capabilities,
    ...capability,
    extensions: { ...(isObject(extensions) && extensions), ...extension },
  };
}

/** The settings of events in the capabilities of a server, from either place; undefined if the server has none. */
export function eventSettingsOf(capabilities: JsonObject): JsonObject | undefined {
  const { extensions, events } = capabilities;
  const declared = isObject(extensions) && Object.hasOwn(extensions, EVENTS) ? extensions[EVENTS] : events;
  return isObject(declared) ? declared : undefined;
}
