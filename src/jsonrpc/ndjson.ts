import { END_BYTES, type Ends, idAtHead, idAtTail } from './long-message.js';
import { PendingBytes } from './pending-bytes.js';

// Newline framing: splits bytes into lines, and prints messages as lines. The hot path of stdio.

/**
 * A line without its newline, or a report that a line was too long. `bytes` is the number of bytes up to that point. Of the rest
 * of the line only its end is read, for the id of the message.
 */
export type Line =
  | { readonly tooLong: false; readonly text: string }
  | { readonly tooLong: true; readonly bytes: number; readonly ends: Ends | undefined };

const LF = 0x0a;
const CR = 0x0d;

/** Decodes a part of some bytes as UTF-8. A byte order mark stays, and invalid bytes become U+FFFD. */
export type Decode = (bytes: Uint8Array, from: number, to: number) => string;

export interface LineReaderOptions {
  readonly maxBytes: number;
  /** A faster way to decode than `TextDecoder`, where the runtime has one. */
  readonly decode?: Decode;
}

/**
 * Splits a stream of bytes into lines, however it was chunked. Empty lines are skipped, a carriage return before the newline and
 * a byte order mark at the very start are dropped, and invalid UTF-8 becomes U+FFFD. `maxBytes` limits the bytes before the
 * newline. The owner of a chunk must not reuse it before the line that begins in it has ended.
 */
export class LineReader {
  readonly #maxBytes: number;
  readonly #decode: Decode;
  // Only the mark at the start of the stream is dropped, so the decoder must not drop any: a later line may begin with U+FEFF.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #pending = new PendingBytes();
  /** The line that is being dropped, because it is too long. */
  #dropped: Dropped | undefined;
  #atStart = true;

  constructor({ maxBytes, decode }: LineReaderOptions) {
    this.#maxBytes = maxBytes;
    this.#decode = decode ?? ((bytes, from, to) => this.#text(bytes.subarray(from, to)));
  }

  push(chunk: Uint8Array): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      const line = this.#isPlain(end - start)
        ? this.#read(chunk, start, end)
        : this.#finish(chunk.subarray(start, end));
      if (line !== undefined) lines.push(line);
      start = end + 1;
    }
    if (start < chunk.length) {
      const line = this.#addPending(chunk.subarray(start));
      if (line !== undefined) lines.push(line);
    }
    return lines;
  }

  /** Ends the stream. Returns the rest after the last newline. */
  end(): Line | undefined {
    return this.#finish(new Uint8Array(0));
  }

  /** Whether a line is whole in its chunk, and not too long. */
  #isPlain(bytes: number): boolean {
    return this.#dropped === undefined && this.#pending.length === 0 && bytes <= this.#maxBytes;
  }

  /** Reads a line in place: most lines are whole in their chunk, and a view of a part of it costs as much as its text. */
  #read(chunk: Uint8Array, start: number, end: number): Line | undefined {
    const from = this.#atStart && hasMark(chunk, start) ? start + 3 : start;
    this.#atStart = false;
    const to = chunk[end - 1] === CR ? end - 1 : end;
    return to <= from ? undefined : { tooLong: false, text: this.#decode(chunk, from, to) };
  }

  #finish(tail: Uint8Array): Line | undefined {
    if (this.#dropped !== undefined) return this.#endDropped(tail, this.#dropped);
    const bytes = this.#pending.length + tail.length;
    if (bytes > this.#maxBytes) {
      this.#atStart = false;
      const line = this.#pending.take(tail);
      const [head, end] = [this.#text(line.subarray(0, END_BYTES)), this.#text(line.subarray(-END_BYTES))];
      return { tooLong: true, bytes, ends: idAtHead(head) ?? idAtTail(head, end) };
    }
    const line = this.#pending.length === 0 ? tail : this.#pending.take(tail);
    return this.#read(line, 0, line.length);
  }

  #addPending(rest: Uint8Array): Line | undefined {
    if (this.#dropped !== undefined) {
      this.#dropped.tail = lastOf(this.#dropped.tail, rest);
      return undefined;
    }
    const bytes = this.#pending.length + rest.length;
    if (bytes <= this.#maxBytes) {
      this.#pending.add(rest);
      return undefined;
    }
    const line = this.#pending.take(rest);
    const head = this.#text(line.subarray(0, END_BYTES));
    const ends = idAtHead(head);
    // The line may never end, so it is reported at once, unless its end may still show the id.
    const isReported = ends !== undefined || !head.trimStart().startsWith('{');
    this.#dropped = { head, tail: line.slice(-END_BYTES), bytes, isReported };
    return isReported ? { tooLong: true, bytes, ends } : undefined;
  }

  /** Ends the line that is being dropped. */
  #endDropped(rest: Uint8Array, { head, tail, bytes, isReported }: Dropped): Line | undefined {
    this.#dropped = undefined;
    this.#atStart = false;
    if (isReported) return undefined;
    return { tooLong: true, bytes, ends: idAtTail(head, this.#text(lastOf(tail, rest))) };
  }

  #text(bytes: Uint8Array): string {
    return this.#decoder.decode(bytes);
  }
}

interface Dropped {
  readonly head: string;
  tail: Uint8Array;
  readonly bytes: number;
  readonly isReported: boolean;
}

function lastOf(before: Uint8Array, rest: Uint8Array): Uint8Array {
  if (rest.length >= END_BYTES) return rest.slice(-END_BYTES);
  const joined = new Uint8Array(before.length + rest.length);
  joined.set(before);
  joined.set(rest, before.length);
  return joined.slice(-END_BYTES);
}

function hasMark(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf;
}

/**
 * Prints a message as a line. JSON may contain the line and paragraph separators of Unicode as they are, but some readers,
 * including Node's own `readline`, take them for the end of a line.
 */
export function printLine(json: string): string {
  if (!json.includes('\u2028') && !json.includes('\u2029')) return `${json}\n`;
  return `${json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`;
}
