import type { HeaderFields, Incoming } from './incoming.js';
import type { EventStream, Streams } from './streams.js';

export interface AnswerOptions {
  readonly streams: Streams;
  readonly headers: HeaderFields;
  /** The client went away, never reads, or has held the stream for too long. */
  readonly onEnd: (why: 'gone' | 'unread' | 'old') => void;
}

/** The answer to one POST: a single JSON body, or an event stream if something had to be said first. */
export class Answer {
  readonly #incoming: Incoming;
  readonly #options: AnswerOptions;
  readonly #mayStream: boolean;
  readonly #mustStream: boolean;
  #stream: EventStream | undefined;
  #finished = false;

  constructor(incoming: Incoming, options: AnswerOptions) {
    this.#incoming = incoming;
    this.#options = options;
    const accept = incoming.header('accept');
    this.#mayStream = accepts(accept, 'text/event-stream');
    this.#mustStream = this.#mayStream && !accepts(accept, 'application/json');
  }

  get mayStream(): boolean {
    return this.#mayStream;
  }

  get finished(): boolean {
    return this.#finished;
  }

  /** A client that takes only JSON goes without. */
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
    if (this.#stream === undefined) replyJson(this.#incoming, status, message, this.#options.headers);
    else {
      this.#stream.send({ data: message });
      this.#stream.end();
    }
  }

  /** Nobody is there any more. */
  abandon(): void {
    this.#finished = true;
  }

  #begin(): EventStream {
    const { streams, headers, onEnd } = this.#options;
    this.#stream ??= streams.open(this.#incoming, headers, { onEnd });
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
const jsonHeaders: HeaderFields = Object.freeze({ 'content-type': 'application/json' });
