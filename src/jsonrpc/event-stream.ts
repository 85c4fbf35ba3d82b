import { PendingBytes } from './pending-bytes.js';

// Prints and reads server-sent events: WHATWG HTML, "Server-sent events".

export interface EventFields {
  readonly data: string;
  readonly id?: string | undefined;
  readonly event?: string | undefined;
  /** The time that the reader should wait before it reconnects, in milliseconds. */
  readonly retry?: number | undefined;
}

/** Prints one event. The reader gets every kind of line break in `data` as `\n`. */
export function printEvent({ data, id, event, retry }: EventFields): string {
  let text = '';
  if (event !== undefined) text += `event: ${oneLine('event', event)}\n`;
  if (id !== undefined) text += `id: ${oneLine('id', id)}\n`;
  if (retry !== undefined) text += `retry: ${wholeNumber(retry)}\n`;
  return `${text}${printLines('data: ', data)}\n`;
}

/** Prints a comment, which readers skip. Keeps a quiet connection open. */
export function printComment(text: string): string {
  return `${printLines(': ', text)}\n`;
}

function printLines(prefix: string, text: string): string {
  if (!text.includes('\n') && !text.includes('\r')) return `${prefix}${text}\n`;
  const lines = text.split(/\r\n|\r|\n/);
  return lines.map((line) => `${prefix}${line}\n`).join('');
}

function oneLine(field: string, value: string): string {
  if (value.includes('\n') || value.includes('\r') || value.includes('\0')) {
    throw new RangeError(`The ${field} of an event must not contain a line break or NUL.`);
  }
  return value;
}

function wholeNumber(retry: number): number {
  if (Number.isSafeInteger(retry) && retry >= 0) return retry;
  throw new RangeError(`The retry of an event must be a whole number of milliseconds, not ${retry}.`);
}

export interface StreamEvent {
  /** The type of the event. Default: `message`. */
  readonly event: string;
  /** Empty in an event that only carries an id to resume from. Spec 2025-11-25, Streamable HTTP. */
  readonly data: string;
  /** The last id so far: this event's own, or an earlier one. */
  readonly id: string | undefined;
  /** The delay before a reconnect that this event asks for, in milliseconds; absent if it asks for none. */
  readonly retry?: number;
}

/** An event was larger than the reader's `maxBytes`. The reader cannot be used any more. */
export class EventTooLarge extends RangeError {
  override readonly name = 'EventTooLarge';
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`An event in the stream is larger than ${maxBytes} bytes.`);
    this.maxBytes = maxBytes;
  }
}

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;

/**
 * Splits a stream of bytes into events, however it was chunked. `maxBytes` limits the lines of one event, without their breaks.
 * An event that is cut off by the end of the stream is not reported.
 */
export class EventStreamReader {
  readonly #maxBytes: number;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #pending = new PendingBytes();
  #atStart = true;
  #afterCr = false;
  #failure: EventTooLarge | undefined;

  // The event that is being read.
  #data: string[] = [];
  #dataBytes = 0;
  #event = '';
  #retry: number | undefined;
  // An id takes effect at the end of its event, and applies to later events too.
  #id: string | undefined;
  #lastEventId: string | undefined;
  #retryMs: number | undefined;

  constructor({ maxBytes }: { readonly maxBytes: number }) {
    this.#maxBytes = maxBytes;
  }

  /** The id to resume after. An event without data sets it too, although it is not reported. */
  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  /** The latest `retry` of the stream, also from an event without data. */
  get retryMs(): number | undefined {
    return this.#retryMs;
  }

  /**
   * Reads a chunk and yields its events one by one, so that events before one that is too large are not lost when `EventTooLarge`
   * is thrown. The iteration must be finished before the next `push`.
   */
  *push(chunk: Uint8Array): Generator<StreamEvent, void, undefined> {
    if (this.#failure !== undefined) throw this.#failure;
    let start = 0;
    let lf = chunk.indexOf(LF);
    let cr = chunk.indexOf(CR);
    if (this.#afterCr && chunk.length > 0) {
      this.#afterCr = false;
      if (lf === 0) {
        start = 1;
        lf = chunk.indexOf(LF, start);
      }
    }
    // The position of each kind of break is updated only when it is passed, so a kind that does not occur is searched for once.
    while (lf !== -1 || cr !== -1) {
      const endsWithCr = cr !== -1 && (lf === -1 || cr < lf);
      const end = endsWithCr ? cr : lf;
      const event = this.#readLine(chunk.subarray(start, end));
      if (event !== undefined) yield event;
      start = end + 1;
      if (endsWithCr) {
        // The line ends here. Whether a line feed belongs to this break may be known only with the next chunk.
        if (start === chunk.length) this.#afterCr = true;
        else if (lf === start) start += 1;
        cr = chunk.indexOf(CR, start);
      }
      if (lf !== -1 && lf < start) lf = chunk.indexOf(LF, start);
    }
    if (start < chunk.length) {
      const rest = chunk.subarray(start);
      this.#checkSize(rest.length);
      this.#pending.add(rest);
    }
  }

  #checkSize(more: number): void {
    if (this.#dataBytes + this.#pending.length + more <= this.#maxBytes) return;
    this.#pending.clear();
    this.#data = [];
    this.#failure = new EventTooLarge(this.#maxBytes);
    throw this.#failure;
  }

  #readLine(tail: Uint8Array): StreamEvent | undefined {
    this.#checkSize(tail.length);
    let line = this.#pending.length === 0 ? tail : this.#pending.take(tail);
    if (this.#atStart) {
      this.#atStart = false;
      if (line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf) line = line.subarray(3);
    }
    if (line.length === 0) return this.#dispatch();
    if (line[0] !== COLON) this.#readField(this.#decoder.decode(line), line.length);
    return undefined;
  }

  #readField(line: string, bytes: number): void {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    switch (name) {
      case 'data':
        this.#data.push(value);
        this.#dataBytes += bytes;
        break;
      case 'event':
        this.#event = value;
        break;
      case 'id':
        // An empty id resets the last one: then there is nothing to resume after.
        if (!value.includes('\0')) this.#id = value === '' ? undefined : value;
        break;
      case 'retry':
        this.#readRetry(value);
        break;
    }
  }

  #readRetry(value: string): void {
    const retry = /^[0-9]+$/.test(value) ? Number(value) : Number.NaN;
    if (!Number.isSafeInteger(retry)) return;
    this.#retry = retry;
    this.#retryMs = retry;
  }

  #dispatch(): StreamEvent | undefined {
    const [data, event, id, retry] = [this.#data, this.#event || 'message', this.#id, this.#retry];
    this.#lastEventId = id;
    this.#event = '';
    this.#retry = undefined;
    if (data.length === 0) return undefined;
    this.#data = [];
    this.#dataBytes = 0;
    const streamEvent = { event, data: data.length === 1 ? (data[0] ?? '') : data.join('\n'), id };
    return retry === undefined ? streamEvent : { ...streamEvent, retry };
  }
}
