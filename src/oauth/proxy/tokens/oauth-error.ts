/** The error codes of the token endpoint and of the authorization endpoint that the proxy uses. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'invalid_target'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'access_denied'
  | 'server_error'
  | 'temporarily_unavailable'
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata';

/** An error that a client is told. The message is its `error_description`: one sentence, without secrets. */
export class OAuthError extends Error {
  readonly code: OAuthErrorCode;

  constructor(code: OAuthErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'OAuthError';
    this.code = code;
  }
}
