import { type ErrorObject, isObject } from '../jsonrpc/message.js';
import { quote, shorten } from './encoding/shorten.js';
import { within } from './tables/features.js';
import type { Revision } from './tables/revisions.js';

// The one table of errors: stable codes, JSON-RPC numbers and HTTP statuses.

/** The `reason` in the data of an error after which it is unknown whether the call has taken effect. */
export const UNKNOWN_OUTCOME = 'unknown_outcome';

/** The message of an error with the code `user_rejected`, in the words of the specification. */
const USER_REJECTED = 'User rejected sampling request';

/**
 * The stable names of protocol errors. Compare these in your code; the JSON-RPC numbers differ between revisions.
 *
 * - `parse_error`: the message is not JSON.
 * - `invalid_request`: the message is not a request, or it is not allowed here.
 * - `method_not_found`: the server does not have the method.
 * - `invalid_params`: a parameter is missing or wrong.
 * - `internal_error`: the handler failed; the server's log has the details.
 * - `resource_not_found`: the server does not have the resource.
 * - `header_mismatch`: an HTTP header contradicts the body.
 * - `missing_capability`: the call needs a capability that the client did not declare.
 * - `unsupported_version`: the two ends do not share a protocol revision.
 * - `timeout`: the call took too long.
 * - `cancelled`: the call was cancelled.
 * - `overloaded`: a limit is reached; retry later.
 * - `connection_closed`: the connection or the server was closed during the call.
 * - `user_rejected`: the user said no to a request for a message from a model.
 *
 * Only clients get these:
 *
 * - `connect_failed`: the server cannot be reached.
 * - `unauthorized`: the server requires authentication (HTTP 401).
 * - `forbidden`: the caller may not do this (HTTP 403).
 * - `bad_response`: the server's response cannot be read.
 * - `tool_failed`: `unwrap()` was called on a result with `isError`.
 * - `remote_error`: the server sent a JSON-RPC number that has no name here; `number` has it.
 */
export type ErrorCode =
  | 'parse_error'
  | 'invalid_request'
  | 'method_not_found'
  | 'invalid_params'
  | 'internal_error'
  | 'resource_not_found'
  | 'header_mismatch'
  | 'missing_capability'
  | 'unsupported_version'
  | 'timeout'
  | 'cancelled'
  | 'overloaded'
  | 'connection_closed'
  | 'user_rejected'
  // Clients get the following codes; of these, servers throw only `unauthorized` and `forbidden`.
  | 'connect_failed'
  | 'unauthorized'
  | 'forbidden'
  | 'bad_response'
  | 'tool_failed'
  | 'remote_error';

interface WireError {
  readonly number: number;
  /** The HTTP status, if no stream has begun. */
  readonly status: number;
  /** The number that revisions before `changed` used. */
  readonly before?: { readonly changed: Revision; readonly number: number };
}

const wire: Readonly<Record<ErrorCode, WireError>> = {
  parse_error: { number: -32700, status: 400 },
  invalid_request: { number: -32600, status: 400 },
  method_not_found: { number: -32601, status: 404 },
  invalid_params: { number: -32602, status: 200 },
  internal_error: { number: -32603, status: 200 },
  resource_not_found: { number: -32602, status: 200, before: { changed: '2026-07-28', number: -32002 } },
  header_mismatch: { number: -32020, status: 400 },
  missing_capability: { number: -32021, status: 400 },
  unsupported_version: { number: -32022, status: 400 },
  timeout: { number: -32603, status: 200 },
  cancelled: { number: -32603, status: 200 },
  overloaded: { number: -32603, status: 503 },
  connection_closed: { number: -32603, status: 200 },
  // Spec 2024-11-05 to 2025-11-25, Sampling, Error Handling. 2026-07-28 has no number: its clients do not answer at all.
  user_rejected: { number: -1, status: 200 },
  connect_failed: { number: -32603, status: 502 },
  unauthorized: { number: -32603, status: 401 },
  forbidden: { number: -32603, status: 403 },
  bad_response: { number: -32603, status: 502 },
  tool_failed: { number: -32603, status: 200 },
  remote_error: { number: -32603, status: 200 },
};

