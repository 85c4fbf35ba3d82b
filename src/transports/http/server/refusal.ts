import { printError, type RequestId } from '../../../jsonrpc/message.js';
import { type McpError, toMcpError } from '../../../protocol/errors.js';
import { newestRevision } from '../../../protocol/tables/revisions.js';
import { BodyStalled, BodyTooLarge, type HeaderFields, type Incoming } from './incoming.js';
import { noHeaders, replyJson } from './reply.js';

/** Refuses a request, with a JSON-RPC error as the body, which people and clients can read. */
export function refuse(
  incoming: Incoming,
  status: number,
  message: string,
  headers: HeaderFields = noHeaders,
): void {
  replyJson(incoming, status, printError(undefined, { code: -32600, message }), headers);
}

/** Replies with an error, under the id of the request if that is known. */
export function replyWithError(
  incoming: Incoming,
  id: RequestId | undefined,
  error: McpError,
  headers: HeaderFields,
): void {
  replyJson(incoming, error.status, printError(id, error.toWire(newestRevision)), headers);
}

/** Replies to a request that could not be served. */
export function replyToFailure(incoming: Incoming, error: unknown, headers: HeaderFields): void {
  if (error instanceof BodyTooLarge) {
    return refuse(incoming, 413, `${error.message}. Send less, or raise maxBodyBytes.`, headers);
  }
  if (error instanceof BodyStalled) {
    return refuse(incoming, 408, `${error.message}.`, { ...headers, connection: 'close' });
  }
  // An unknown error is reported as internal.
  const mcpError = toMcpError(error);
  // RFC 9110, 401: the reply says how to authenticate.
  const challenge = mcpError.status === 401 ? { ...headers, 'www-authenticate': 'Bearer' } : headers;
  replyWithError(incoming, undefined, mcpError, challenge);
}
