import { printError, type RequestId } from '../../../jsonrpc/message.js';
import { type McpError, toMcpError } from '../../../protocol/errors.js';
import { newestRevision } from '../../../protocol/tables/revisions.js';
import { BodyStalled, BodyTooLarge, type HeaderFields, type Incoming } from './incoming.js';
import { noHeaders, replyJson } from './reply.js';

/** Refuses in a way that both people and clients can read. */
export function refuse(
  incoming: Incoming,
  status: number,
  message: string,
  headers: HeaderFields = noHeaders,
): void {
  replyJson(incoming, status, printError(undefined, { code: -32600, message }), headers);
}

/** Answers with an error, under the id of its request where that is known. */
export function answerError(
  incoming: Incoming,
  id: RequestId | undefined,
  error: McpError,
  headers: HeaderFields,
): void {
  replyJson(incoming, error.status, printError(id, error.toWire(newestRevision)), headers);
}

/** Answers a request that could not be served. */
export function fail(incoming: Incoming, error: unknown, headers: HeaderFields): void {
  if (error instanceof BodyTooLarge) {
    return refuse(incoming, 413, `${error.message}. Send less, or raise maxBodyBytes.`, headers);
  }
  if (error instanceof BodyStalled) {
    return refuse(incoming, 408, `${error.message}.`, { ...headers, connection: 'close' });
  }
  const known = toMcpError(error);
  // RFC 9110, 401: the answer says how to authenticate.
  const challenge = known.status === 401 ? { ...headers, 'www-authenticate': 'Bearer' } : headers;
  // An unknown error is reported as internal.
  answerError(incoming, undefined, known, challenge);
}