/** The `WWW-Authenticate` header of a 401 or 403, which says what the client can do about it. */
export interface Challenge {
  /** The authentication scheme. Default: `Bearer`. */
  readonly scheme?: string | undefined;
  /** The code of the error, such as `invalid_token`. */
  readonly error?: string | undefined;
  /** A sentence for people. */
  readonly description?: string | undefined;
  /** The scopes that the request needs. */
  readonly scopes?: readonly string[] | undefined;
  /** The algorithms for proofs that the client may use (`algs`), if the scheme is `DPoP`. */
  readonly algorithms?: readonly string[] | undefined;
  /** The nonce for the next proof, which the reply has in the header `DPoP-Nonce`. */
  readonly nonce?: string | undefined;
}

/** The call that a result or an error of a client belongs to, for logs. */
export interface CallSource {
  /**
   * The server: its name in a config of several servers; otherwise the name that it gives itself, or its address if it gives
   * none.
   */
  readonly server: string;
  /** The protocol's method, such as `tools/call`. */
  readonly method: string;
  /** The name of the tool or prompt, or the URI of the resource; undefined for other calls. */
  readonly name: string | undefined;
  /** The id that the client gave the call, as in `client.pending()`; undefined for a task of an earlier call. */
  readonly requestId: number | undefined;
}

/** The optional parts of an `McpError`. */
export interface McpErrorOptions {
  /** More about the error, as JSON. The peer sees it. */
  readonly data?: unknown;
  /** The error that led to this one. The peer never sees it. */
  readonly cause?: unknown;
  /** The HTTP status to reply with instead of the code's own. */
  readonly status?: number;
  /** The JSON-RPC number to send instead of the code's own. */
  readonly number?: number;
  /** The challenge of an HTTP reply with the status 401 or 403. */
  readonly challenge?: Challenge | undefined;
  /** The client's call that failed. The peer never sees it. */
  readonly source?: CallSource | undefined;
}

const brand = Symbol.for('fullmcp.McpError');

/**
 * An error of the protocol or of the connection. The peer sees its message and data; any other error reaches the peer as
 * "Internal error".
 */
export class McpError extends Error {
  /** The stable name of the error: compare this, not the message. */
  readonly code: ErrorCode;
  /** More about the error, as JSON; undefined when there is none. */
  declare readonly data: unknown;
  /** The HTTP status that belongs to the error. */
  readonly status: number;
  /** The JSON-RPC number that the peer sent, or that the options set; otherwise undefined. */
  declare readonly number: number | undefined;
  /** The challenge of an HTTP reply with the status 401 or 403; otherwise undefined. */
  declare readonly challenge: Challenge | undefined;
  /** The call that failed, with its server, if a client threw the error; otherwise undefined. */
  declare readonly source: CallSource | undefined;

  constructor(code: ErrorCode, message: string, options: McpErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    if (!Object.hasOwn(wire, code)) throw unknownCode(code);
    this.name = 'McpError';
    this.code = code;
    this.status = options.status ?? wire[code].status;
    // Members that are not there are not set: an error that is printed would show them.
    const { data, number, challenge, source } = options;
    if (data !== undefined) this.data = data;
    if (number !== undefined) this.number = number;
    if (challenge !== undefined) this.challenge = challenge;
    if (source !== undefined) this.source = source;
    Object.defineProperty(this, brand, { value: true });
  }

  /** Tells whether a value is an `McpError`, even one from another copy of this package. */
  static is(value: unknown): value is McpError {
    return typeof value === 'object' && value !== null && brand in value;
  }

  /** The error as a JSON-RPC error object, with the number that `revision` gives it. */
  toWire(revision: Revision): ErrorObject {
    const number = this.number ?? errorNumber(this.code, revision);
    return this.data === undefined
      ? { code: number, message: this.message }
      : { code: number, message: this.message, data: this.data };
  }
}

function unknownCode(code: unknown): TypeError {
  if (typeof code === 'number') {
    const name = codes.get(code);
    const right = name === undefined ? `'remote_error', message, { number: ${code} }` : `'${name}', message`;
    return new TypeError(
      `An McpError has a name as its code, not the number ${code}: new McpError(${right}).`,
    );
  }
  const display = typeof code === 'string' ? quote(code, 40) : `a value of type ${typeof code}`;
  return new TypeError(
    `An McpError cannot have the code ${display}. Known: ${Object.keys(wire).join(', ')}.`,
  );
}

