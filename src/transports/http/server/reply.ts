import { printError, type RequestId } from '../../../jsonrpc/message.js';
import { McpError } from '../../../protocol/errors.js';
import { newestRevision } from '../../../protocol/tables/revisions.js';
import type { EventStream, StreamOwner, Streams } from './event-streams.js';
import type { HeaderFields, Incoming } from './incoming.js';

const ended = {
  gone: 'The client went away',
  unread: 'The client does not read its stream',
  old: 'The stream has been open for too long',
} as const;

/** The answer to one POST: a single JSON body, or an event stream if something had to be said first. */
export class ReplyWriter implements StreamOwner {
  /** The call that ends when the client went away, never reads, or has held the stream for too long. */
  call: { end(reason: McpError): void } | undefined;
  readonly #incoming: Incoming;
  readonly #streams: Streams;
  readonly #headers: HeaderFields;
  readonly #mayStream: boolean;
  readonly #mustStream: boolean;
  #stream: EventStream | undefined;
  #finished = false;

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

  /** A client that accepts only JSON gets no notifications. */
  notify(message: string): void {
    if (this.#finished || !this.#mayStream) return;
    this.#begin().send({ data: message });
  }

  /** Ends the answer; the status counts only where no stream has begun. */
  finish(message: string, status = 200): void {
    if (this.#finished) return;
    this.#finished = true;
    // A refusal keeps its status, whatever the client would rather read.
    if (this.#mustStream && status === 200) this.#begin();
    if (this.#stream === undefined) replyJson(this.#incoming, status, message, this.#headers);
    else {
      this.#stream.send({ data: message });
      this.#stream.end();
    }
  }

  /** Ends the answer with an error. */
  fail(id: RequestId, error: McpError): void {
    this.finish(printError(id, error.toWire(newestRevision)), error.status);
  }

  onEnd(why: keyof typeof ended): void {
    // The client is gone.
    if (why !== 'old') this.#finished = true;
    this.call?.end(new McpError('connection_closed', ended[why]));
  }

  #begin(): EventStream {
    this.#stream ??= this.#streams.open(this.#incoming, this.#headers, this);
    return this.#stream;
  }
}

/** Whether a client takes this type. Without an Accept header, or with a wildcard, it takes everything. */
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
/** The headers of an answer without others of its own. */
export const jsonHeaders: HeaderFields = Object.freeze({ 'content-type': JSON_TYPE });
