// The errors of calls with idempotency keys, and their digests.

import type { Lifetime } from '../../async/lifetime.js';
import { isObject } from '../../jsonrpc/message.js';
import { canonical, digestOf } from '../../protocol/canonical.js';
import { encodeBase64Url } from '../../protocol/encoding/base64.js';
import { McpError, UNKNOWN_OUTCOME } from '../../protocol/errors.js';
import { IDEMPOTENCY_KEY } from '../../protocol/tables/meta-keys.js';

/** The error for a call that ended before it started. */
export function endedBeforeStart({ signal }: Lifetime): McpError {
  const reason: unknown = signal.reason;
  return McpError.is(reason) ? reason : new McpError('cancelled', 'The call was cancelled before it started');
}

/** The error for a key that was used with other arguments. */
export function otherArgumentsError(): McpError {
  return new McpError(
    'invalid_params',
    `params._meta["${IDEMPOTENCY_KEY}"] was already used with other arguments. Use a new key.`,
  );
}

/** The error for a key whose call was interrupted. */
export function unknownOutcomeError(): McpError {
  return new McpError(
    'internal_error',
    'A call with this idempotency key was started and interrupted. Its outcome is unknown. Find out whether it took place before you call again with a new key.',
    { data: { reason: UNKNOWN_OUTCOME } },
  );
}

/** Whether a call may have taken effect although it failed. */
export function isUnknownOutcome(error: unknown): boolean {
  return McpError.is(error) && isObject(error.data) && error.data['reason'] === UNKNOWN_OUTCOME;
}

/** The error for a key of a caller that is not identified. */
export function unknownCallerError(): McpError {
  return new McpError(
    'invalid_request',
    'This server does not accept idempotency keys from unknown callers, because one caller could get the outcome of another. Identify callers: pass the option "auth" to serve, createHandler or createNodeHandler.',
  );
}

/** Computes a digest that is the same for equal values, regardless of the order of their fields. */
export async function digest(value: unknown): Promise<string> {
  return encodeBase64Url(await digestOf(canonical(value)));
}
