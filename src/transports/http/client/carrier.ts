import type { WithSignal } from '../../../async/lifetime.js';

/** Sends requests over HTTP to one server: with `fetch`, or on Node with `node:http`. One contract suite tests both. */
export interface HttpCarrier {
  /**
   * Sends a request and returns the reply as soon as its head has arrived, whatever its status. Redirects are not followed.
   * Rejects with the failure, or with the reason of `until`.
   */
  readonly send: (request: CarrierRequest) => Promise<HttpReply>;
  /** Closes every connection, even those in use. Nothing can be sent afterwards. */
  readonly close: () => void;
}

export interface CarrierRequest {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly url: URL;
  /** Headers of every request, mostly the same object: an implementation may cache its own form of it. */
  readonly commonHeaders: Readonly<Record<string, string>>;
  /** Headers of this request. They override the common ones. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Ends the request, and the reply if that is still being read. */
  readonly until: WithSignal;
  readonly lane: Lane;
}

/**
 * The queue of a request when too many are open: it waits only behind others of its kind. A call takes as long as its tool. A
 * stream stays open. A brief request is answered immediately: without a queue of its own, the answer to a question could wait
 * forever behind the call that asked it.
 */
export type Lane = 'call' | 'stream' | 'brief';

/** A reply whose head has arrived. Its body must be read with `text` or `read`, or cancelled. */
export interface HttpReply {
  readonly status: number;
  /** The address that the reply came from. */
  readonly url: string;
  /** Whether it is a redirect whose address is hidden, as in a browser. */
  readonly opaque: boolean;
  /** Whether the runtime may hide headers: a browser does, for other origins. */
  readonly hidesHeaders: boolean;
  /** Reads a header by its lower-case name. Several of one name are joined with commas. */
  readonly header: (name: string) => string | undefined;
  /** The names of all headers, in lower case, for tools that show them. */
  readonly headerNames?: () => readonly string[];
  /** Reads the whole body. Resolves with `undefined` if it is larger than `maxBytes`; the rest is then not read. */
  readonly text: (maxBytes: number) => Promise<string | undefined>;
  /** Reads the next part of the body; `undefined` is the end. Rejects if the body breaks off. */
  readonly read: () => Promise<Uint8Array | undefined>;
  /** Stops reading the body, which may have ended or failed already. */
  readonly cancel: () => void;
}
