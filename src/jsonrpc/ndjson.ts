import { PendingBytes } from './pending-bytes.js';

// Newline framing: bytes in, lines out. The hot path of stdio.

/**
 * A line without its newline, or the news that one was too long. `bytes` is how many had come when that was
 * noticed; the rest of the line is dropped unseen.
 */
export type Line =
  | { readonly tooLong: false; readonly text: string }
  | { readonly tooLong: true; readonly bytes: number };

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
  #dropping = false;
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
    if (this.#dropping) {
      this.#dropping = false;
      return undefined;
    }
    const bytes = this.#pending.length + tail.length;
    if (bytes > this.#maxBytes) {
      this.#pending.clear();
      return { tooLong: true, bytes };
    }
    const line = this.#pending.length === 0 ? tail : this.#pending.take(tail);
    const from = atStart && hasMark(line) ? 3 : 0;
    const to = line[line.length - 1] === CR ? line.length - 1 : line.length;
    if (to <= from) return undefined;
    return { tooLong: false, text: this.#decoder.decode(line.subarray(from, to)) };
  }

  #keep(rest: Uint8Array): Line | undefined {
    if (this.#dropping) return undefined;
    const bytes = this.#pending.length + rest.length;
    if (bytes <= this.#maxBytes) {
      this.#pending.add(rest);
      return undefined;
    }
    this.#pending.clear();
    this.#dropping = true;
    return { tooLong: true, bytes };
  }
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
