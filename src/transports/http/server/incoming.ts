import type { Auth } from '../../../protocol/call.js';
import type { Caller } from '../../../protocol/caller.js';
import type { ClientAddress } from './trusted-proxies.js';

/** An HTTP request and the way to reply to it, independent of the runtime. */
export interface Incoming {
  readonly method: string;
  /** The path of the URL, without the query. */
  readonly path: string;
  readonly query: string;
  /** Whether the request came over TLS. */
  readonly secure: boolean;
  /** Whether the connection came in on a loopback address; undefined if the runtime does not show it. */
  readonly local: boolean | undefined;
  /** The address at the other end of the connection, which may be a proxy's. */
  readonly remoteAddress: string | undefined;
  /** Finds the address of the client behind trusted proxies; set by an endpoint that trusts any. */
  clientAddress?: ClientAddress;
  /** The version of HTTP; undefined if the runtime does not show it. */
  readonly version?: string | undefined;
  /** The request as the runtime or the framework has it: a `Request`, Node's `IncomingMessage`, Fastify's own. */
  readonly raw: unknown;
  /** The identity of the caller; set by the endpoint before other code reads it. */
  auth: Auth | undefined;
  /** The facts for the challenge of a refusal; set by an endpoint with `auth`. */
  protection: Protection | undefined;
  /** Reads a header by its lower-case name. */
  header(name: string): string | undefined;
  /** All headers, with their names in lower case. */
  headerFields(): Iterable<readonly [string, string]>;
  /** Reads the whole body. Calls back, because a promise would cost more than the reading. */
  read(limits: BodyLimits, receiver: BodyReceiver): void;
  /** The time after which a client that reads nothing of a reply is disconnected. */
  writeTimeoutMs?: number;
  /** The endpoint that replies. While it is leaving, a connection ends with its reply, if the runtime shows connections. */
  endpoint?: { readonly isLeaving: boolean } | undefined;
  /** Replies with a complete body. */
  reply(status: number, headers: HeaderFields, body?: string): void;
  /** Replies with a response that a provider of authorization has made. */
  respond(response: Response): Promise<void>;
  /** Begins a reply that is written in parts. */
  stream(status: number, headers: HeaderFields): Outlet;
  /** Keeps the request's work alive after the reply, on runtimes that end the work with the reply. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined;
  /** Calls back when the client disconnects before the reply is complete. */
  onGone(listener: () => void): void;
}

/** The facts about a protected endpoint that its challenges name. */
export interface Protection {
  /** The authentication schemes; each gets a challenge. */
  readonly schemes: readonly string[];
  /** The scopes that every request needs. */
  readonly scopes: readonly string[] | undefined;
  /** The algorithms for proofs of a key. */
  readonly algorithms: readonly string[] | undefined;
  /** The absolute URL of the metadata of the endpoint, which needs no quoting; undefined if there is none. */
  metadataUrl(incoming: Incoming): string | undefined;
  /**
   * Calls `onEnd` when the credentials of a request are not valid any more, except that they have expired. Returns the function that
   * stops; undefined if nobody would know.
   */
  watch(incoming: Incoming, onEnd: () => void): (() => void) | undefined;
}

export interface BodyLimits {
  /** A larger body fails with `BodyTooLarge`. */
  readonly maxBytes: number;
  /** A body that stops arriving for this long fails with `BodyStalled`, unless the runtime has a limit of its own. */
  readonly silenceMs: number;
}

/** Receives a body: one of the two methods is called, once. */
export interface BodyReceiver {
  receiveBody(text: string): void;
  fail(error: unknown): void;
}

/** The caller of the calls that a request carries, or of those on the connection that it opened. */
export function callerOf(incoming: Incoming): Caller {
  const { auth, version } = incoming;
  const remoteAddress = clientAddressOf(incoming);
  return { auth, http: { header: (name) => incoming.header(name), remoteAddress, version } };
}

/** The address of the client: that of the connection, unless it is that of a trusted proxy. */
export function clientAddressOf(incoming: Incoming): string | undefined {
  return incoming.clientAddress === undefined ? incoming.remoteAddress : incoming.clientAddress(incoming);
}

export type HeaderFields = Readonly<Record<string, string>>;

/** Replies with a JSON body. */
export function replyJson(incoming: Incoming, status: number, json: string, headers: HeaderFields): void {
  incoming.reply(status, headers === noHeaders ? jsonHeaders : { ...jsonHeaders, ...headers }, json);
}

/** No headers beyond those of every reply. */
export const noHeaders: HeaderFields = Object.freeze({});
export const JSON_TYPE = 'application/json';
/** The headers of a JSON reply that has no others. */
export const jsonHeaders: HeaderFields = Object.freeze({ 'content-type': JSON_TYPE });

/** A reply that is written in parts. */
export interface Outlet {
  write(text: string): void;
  end(): void;
  /** Ends at once, and drops unsent output. */
  destroy(): void;
  /** The approximate number of bytes that the client has not read yet. */
  buffered(): number;
}

/** The client stopped sending in the middle of the body. */
export class BodyStalled extends Error {
  constructor(silenceMs: number) {
    super(`The body stopped arriving for ${silenceMs} ms`);
    this.name = 'BodyStalled';
  }
}

/** The body is larger than its limit. */
export class BodyTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`The body has more than ${maxBytes} bytes`);
    this.name = 'BodyTooLarge';
  }
}
