// The errors that only events have. Their numbers depend on the dialect of the request.

import type { Call } from '../../protocol/call.js';
import { copyError, McpError } from '../../protocol/errors.js';
import {
  dialectOf,
  dialects,
  type EventDialect,
  type EventFailure,
  failureCodes,
} from '../../protocol/events/dialects.js';

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
  const number = dialects[dialect].numbers[failure];
  return new McpError(failureCodes[failure], message, { number, status: 200, data });
}

/** The error of a caller that lacks scopes, which keeps its challenge, with the number of the dialect. */
export function asForbidden(error: McpError, dialect: EventDialect): McpError {
  return copyError(error, { number: dialects[dialect].numbers.forbidden });
}
