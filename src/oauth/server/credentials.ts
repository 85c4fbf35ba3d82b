import { McpError, type McpErrorOptions } from '../../protocol/errors.js';
import type { AuthRequest } from '../../state/auth-provider.js';

// The credentials in the headers of a request, and the errors for credentials that are not accepted.

/** The longest token that is read. Longer ones do not fit into the headers that most servers accept. */
export const MAX_TOKEN = 16_384;

// RFC 6750, 2.1: b64token. One class and one repetition after it, so that nothing can backtrack.
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

/** The scheme of an `Authorization` header, in lower case, and the part after it. */
export interface Authorization {
  /** The scheme, such as `bearer`, in lower case. */
  readonly scheme: string;
  /** The part after the scheme, without white space around it. */
  readonly credentials: string;
}

/** Reads the `Authorization` header; undefined if there is none. */
export function readAuthorization({ header }: Pick<AuthRequest, 'header'>): Authorization | undefined {
  const value = header('authorization')?.trim();
  if (value === undefined || value === '') return undefined;
  const space = value.indexOf(' ');
  if (space === -1) return { scheme: value.toLowerCase(), credentials: '' };
  return { scheme: value.slice(0, space).toLowerCase(), credentials: value.slice(space + 1).trim() };
}

/**
 * The token of a request whose `Authorization` header has the scheme, which is `bearer` by default; undefined if it has another
 * scheme, or if there is no such header. Throws an `invalid_token` error if the token is too long or has other characters than
 * RFC 6750 allows.
 */
export function readToken(request: Pick<AuthRequest, 'header'>, scheme = 'bearer'): string | undefined {
  const authorization = readAuthorization(request);
  if (authorization?.scheme !== scheme) return undefined;
  return checkToken(authorization.credentials);
}

/** Returns a token. Throws an `invalid_token` error if it is too long or has other characters than RFC 6750 allows. */
export function checkToken(token: string): string {
  if (token.length > MAX_TOKEN)
    throw invalidToken(`The token has ${token.length} characters; at most ${MAX_TOKEN} are read.`);
  if (!TOKEN.test(token))
    throw invalidToken('The Authorization header must have the form "Bearer <token>", with one token.');
  return token;
}

/** Makes the error for credentials that are not valid: a reply 401 with the error `invalid_token`. */
export function invalidToken(message: string, options: { readonly cause?: unknown } = {}): McpError {
  return new McpError('unauthorized', message, {
    ...options,
    challenge: { error: 'invalid_token', description: message },
  });
}

/**
 * An error about credentials that tells whether they are this provider's. Another provider of `anyOf` is asked about those that are
 * not, and about no others: tokens of one authorization server are not shown to the next one.
 */
export class CredentialsError extends McpError {
  /** Whether the credentials belong to this provider, whatever is wrong with them. */
  readonly isRecognized: boolean;

  constructor(
    code: 'unauthorized' | 'overloaded',
    message: string,
    { isRecognized, ...options }: McpErrorOptions & { readonly isRecognized: boolean },
  ) {
    super(code, message, options);
    this.isRecognized = isRecognized;
  }
}

/** Makes the error for credentials that this provider does not know: a reply 401, unless another provider knows them. */
export function unknownToken(message: string): McpError {
  return new CredentialsError('unauthorized', message, {
    isRecognized: false,
    challenge: { error: 'invalid_token', description: message },
  });
}

/** Makes the error for credentials of this provider that cannot be checked now: a reply 503. */
export function cannotCheck(message: string, cause?: unknown): McpError {
  return new CredentialsError('overloaded', message, { isRecognized: true, cause });
}
