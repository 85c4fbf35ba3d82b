import type { JsonObject } from '../../jsonrpc/message.js';
import type { McpError } from '../../protocol/errors.js';
import type { PrintableCall } from './print-call.js';

/** Requests and responses between two JSON-RPC peers, over any connection. Links of either era are built on one. */
export interface Exchange {
  /**
   * Sets the listener for messages that the other peer initiates. Called before the first request, and again when another owner
   * takes over.
   */
  readonly listen: (events: ExchangeEvents) => void;
  /** Sends a request and gives its result. Rejects with an `McpError`: the peer's own, or the reason for the missing response. */
  readonly request: (request: OutgoingRequest) => Promise<JsonObject>;
  /** Sends a notification, without waiting for it to arrive. */
  readonly notify: (method: string, params?: JsonObject) => void;
  /** The id that the server has given the session; undefined if there is none. */
  readonly sessionId?: () => string | undefined;
  /** Rejects open requests with `connection_closed`. Never rejects itself. */
  readonly close: () => Promise<void>;
}

export interface OutgoingRequest extends PrintableCall {
  /** Cancels the request: the peer is told, and the request is rejected with the signal's reason. */
  readonly signal: AbortSignal;
  /**
   * Receives the notifications that belong to this request: its progress, its subscription's changes, and over HTTP everything
   * on its stream. Never called after the response.
   */
  readonly onNotification?: ((method: string, params: JsonObject | undefined) => void) | undefined;
  /** Called when the server releases the connection of this request, before its response is there. */
  readonly onRelease?: (() => void) | undefined;
}

/** Listeners for messages that the other peer initiates. None of them may throw. */
export interface ExchangeEvents {
  /** A request of the peer. The promise's value is the result; an `McpError` becomes its error, any other is masked. */
  readonly request: (
    method: string,
    params: JsonObject | undefined,
    signal: AbortSignal,
  ) => Promise<JsonObject>;
  /** A notification that does not belong to a request. */
  readonly notification: (method: string, params: JsonObject | undefined) => void;
  readonly problem: (message: string, cause?: unknown) => void;
  /** The stream of notifications was opened, for the first time or again: earlier notifications may be missing. */
  readonly missed?: () => void;
  /** The connection ended without `close`. Called at most once, after the open requests were rejected. */
  readonly closed: (reason: McpError) => void;
}