/** The error itself if it is an `McpError`. An unknown error is reported as internal, without its message. */
export function toMcpError(error: unknown): McpError {
  return McpError.is(error)
    ? error
    : new McpError('internal_error', 'Internal error', { cause: error, status: 500 });
}

/** A copy of an error with these changes. Without a new message, the copy has the stack of the original. */
export function copyError(
  error: McpError,
  {
    code = error.code,
    message = error.message,
    ...changes
  }: McpErrorOptions & Partial<Pick<McpError, 'code' | 'message'>>,
): McpError {
  const { data, status, number, challenge, source, cause } = error;
  const kept = { data, status, challenge, source, cause, ...(number !== undefined && { number }) };
  const copy = new McpError(code, message, { ...kept, ...changes });
  // A stack is formatted when it is first read, which is slow.
  if (message === error.message)
    Object.defineProperty(copy, 'stack', { configurable: true, get: () => error.stack });
  return copy;
}

/** The reason of an aborted signal, as an `McpError`. */
export function cancelledBy(reason: unknown): McpError {
  return McpError.is(reason)
    ? reason
    : new McpError('cancelled', 'The call was cancelled', { cause: reason });
}

/** The longest reason of a cancellation that is sent, or accepted from a peer. */
const MAX_CANCEL_REASON = 500;

/** The error of a call that the client cancelled. The reason that the client sent, if any, is its cause. */
export function cancelledByClient(reason?: unknown): McpError {
  const cause = typeof reason === 'string' && reason !== '' ? shorten(reason, MAX_CANCEL_REASON) : undefined;
  return new McpError('cancelled', 'The client cancelled the call', { cause });
}

/**
 * The reason of an aborted signal, for the peer: a string, or the message of an `McpError`. Other errors are not for the peer, so that they
 * are only called a cancellation.
 */
export function cancelReason(reason: unknown): string {
  if (typeof reason === 'string' && reason !== '') return shorten(reason, MAX_CANCEL_REASON);
  // The server behind a proxy is told the words of the proxy's client.
  if (McpError.is(reason) && reason.code === 'cancelled' && reason.cause !== undefined)
    return cancelReason(reason.cause);
  return McpError.is(reason) ? shorten(reason.message, MAX_CANCEL_REASON) : 'The call was cancelled';
}

/** The error for a request for a message from a model that the user has rejected. */
export function userRejected(): McpError {
  return new McpError('user_rejected', USER_REJECTED);
}

/** Throws the error of a cancellation: `delay(ms, { signal }).catch(throwCancelled)`. */
export function throwCancelled(reason: unknown): never {
  throw cancelledBy(reason);
}

/**
 * A peer's error as an `McpError`: with the code that its number has, or else with `remote_error`. Too Many Requests is in the data,
 * since only some replies over HTTP have a status of their own.
 */
export function fromWire({ code: number, message, data }: ErrorObject): McpError {
  if (isObject(data) && data['status'] === 429)
    return new McpError('overloaded', message, { number, data, status: 429 });
  // Other servers use this number for anything, so that the words must be those of the specification, too.
  if (number === wire.user_rejected.number && message === USER_REJECTED)
    return new McpError('user_rejected', message, { number, data });
  return new McpError(codes.get(number) ?? 'remote_error', message, { number, data });
}

// A number that several codes share gets the code that the specification gives it.
const codes: ReadonlyMap<number, ErrorCode> = new Map([
  ...(
    [
      'parse_error',
      'invalid_request',
      'method_not_found',
      'invalid_params',
      'internal_error',
      'header_mismatch',
      'missing_capability',
      'unsupported_version',
    ] as const
  ).map((code) => [wire[code].number, code] as const),
  [-32002, 'resource_not_found'] as const,
]);

function errorNumber(code: ErrorCode, revision: Revision): number {
  const { number, before } = wire[code];
  return before !== undefined && !within(revision, { since: before.changed }) ? before.number : number;
}
