// Reads what arrives in the inbox of a request: its notifications and its response.

import { readMessage } from '../../../jsonrpc/message.js';
import { MAX_DEPTH, parseJson, RefusedJson } from '../../../jsonrpc/parse.js';
import { quote } from '../../../protocol/encoding/shorten.js';
import { type ErrorCode, fromWire, McpError } from '../../../protocol/errors.js';
import type { NatsHeaders } from '../connection/nats-types.js';
import { SERVICE_ERROR_CODE } from '../link/frames.js';
import type { OpenNatsRequest } from './open-request.js';

export interface ReadReplyParts {
  readonly entry: OpenNatsRequest;
  readonly headers: NatsHeaders | undefined;
  readonly settle: (entry: OpenNatsRequest) => boolean;
  readonly fail: (entry: OpenNatsRequest, error: McpError) => void;
  readonly problem: (message: string, cause?: unknown) => void;
}

/** Handles one message. A message that is not one of the protocol is reported and skipped. */
export function readReply(data: Uint8Array, { entry, headers, settle, fail, problem }: ReadReplyParts): void {
  const { id, request } = entry;
  const text = new TextDecoder().decode(data);
  const value = parseJson(text, MAX_DEPTH);
  if (value instanceof RefusedJson) {
    if (value.fault === 'syntax')
      return problem(`The server sent a message that is not valid JSON: ${quote(text, 200)}`);
    return fail(entry, unreadable(request.method, `it nests deeper than ${MAX_DEPTH} levels`));
  }
  const message = readMessage(value);
  switch (message.kind) {
    case 'invalid':
      return fail(entry, unreadable(request.method, message.reason));
    case 'notification':
      return request.onNotification?.(message.method, message.params);
    case 'request':
      return problem(`A server must not send requests: ${quote(message.method, 64)} was ignored.`);
    case 'result':
    case 'error':
      if (
        message.id !== id &&
        message.id !== String(id) &&
        !(message.kind === 'error' && message.id === undefined)
      )
        return problem(
          `The server answered with the id ${quote(String(message.id), 64)}, which this request does not have.`,
        );
      if (!settle(entry)) return;
      if (message.kind === 'result') entry.resolve(message.result);
      else entry.reject(serviceError(message.error, headers));
      return;
    default:
      return message satisfies never;
  }
}

/** The statuses that say more than the number of the error. */
const codes: ReadonlyMap<number, ErrorCode> = new Map([
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [429, 'overloaded'],
  [502, 'connection_closed'],
  [503, 'overloaded'],
]);
const INTERNAL = -32603;

function serviceError(error: Parameters<typeof fromWire>[0], headers: NatsHeaders | undefined): McpError {
  const own = fromWire(error);
  const status = Number(headers?.get(SERVICE_ERROR_CODE) || 0);
  const code = error.code === INTERNAL ? codes.get(status) : undefined;
  if (code === undefined) return own;
  return new McpError(code, own.message, { data: own.data, status, number: error.code });
}

function unreadable(method: string, reason: string): McpError {
  return new McpError('bad_response', `The answer to ${method} cannot be read: ${reason}`);
}
