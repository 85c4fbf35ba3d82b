// Reads a message as far as the inspector needs it. A very long one is not parsed a second time.

import { END_BYTES, idAtHead, idAtTail } from '../../jsonrpc/long-message.js';
import { isObject, readMessage } from '../../jsonrpc/message.js';
import { MAX_HTTP_REPLY_DEPTH, parseJson, RefusedJson } from '../../jsonrpc/parse.js';
import type { ReadMessage } from './seen.js';

const MAX_PARSED = 2_000_000;

/** The messages in a string: several if it is a batch. */
export function readWireText(text: string): readonly ReadMessage[] {
  if (text.length > MAX_PARSED) return [readEnds(text)];
  const value = parseJson(text, MAX_HTTP_REPLY_DEPTH);
  if (value instanceof RefusedJson) return [{ kind: 'unreadable' }];
  if (Array.isArray(value) && value.length > 0) return value.slice(0, 1000).map(readValue);
  return [readValue(value)];
}

function readValue(value: unknown): ReadMessage {
  const message = readMessage(value);
  switch (message.kind) {
    case 'invalid':
      return { kind: 'unreadable', ...(message.id !== undefined && { id: message.id }) };
    case 'result':
      return { kind: 'response', id: message.id, result: message.result };
    case 'error':
      return { kind: 'error', error: message.error, ...(message.id !== undefined && { id: message.id }) };
    default: {
      const { kind, method, params } = message;
      return {
        kind,
        method,
        ...(kind === 'request' && { id: message.id }),
        ...(isObject(params) && { params }),
      };
    }
  }
}

function readEnds(text: string): ReadMessage {
  const head = text.slice(0, END_BYTES);
  const ends = idAtHead(head) ?? idAtTail(head, text.slice(-END_BYTES));
  if (ends === undefined) return { kind: 'unreadable' };
  return { kind: ends.isRequest ? 'request' : 'response', id: ends.id };
}
