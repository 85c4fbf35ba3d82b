import { isObject } from '../../../jsonrpc/message.js';
import { quote, shorten } from '../../../protocol/encoding/shorten.js';
import { McpError } from '../../../protocol/errors.js';
import { displayUrl } from '../../../protocol/secrets/display-url.js';
import { conceal } from '../../../protocol/secrets/values.js';
import { SafeFetchError } from '../../fetch/safe-fetch.js';
import type { OAuthHop } from './events.js';

// Errors of an authorization: which step failed, and what was answered, without secrets.

/** The facts of a failed step. */
export interface HopFailure {
  readonly hop: OAuthHop;
  /** The URL that was asked. */
  readonly url?: string | undefined;
  readonly status?: number | undefined;
  /** The `error` that was answered, such as `invalid_grant`. */
  readonly error?: string | undefined;
  readonly description?: string | undefined;
  /** Strings that must not appear in the message. */
  readonly secrets?: readonly (string | undefined)[] | undefined;
  readonly cause?: unknown;
}

/** The data of an error of an authorization. */
export interface HopErrorData {
  /** The step that failed. */
  readonly hop: OAuthHop;
  /** The status of HTTP that was answered. */
  readonly status?: number | undefined;
  /** The `error` that was answered, such as `invalid_grant`. */
  readonly error?: string | undefined;
}

const MAX_ERROR = 80;

/** An error that names the step, and what was answered. `why` is a sentence. */
export function hopError(why: string, failure: HopFailure): McpError {
  const { hop, url, status, secrets = [], cause } = failure;
  const clean = (text: string | undefined): string | undefined => text && conceal(text, secrets);
  const [error, description] = [clean(failure.error), clean(failure.description)];
  const answered = [
    status !== undefined && `status ${status}`,
    error !== undefined && `error ${quote(error, MAX_ERROR)}`,
    description !== undefined && quote(description, 300),
  ].filter((part) => part !== false);
  const from = url === undefined ? '' : ` ${displayUrl(url)}`;
  const answer =
    answered.length === 0
      ? ''
      : `${from === '' ? ' The answer was' : `${from} answered`} ${answered.join(', ')}.`;
  const message = conceal(`The authorization failed (${hop}). ${why}${answer}`, secrets);
  const data: HopErrorData = {
    hop,
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error: shorten(error, MAX_ERROR) }),
  };
  return new McpError('unauthorized', message, {
    data,
    cause: cause instanceof SafeFetchError ? cause : undefined,
  });
}

/** The error that an authorization server answered, if that is the reason of a failure. */
export function answeredError(error: unknown): string | undefined {
  const data = McpError.is(error) && isObject(error.data) ? error.data : undefined;
  return typeof data?.['error'] === 'string' ? data['error'] : undefined;
}

/** The step that failed. */
export function failedHop(error: unknown): OAuthHop | undefined {
  const data = McpError.is(error) && isObject(error.data) ? error.data : undefined;
  return typeof data?.['hop'] === 'string' ? (data['hop'] as OAuthHop) : undefined;
}
