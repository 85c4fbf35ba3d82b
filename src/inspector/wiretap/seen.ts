// The reports of the wiretap: messages, replies of HTTP, and the steps of connecting.

import type { ErrorObject, JsonObject, RequestId } from '../../jsonrpc/message.js';

/** The story that work belongs to. It travels with the work, and may be pointed at another story while the work continues. */
export interface Scope {
  story: number;
  /** Whether it belongs to the connection, not to a call: a message that arrives in it may belong to another story. */
  readonly isBackground: boolean;
}

/** An HTTP request and the head of its reply. The reply is filled in when it arrives. */
export interface HttpExchange {
  readonly method: string;
  readonly url: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  status?: number;
  responseHeaders?: Readonly<Record<string, string>>;
}

/** A message as far as it could be read. A long one is not parsed: then only its kind and its id are known. */
export interface ReadMessage {
  readonly kind: 'request' | 'response' | 'error' | 'notification' | 'unreadable';
  readonly id?: RequestId;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: ErrorObject;
}

export interface SeenMessage extends ReadMessage {
  readonly from: 'client' | 'server';
  /** The text, secrets masked, cut at `MAX_TEXT`. */
  readonly text: string;
  readonly isCut: boolean;
  readonly bytes: number;
  readonly at: number;
  readonly scope: Scope;
  /** Of a response: the number of its request, its method, its name, and the time since. */
  readonly answers?: {
    readonly seq: number;
    readonly method: string;
    readonly name?: string;
    readonly ms: number;
  };
  readonly http?: HttpExchange;
}

/** A step of connecting. The same `id` reports its end. */
export interface SeenStep {
  readonly id: number;
  readonly what: string;
  readonly outcome: 'running' | 'ok' | 'failed';
  readonly detail?: string;
}

export interface WireListener {
  /** Takes a message, and returns the number that it gets. */
  readonly message: (seen: SeenMessage) => number;
  /** The scope of a message of the server that no request explains. */
  readonly ownerOf: (message: ReadMessage) => Scope;
  /** The head of a reply has arrived. */
  readonly replied: (scope: Scope, exchange: HttpExchange) => void;
  readonly step: (step: SeenStep) => void;
  /** Replaces the secrets of this connection in a string. */
  readonly mask: (text: string) => string;
}

export const MAX_TEXT = 1_000_000;
