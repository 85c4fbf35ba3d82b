import * as oauth from 'oauth4webapi';
import { shorten } from '../../../protocol/encoding/shorten.js';
import { conceal } from '../../../protocol/secrets/values.js';
import { DocumentError } from '../../documents/document-error.js';
import { SafeFetchError } from '../../fetch/safe-fetch.js';

/** Errors after which a refresh token is of no use. The second is GitHub's. */
const DEAD_GRANT = [
  'invalid_grant',
  'bad_refresh_token',
  'interaction_required',
  'consent_required',
  'login_required',
];

/**
 * A failed request to the provider behind the proxy. The message is for the operator's log. It contains what the provider replied,
 * and no token, code or secret.
 */
export class UpstreamError extends Error {
  /** Whether the provider says that the login has ended. Otherwise the request may be repeated. */
  readonly isFinal: boolean;

  constructor(message: string, options: { readonly isFinal?: boolean; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'UpstreamError';
    this.isFinal = options.isFinal ?? false;
  }
}

/** Converts an error of a request to the provider. `secrets` are removed from what the provider replied. */
export function toUpstreamError(
  error: unknown,
  step: string,
  secrets: readonly (string | undefined)[] = [],
): UpstreamError {
  if (error instanceof UpstreamError) return error;
  // Without line breaks, a provider cannot write lines of its own into a log.
  const clean = (text: string): string => shorten(conceal(text, secrets).replace(/\p{Cc}+/gu, ' '), 500);
  if (error instanceof oauth.ResponseBodyError || error instanceof oauth.AuthorizationResponseError) {
    const { error: code, error_description: description } = error;
    const said = clean(description === undefined ? code : `${code}: ${description}`);
    return new UpstreamError(`The provider refused ${step} (${said}).`, {
      isFinal: DEAD_GRANT.includes(code),
    });
  }
  if (error instanceof SafeFetchError || error instanceof DocumentError)
    return new UpstreamError(`The provider could not be reached for ${step}. ${error.message}`, {
      cause: error,
    });
  // An error of a library may have the whole reply as its cause, tokens included.
  const why = error instanceof Error ? clean(error.message) : 'The reply cannot be used.';
  return new UpstreamError(`The provider's reply to ${step} cannot be used: ${why}`);
}
