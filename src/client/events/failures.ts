// The meaning of a failure for a subscription to events.

import { copyError, type McpError, toMcpError } from '../../protocol/errors.js';
import { failureCodes, failureOf } from '../../protocol/events/dialects.js';

/**
 * `retry`: it may pass. `list`: the type may have changed, so the list is read again. `final`: a further attempt would fail as well.
 */
export type Outlook = 'retry' | 'list' | 'final';

/** The outlook after a failure, of either dialect. */
export function outlookOf({ code, number }: McpError): Outlook {
  switch (failureOf(number)) {
    case 'not_found':
    case 'unsupported':
      return 'list';
    case 'forbidden':
      return 'final';
    case 'exhausted':
    case 'callback':
      return 'retry';
    case undefined:
      break;
  }
  switch (code) {
    case 'unauthorized':
    case 'forbidden':
    case 'invalid_params':
    case 'invalid_request':
      return 'final';
    case 'method_not_found':
      return 'list';
    default:
      return 'retry';
  }
}

/** An error of a server, with the same name in both dialects and over every transport. Its number is the server's. */
export function toEventError(thrown: unknown): McpError {
  const error = toMcpError(thrown);
  const failure = failureOf(error.number);
  return failure === undefined ? error : copyError(error, { code: failureCodes[failure] });
}
