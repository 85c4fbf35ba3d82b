import { isObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import { answeredError, failedHop } from '../client/hops/failures.js';
import { SafeFetchError } from '../fetch/safe-fetch.js';
import { invalidToken } from '../server/credentials.js';

// A failed exchange, as the caller of a proxy may see it: without the words of the authorization server, which are for the operator.

/** A failed exchange. */
export interface ExchangeFailure {
  readonly error: McpError;
  /** Whether the authorization server refused this caller. The other failures concern all callers. */
  readonly isRefusal: boolean;
}

/** RFC 8693, 2.2.2: a token that is not valid is an invalid request. Many servers say `invalid_grant`. */
const REFUSED_TOKEN = ['invalid_request', 'invalid_grant', 'invalid_token'];
const REFUSED_ACCESS = ['access_denied', 'invalid_target', 'invalid_scope', 'insufficient_scope'];

/** The failure that an error of the exchange means for its caller. */
export function toExchangeFailure(error: unknown): ExchangeFailure {
  const answered = answeredError(error) ?? '';
  if (REFUSED_TOKEN.includes(answered))
    return {
      error: invalidToken(
        'The authorization server does not exchange this token for one of the server behind this one. Log in again.',
      ),
      isRefusal: true,
    };
  if (REFUSED_ACCESS.includes(answered))
    return {
      error: new McpError(
        'forbidden',
        'The authorization server does not let you use the server behind this one.',
      ),
      isRefusal: true,
    };
  return {
    error: isOutage(error)
      ? new McpError(
          'overloaded',
          'The token cannot be exchanged now, because its authorization server does not answer. Retry later.',
        )
      : new McpError(
          'internal_error',
          'The token cannot be exchanged for one of the server behind this one. The log of the operator says why.',
        ),
    isRefusal: false,
  };
}

function isOutage(error: unknown): boolean {
  if (!McpError.is(error)) return false;
  const status = isObject(error.data) ? Number(error.data['status']) : 0;
  return (
    failedHop(error) === 'authorization server metadata' ||
    error.cause instanceof SafeFetchError ||
    status >= 500 ||
    status === 429
  );
}
