import { printError, type RequestId } from '../../../jsonrpc/message.js';
import { McpError } from '../../../protocol/errors.js';
import { newestRevision } from '../../../protocol/tables/revisions.js';
import type { EventStream, StreamOwner, Streams } from './event-streams.js';
import type { HeaderFields, Incoming } from './incoming.js';

const endReasons = {
  gone: 'The client went away',
  unread: 'The client does not read its stream',
  old: 'The stream has been open for too long',
} as const;

/** Writes the reply to one POST: a single JSON body, or an event stream if notifications precede the response. */
export class ReplyWriter implements StreamOwner {
  /** The call to end when the client disconnects, does not read, or has had the stream open for too long. */
  call: { end(reason: McpError): void } | undefined;
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

  get mayStream(): boolean {
    return this.#mayStream;
  }

  /** Sends a notification. A client that accepts only JSON does not get it. */
  notify(message: string): void {
    if (this.#isFinished || !this.#mayStream) return;
    this.#openStream().send({ data: message });
  }

  /** Ends the reply with a response. The status is used only if no stream has begun. */
  finish(message: string, status = 200): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    // A refusal keeps its status, even if the client prefers a stream.
    if (this.#mustStream && status === 200) this.#openStream();
    if (this.#stream === undefined) replyJson(this.#incoming, status, message, this.#headers);
    else {
      this.#stream.send({ data: message });
      this.#stream.end();
    }
  }

  /** Ends the reply with an error. */
  fail(id: RequestId, error: McpError): void {
    this.finish(printError(id, error.toWire(newestRevision)), error.status);
  }

  onEnd(why: keyof typeof endReasons): void {
    // Nothing can be written to a client that is gone or does not read.
    if (why !== 'old') this.#isFinished = true;
    this.call?.end(new McpError('connection_closed', endReasons[why]));
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

export function replyJson(incoming: Incoming, status: number, json: string, headers: HeaderFields): void {
  incoming.reply(status, headers === noHeaders ? jsonHeaders : { ...jsonHeaders, ...headers }, json);
}

export const noHeaders: HeaderFields = Object.freeze({});
export const JSON_TYPE = 'application/json';
/** The headers of a JSON reply that has no others. */
export const jsonHeaders: HeaderFields = Object.freeze({ 'content-type': JSON_TYPE });
