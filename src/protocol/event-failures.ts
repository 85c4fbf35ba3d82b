// The errors that only events have. Their numbers depend on the dialect of the request.

import type { Call } from './call.js';
import { shorten } from './encoding/shorten.js';
import { copyError, McpError } from './errors.js';
import {
  dialectOf,
  dialects,
  type EventDialect,
  type EventFailure,
  failureCodes,
  failureOf,
} from './events/dialects.js';

/** The dialect that the client of a call speaks. */
export function dialectOfCall({ peer }: Pick<Call, 'peer'>): EventDialect {
  return dialectOf(peer.capabilities);
}

/** The error for a failure, with the number that the dialect gives it. */
export function eventFailure(
  failure: EventFailure,
  message: string,
  { dialect, data }: { readonly dialect: EventDialect; readonly data: object },
): McpError {
  const number = numberIn(dialect, failure);
  return new McpError(failureCodes[failure], message, { number, status: 200, data });
}

/** The error of a caller that lacks scopes, which keeps its challenge, with the number of the dialect. */
export function asForbidden(error: McpError, dialect: EventDialect): McpError {
  return copyError(error, { number: numberIn(dialect, 'forbidden') });
}

/** The error of another server as a caller gets it: with the number that the dialect of the caller has for it. */
export function inDialectOf(call: Pick<Call, 'peer'>, error: McpError): McpError {
  const failure = failureOf(error.number);
  if (failure === undefined) return error;
  return copyError(error, { code: failureCodes[failure], number: numberIn(dialectOfCall(call), failure) });
}

function numberIn(dialect: EventDialect, failure: EventFailure): number {
  return dialects[dialect].numbers[failure];
}

/** The error for a type of events that does not exist, or not for the caller. */
export function unknownEvent(name: string, dialect: EventDialect): McpError {
  const message = `Unknown type of events: ${shorten(name, 128)}`;
  return eventFailure('not_found', message, { dialect, data: { kind: 'event' } });
}

/** The error for a way of delivery that a type of events does not have. */
export function unsupportedDelivery(name: string, mode: string, dialect: EventDialect): McpError {
  const message = `Events of the type "${shorten(name, 128)}" are not delivered in the mode "${shorten(mode, 32)}"`;
  return eventFailure('unsupported', message, { dialect, data: { feature: 'deliveryMode', value: mode } });
}
