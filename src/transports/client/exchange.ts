import type { JsonObject } from '../../jsonrpc/message.js';
import type { McpError } from '../../protocol/errors.js';
import type { PrintableCall } from './print-call.js';

/** Requests and answers between two JSON-RPC peers, whatever lies between them. Links of either era are built on one. */
export interface Exchange {
  /** Says who is told, from now on, what the other peer does of its own accord. Called before the first request, and again by whoever takes over. */
  readonly listen: (events: ExchangeEvents) => void;
  /** Sends a request and gives its result. Rejects with an `McpError`: the peer's own, or why there is no answer. */
  readonly request: (request: OutgoingRequest) => Promise<JsonObject>;
  /** Sends a notification, without waiting for it to arrive. */
  readonly notify: (method: string, params?: JsonObject) => void;
  /** What is open is rejected with `connection_closed`. Never rejects. */
  readonly close: () => Promise<void>;
}

export interface OutgoingRequest extends PrintableCall {
  /** Cancels it: the peer is told, and the request is rejected with the signal's reason. */
  readonly signal: AbortSignal;
  /**
   * Hears the notifications that belong to this request: its progress, its subscription's changes, and on HTTP whatever
   * comes on its own stream. Never called after the answer.
   */
  readonly onNotification?: ((method: string, params: JsonObject | undefined) => void) | undefined;
}

/** What the other peer does of its own accord. None of these may throw. */
export interface ExchangeEvents {
  /** It asks. The promise's value is the result; an `McpError` becomes its error, any other is not shown. */
  readonly request: (
    method: string,
    params: JsonObject | undefined,
    signal: AbortSignal,
  ) => Promise<JsonObject>;
  /** It says something that belongs to no request. */
  readonly notification: (method: string, params: JsonObject | undefined) => void;
  readonly problem: (message: string, cause?: unknown) => void;
  /** The stream of what it says broke off and was opened again: something may have been said that nobody heard. */
  readonly missed?: () => void;
  /** The connection is gone, not by `close`. Called once at most, after the open requests were rejected. */
  readonly closed: (reason: McpError) => void;
}
