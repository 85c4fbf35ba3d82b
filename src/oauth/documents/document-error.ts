/** The step at which a document was needed. */
export type DocumentHop =
  | 'protected resource metadata'
  | 'authorization server metadata'
  | 'client metadata document';

/**
 * The stable names of documents that cannot be used:
 *
 * - `unreachable`: the request was refused or failed; the cause is a `SafeFetchError`.
 * - `unavailable`: the server replied with an error that may pass.
 * - `not_found`: no address has the document.
 * - `bad_document`: the document breaks a rule of its specification.
 * - `resource_mismatch`: the document is about another resource.
 * - `issuer_mismatch`: the document is about another authorization server.
 * - `no_pkce`: the authorization server does not support PKCE with S256.
 * - `bad_client_id`: the client's URL is not a valid client id.
 */
export type DocumentErrorCode =
  | 'unreachable'
  | 'unavailable'
  | 'not_found'
  | 'bad_document'
  | 'resource_mismatch'
  | 'issuer_mismatch'
  | 'no_pkce'
  | 'bad_client_id';

/** A document that cannot be used. The message says which one, and what its server replied. It contains no secrets. */
export class DocumentError extends Error {
  /** The stable name of the failure: compare this, not the message. */
  readonly code: DocumentErrorCode;
  readonly hop: DocumentHop;

  constructor(
    hop: DocumentHop,
    code: DocumentErrorCode,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
    this.name = 'DocumentError';
    this.hop = hop;
    this.code = code;
  }
}
