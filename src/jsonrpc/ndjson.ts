import { END_BYTES, type Ends, idAtHead, idAtTail } from './long-message.js';
import { PendingBytes } from './pending-bytes.js';

// Newline framing: bytes in, lines out. The hot path of stdio.

/**
 * A line without its newline, or the news that one was too long. `bytes` is how many had come when that was noticed; of the rest
 * of the line only its end is looked at, for the id of the message.
 */
export type Line =
  | { readonly tooLong: false; readonly text: string }
  | { readonly tooLong: true; readonly bytes: number; readonly ends: Ends | undefined };

const LF = 0x0a;
const CR = 0x0d;

/**
 * Cuts a stream of bytes into lines, however it was chunked. Empty lines are skipped, a carriage return before
 * the newline and a byte order mark at the very start are dropped, and invalid UTF-8 becomes U+FFFD.
 * `maxBytes` counts the bytes before the newline. A chunk must not be reused by its owner before the line that
 * begins in it has ended.
 */
export class LineReader {
  readonly #maxBytes: number;
  // The mark is dropped by hand and only once: a line in the middle that begins with U+FEFF keeps it.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #pending = new PendingBytes();
  /** The line that is being dropped: what was seen of it, unless that was told already. */
  #dropped: Dropped | undefined;
  #atStart = true;

  constructor({ maxBytes }: { readonly maxBytes: number }) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Uint8Array): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      const line = this.#finish(chunk.subarray(start, end));
      if (line !== undefined) lines.push(line);
      start = end + 1;
    }
    if (start < chunk.length) {
      const line = this.#keep(chunk.subarray(start));
      if (line !== undefined) lines.push(line);
    }
    return lines;
  }

  /** The stream has ended: gives what came after the last newline. */
  end(): Line | undefined {
    return this.#finish(new Uint8Array(0));
  }

  #finish(tail: Uint8Array): Line | undefined {
    const atStart = this.#atStart;
    this.#atStart = false;
    if (this.#dropped !== undefined) return this.#drop(tail, this.#dropped);
    const bytes = this.#pending.length + tail.length;
    if (bytes > this.#maxBytes) {
      const line = this.#pending.take(tail);
      const [head, end] = [this.#text(line.subarray(0, END_BYTES)), this.#text(line.subarray(-END_BYTES))];
      return { tooLong: true, bytes, ends: idAtHead(head) ?? idAtTail(head, end) };
    }
    const line = this.#pending.length === 0 ? tail : this.#pending.take(tail);
    const from = atStart && hasMark(line) ? 3 : 0;
    const to = line[line.length - 1] === CR ? line.length - 1 : line.length;
    if (to <= from) return undefined;
    return { tooLong: false, text: this.#text(line.subarray(from, to)) };
  }

  #keep(rest: Uint8Array): Line | undefined {
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
    // A line that may never end is told at once where that is all there is to tell.
    const isTold = ends !== undefined || !head.trimStart().startsWith('{');
    this.#dropped = { head, tail: line.slice(-END_BYTES), bytes, isTold };
    return isTold ? { tooLong: true, bytes, ends } : undefined;
  }

  /** The line that is being dropped has ended. */
  #drop(rest: Uint8Array, { head, tail, bytes, isTold }: Dropped): Line | undefined {
    this.#dropped = undefined;
    if (isTold) return undefined;
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
  readonly isTold: boolean;
}

function lastOf(before: Uint8Array, rest: Uint8Array): Uint8Array {
  if (rest.length >= END_BYTES) return rest.slice(-END_BYTES);
  const joined = new Uint8Array(before.length + rest.length);
  joined.set(before);
  joined.set(rest, before.length);
  return joined.slice(-END_BYTES);
}

function hasMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/**
 * A message as a line. The line and paragraph separators of Unicode may stand in JSON as they are, but some readers, Node's
 * own `readline` among them, take them for the end of a line.
 */
export function printLine(json: string): string {
  if (!json.includes('\u2028') && !json.includes('\u2029')) return `${json}\n`;
  return `${json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`;
}
