import type { WithSignal } from '../../../async/lifetime.js';

// The seam between the client and the HTTP of its runtime: `fetch` everywhere, `node:http` and `node:https` on Node.

/** Sends requests over HTTP to one server. One contract suite holds every implementation of it. */
export interface HttpCarrier {
  /**
   * Sends a request and gives the reply as soon as its head has arrived, whatever its status. Redirections are given as they
   * are. Rejects with what went wrong, or with the reason for which it was ended.
   */
  readonly send: (request: CarriedRequest) => Promise<HttpReply>;
  /** Closes every connection, also those in use. Nothing can be sent afterwards. */
  readonly close: () => void;
}

export interface CarriedRequest {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly url: URL;
  /** The headers that request after request has: mostly the same object, of which an implementation may keep its own form. */
  readonly commonHeaders: Readonly<Record<string, string>>;
  /** Those of this request. They win over the others. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Its end is that of the request, and of the reply if it is still being read. */
  readonly until: WithSignal;
  readonly lane: Lane;
}

/**
 * The queue that a request waits in when too many are under way: only behind others of its kind. A call takes as long as its
 * tool does. A stream stays open. A brief request is answered immediately: an answer to a question that waited behind the call
 * that asked it would wait forever.
 */
export type Lane = 'call' | 'stream' | 'brief';

/** A reply whose head has arrived. Its body is read in one of the ways below, or cancelled. */
export interface HttpReply {
  readonly status: number;
  /** Where it came from. */
  readonly url: string;
  /** Where a redirection leads nowhere that can be seen, as in a browser. */
  readonly opaque: boolean;
  /** The runtime may hide headers from the program: a browser does, for other origins. */
  readonly hidesHeaders: boolean;
  /** A header by its name in lower case. Several of one name are joined with commas. */
  readonly header: (name: string) => string | undefined;
  /** Reads the whole body, or gives `undefined` where it is larger than `maxBytes`: the rest is then not read. */
  readonly text: (maxBytes: number) => Promise<string | undefined>;
  /** Reads the next part of the body; `undefined` is its end. Rejects with whatever broke the body off. */
  readonly read: () => Promise<Uint8Array | undefined>;
  /** Ends the body. One that has ended, or broken, already is fine. */
  readonly cancel: () => void;
}
