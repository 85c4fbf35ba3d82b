import { printError, type RequestId } from '../../../jsonrpc/message.js';
import { McpError } from '../../../protocol/errors.js';
import { newestRevision } from '../../../protocol/tables/revisions.js';
import type { EventStream, StreamOwner, Streams } from './event-streams.js';
import { type HeaderFields, type Incoming, replyJson } from './incoming.js';
import { challengeHeaders } from './refusal.js';

const endReasons = {
  gone: 'The client went away',
  unread: 'The client does not read its stream',
  old: 'The stream has been open for too long',
  expired: 'The credentials of the caller have expired. Authenticate again, and repeat the call.',
} as const;

/** The call that a reply is for. */
export interface RepliedCall {
  readonly id: RequestId;
  readonly isSubscription: boolean;
  /** Whether the call notifies its client at intervals, so that the stream needs no comments. Default: it does not. */
  readonly hasHeartbeat?: boolean;
  end(reason: McpError): void;
}

/** Writes the reply to one POST: a single JSON body, or an event stream if notifications precede the response. */
export class ReplyWriter implements StreamOwner {
  /** The call to end when the client disconnects, does not read, or must not have the stream open any longer. */
  call: RepliedCall | undefined;
  readonly #incoming: Incoming;
  readonly #streams: Streams;
  readonly #headers: HeaderFields;
  readonly #mayStream: boolean;
  readonly #mustStream: boolean;
  #stream: EventStream | undefined;
  #isFinished = false;

  constructor(incoming: Incoming, streams: Streams, headers: HeaderFields) {
    this.#incoming = incoming;
    this.#streams = streams;
    this.#headers = headers;
    const accept = incoming.header('accept');
    this.#mayStream = accepts(accept, 'text/event-stream');
    this.#mustStream = this.#mayStream && !accepts(accept, 'application/json');
  }

  get hasHeartbeat(): boolean {
    return this.call?.hasHeartbeat === true;
  }

  get mayStream(): boolean {
    return this.#mayStream;
  }

  /** Sends a notification. A client that accepts only JSON does not get it. */
  notify(message: string): void {
    if (this.#isFinished || !this.#mayStream) return;
    this.#openStream().send({ data: message });
  }

  /** Ends the reply with a response. The status and its headers are used only if no stream has begun. */
  finish(message: string, status = 200, more?: HeaderFields): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    // A refusal keeps its status, even if the client prefers a stream.
    if (this.#mustStream && status === 200) this.#openStream();
    if (this.#stream === undefined) {
      const headers = more === undefined ? this.#headers : { ...this.#headers, ...more };
      replyJson(this.#incoming, status, message, headers);
    } else {
      this.#stream.send({ data: message });
      this.#stream.end();
    }
  }

  /** Ends the reply with an error. */
  fail(id: RequestId, error: McpError): void {
    const more = error.status < 400 ? undefined : challengeHeaders(this.#incoming, error);
    this.finish(printError(id, error.toWire(newestRevision)), error.status, more);
  }

  onEnd(why: keyof typeof endReasons): void {
    const reason = new McpError('connection_closed', endReasons[why]);
    // Nothing can be written to a client that is gone or does not read.
    if (why === 'gone' || why === 'unread') this.#isFinished = true;
    this.call?.end(reason);
    // A subscription ends its reply itself, with its result. A handler may ignore its signal, but its caller is nobody any more.
    if (why === 'expired' && this.call?.isSubscription === false) this.fail(this.call.id, reason);
  }

  #openStream(): EventStream {
    this.#stream ??= this.#streams.open(this.#incoming, this.#headers, this);
    return this.#stream;
  }
}

/** Whether a client accepts this type. Without an Accept header, or with a wildcard, it accepts every type. */
export function accepts(accept: string | undefined, type: string): boolean {
  return (
    accept === undefined ||
    accept.includes(type) ||
    accept.includes('*/*') ||
    accept.includes(`${type.split('/')[0]}/*`)
  );
}
