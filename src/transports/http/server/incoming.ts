import type { Auth } from '../../../protocol/call.js';
import type { Caller } from '../../../protocol/caller.js';

/** An HTTP request and the way to reply to it, independent of the runtime. */
export interface Incoming {
  readonly method: string;
  /** The path of the URL, without the query. */
  readonly path: string;
  readonly query: string;
  /** Whether the request came over TLS. */
  readonly secure: boolean;
  /** Whether the connection came in on a loopback address; undefined where the runtime does not tell. */
  readonly local: boolean | undefined;
  readonly remoteAddress: string | undefined;
  /** The request as the runtime or the framework has it: a `Request`, Node's `IncomingMessage`, Fastify's own. */
  readonly raw: unknown;
  /** The identity of the caller; set by the endpoint before other code reads it. */
  auth: Auth | undefined;
  /** Reads a header by its lower-case name. */
  header(name: string): string | undefined;
  /** Reads the whole body. Calls back rather than making a promise, which would cost more than the reading. */
  read(limits: BodyLimits, receiver: BodyReceiver): void;
  /** How long a client may leave an answer unread, without taking any of it, before its connection is closed. */
  writeTimeoutMs?: number;
  /** Answers at once, with a body that is all there. */
  reply(status: number, headers: HeaderFields, body?: string): void;
  /** Begins an answer that is written in parts. */
  stream(status: number, headers: HeaderFields): Outlet;
  /** Keeps the request's work alive after its answer, on runtimes that end it with the answer. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined;
  /** Calls back when the client goes away before the answer is complete. */
  onGone(listener: () => void): void;
}

export interface BodyLimits {
  /** A body fails with `BodyTooLarge` as soon as it has more. */
  readonly maxBytes: number;
  /** A body fails with `BodyStalled` when nothing of it came for so long, where the runtime does not see to that itself. */
  readonly silenceMs: number;
}

/** Receives a body that is read: one of the two is called, once. */
export interface BodyReceiver {
  receiveBody(text: string): void;
  fail(error: unknown): void;
}

/** The caller, as calls see it, of a request that carries them or that opened their connection. */
export function callerOf(incoming: Incoming): Caller {
  const { auth, remoteAddress } = incoming;
  return { auth, http: { header: (name) => incoming.header(name), remoteAddress } };
}

export type HeaderFields = Readonly<Record<string, string>>;

export interface Outlet {
  write(text: string): void;
  end(): void;
  /** Ends without waiting for what is still to be written. */
  destroy(): void;
  /** The approximate number of bytes that the client has not read yet. */
  buffered(): number;
}

/** The client stopped sending in the middle of the body. */
export class BodyStalled extends Error {
  constructor(silenceMs: number) {
    super(`Nothing of the body has come for ${silenceMs} ms`);
    this.name = 'BodyStalled';
  }
}

export class BodyTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`The body has more than ${maxBytes} bytes`);
    this.name = 'BodyTooLarge';
  }
}
