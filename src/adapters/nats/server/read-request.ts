// Reads the request in a message.

import {
  INVALID_REQUEST,
  PARSE_ERROR,
  type RequestId,
  type RequestMessage,
  readableId,
  readMessage,
} from '../../../jsonrpc/message.js';
import { MAX_DEPTH, parseStrictly, RefusedJson } from '../../../jsonrpc/parse.js';
import { tooLarge } from '../link/message-parts.js';

/** The reason for which a message is not a request. */
export interface RefusedRequest {
  readonly kind: 'refused';
  readonly code: number;
  readonly message: string;
  readonly id?: RequestId | undefined;
}

/** Reads a request, or says why it is refused. */
export function readRequest(data: Uint8Array, maxMessageBytes: number): RequestMessage | RefusedRequest {
  if (data.length > maxMessageBytes) return refused(`Invalid message: ${tooLarge(maxMessageBytes)}`);
  const value = parseStrictly(new TextDecoder().decode(data), MAX_DEPTH);
  if (value instanceof RefusedJson) {
    if (value.fault === 'syntax')
      return { kind: 'refused', code: PARSE_ERROR, message: 'This is not valid JSON' };
    const reason =
      value.fault === 'deep'
        ? `The message is nested deeper than ${MAX_DEPTH} levels`
        : 'A number in the message is too large for a double';
    return refused(reason, readableId(value.value));
  }
  const message = readMessage(value);
  if (message.kind === 'request') return message;
  return message.kind === 'invalid'
    ? refused(`Invalid message: ${message.reason}`, message.id)
    : refused('A service takes only requests');
}

function refused(message: string, id?: RequestId): RefusedRequest {
  return { kind: 'refused', code: INVALID_REQUEST, message, id };
}
