import { Lifetime, type WithLifetime } from '../../../async/lifetime.js';
import { type JsonObject, printNotification, type RequestMessage } from '../../../jsonrpc/message.js';
import type { Auth, Call, HttpFacts, Peer, Via } from '../../../protocol/call.js';
import type { McpError } from '../../../protocol/errors.js';
import { hasHeartbeat, staysOpen } from '../../../protocol/standing-calls.js';
import { clientAddressOf, type Incoming } from './incoming.js';
import type { ReplyWriter } from './reply.js';

/** The parts of a call that a POST carries. */
export interface Posted {
  readonly message: RequestMessage;
  readonly peer: Peer;
  readonly writer: ReplyWriter;
}

/** A call that a POST carries. Expensive members are made when they are first read. */
export class PostedCall implements Call, WithLifetime {
  readonly id: Call['id'];
  readonly method: string;
  readonly params: JsonObject;
  readonly peer: Peer;
  readonly auth: Auth | undefined;
  readonly #incoming: Incoming;
  readonly #writer: ReplyWriter;
  #lifetime: Lifetime | undefined;
  #http: HttpFacts | undefined;
  #notify: Call['notify'] | undefined;

  constructor(incoming: Incoming, { message, peer, writer }: Posted) {
    this.id = message.id;
    this.method = message.method;
    this.params = message.params ?? {};
    this.peer = peer;
    this.auth = incoming.auth;
    this.#incoming = incoming;
    this.#writer = writer;
  }

  get lifetime(): Lifetime {
    this.#lifetime ??= new Lifetime();
    return this.#lifetime;
  }

  get signal(): AbortSignal {
    return this.lifetime.signal;
  }

  get isSubscription(): boolean {
    return staysOpen(this.method);
  }

  get hasHeartbeat(): boolean {
    return hasHeartbeat(this.method);
  }

  end(reason: McpError): void {
    this.lifetime.end(reason);
  }

  get http(): HttpFacts {
    this.#http ??= factsOf(this.#incoming);
    return this.#http;
  }

  get via(): Via {
    return alone;
  }

  get notify(): Call['notify'] {
    this.#notify ??= (name, params) => this.#writer.notify(printNotification(name, params));
    return this.#notify;
  }
}

const alone: Via = { transport: 'http' };

function factsOf(incoming: Incoming): HttpFacts {
  const header = (name: string): string | undefined => incoming.header(name);
  return {
    header,
    remoteAddress: clientAddressOf(incoming),
    version: incoming.version,
    mirrored: header,
  };
}
