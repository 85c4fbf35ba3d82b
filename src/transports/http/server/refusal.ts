import { isObject, printError, type RequestId } from '../../../jsonrpc/message.js';
import { type Challenge, type McpError, toMcpError } from '../../../protocol/errors.js';
import { newestRevision, type Revision } from '../../../protocol/tables/revisions.js';
import {
  BodyStalled,
  BodyTooLarge,
  type HeaderFields,
  type Incoming,
  noHeaders,
  replyJson,
} from './incoming.js';

/** Refuses a request, with a JSON-RPC error as the body, which people and clients can read. */
export function refuse(
  incoming: Incoming,
  status: number,
  message: string,
  headers: HeaderFields = noHeaders,
): void {
  replyJson(incoming, status, printError(undefined, { code: -32600, message }), headers);
}

/** The parts of a reply with an error. */
export interface ErrorReply {
  readonly headers: HeaderFields;
  /** The request that the error is for. Default: it is not known. */
  readonly id?: RequestId | undefined;
  /** The revision whose numbers the error has. Default: the newest. */
  readonly revision?: Revision | undefined;
}

/** Replies with an error, its status, and its challenge. */
export function replyWithError(
  incoming: Incoming,
  error: McpError,
  { headers, id, revision = newestRevision }: ErrorReply,
): void {
  const text = printError(id, error.toWire(revision));
  replyJson(incoming, error.status, text, { ...headers, ...challengeHeaders(incoming, error) });
}

/** Replies to a request that could not be served. */
function replyToFailure(incoming: Incoming, error: unknown, headers: HeaderFields): void {
  if (error instanceof BodyTooLarge) {
    return refuse(incoming, 413, `${error.message}. Send less, or raise maxBodyBytes.`, headers);
  }
  if (error instanceof BodyStalled) {
    return refuse(incoming, 408, `${error.message}.`, { ...headers, connection: 'close' });
  }
  // An unknown error is reported as internal.
  replyWithError(incoming, toMcpError(error), { headers });
}

/** The ways in which an endpoint replies to requests that it does not serve. */
export interface Refusals {
  readonly refuse: (incoming: Incoming, status: number, message: string, headers: HeaderFields) => void;
  /** Replies to a request that failed, for whatever reason. */
  readonly fail: (incoming: Incoming, error: unknown, headers: HeaderFields) => void;
}

/** Refusals with JSON-RPC errors. */
export const rpcRefusals: Refusals = { refuse, fail: replyToFailure };

const RETRY_SECONDS = 5;

/** The headers that tell a client what it can do about an error. Nothing that a peer or a program chose can end a header. */
export function challengeHeaders(incoming: Incoming, error: McpError): HeaderFields {
  const { status, challenge } = error;
  if (status === 503 || status === 429) return { 'retry-after': String(retrySeconds(error)) };
  // RFC 9110, 401: the reply says how to authenticate. A 403 without a challenge is final.
  if (status !== 401 && (status !== 403 || challenge === undefined)) return noHeaders;
  const { scheme, nonce } = challenge ?? {};
  const schemes = scheme === undefined ? (incoming.protection?.schemes ?? ['Bearer']) : [scheme];
  const header = schemes.map((name) => printChallenge(incoming, name, challenge)).join(', ');
  return {
    'www-authenticate': header,
    ...(nonce !== undefined && TOKEN.test(nonce) && { 'dpop-nonce': nonce }),
  };
}

/** The error has milliseconds, for clients that read it; the header has whole seconds. */
function retrySeconds({ data }: McpError): number {
  const ms = isObject(data) ? data['retryAfterMs'] : undefined;
  return typeof ms === 'number' && ms >= 0 ? Math.ceil(ms / 1000) : RETRY_SECONDS;
}

// RFC 6750, 3: the characters of scopes, and of errors and their descriptions.
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/;
const NOT_TEXT = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g;
const TOKEN = /^[A-Za-z0-9._~+/=-]{1,1024}$/;
const SCHEME = /^[A-Za-z][A-Za-z0-9-]{0,63}$/;
const MAX_TEXT = 300;
const MAX_SCOPES = 100;

function printChallenge(incoming: Incoming, scheme: string, challenge: Challenge = {}): string {
  const { protection } = incoming;
  const { error, description, scopes = protection?.scopes ?? [] } = challenge;
  const algorithms = scheme === 'DPoP' ? (challenge.algorithms ?? protection?.algorithms ?? []) : [];
  const metadata = protection?.metadataUrl(incoming);
  const parameters = [
    metadata && `resource_metadata="${metadata}"`,
    error && `error="${toText(error)}"`,
    error && description && `error_description="${toText(description)}"`,
    printList('scope', scopes.filter(isRequested)),
    printList('algs', algorithms),
  ].filter((parameter) => parameter);
  const name = SCHEME.test(scheme) ? scheme : 'Bearer';
  return parameters.length === 0 ? name : `${name} ${parameters.join(', ')}`;
}

function printList(name: string, values: readonly string[]): string | undefined {
  const valid = values.filter((value) => SCOPE.test(value)).slice(0, MAX_SCOPES);
  return valid.length === 0 ? undefined : `${name}="${valid.join(' ')}"`;
}

/** Whether a resource may ask for a scope: a refresh token is a matter between the client and the authorization server. */
export function isRequested(scope: string): boolean {
  return scope !== 'offline_access';
}

function toText(text: string): string {
  const printable = text.slice(0, MAX_TEXT).replaceAll('"', "'").replace(NOT_TEXT, '?');
  return text.length > MAX_TEXT ? `${printable}...` : printable;
}
