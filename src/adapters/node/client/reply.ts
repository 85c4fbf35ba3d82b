import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { quote } from '../../../protocol/encoding/shorten.js';
import { McpError } from '../../../protocol/errors.js';
import type { HttpReply } from '../../../transports/http/client/carrier.js';

export interface ReplyParts {
  readonly url: URL;
  /** The longest silence while the body is being read. */
  readonly idleMs: number;
  /** Called once, when nothing more of the reply will be read. */
  readonly release: () => void;
}

/** A reply of Node's HTTP client. */
export class NodeReply implements HttpReply {
  readonly status: number;
  readonly opaque = false;
  readonly hidesHeaders = false;
  readonly #message: IncomingMessage;
  readonly #parts: ReplyParts;
  #error: Error | undefined;
  #body: AsyncIterator<Uint8Array> | undefined;
  #idle: NodeJS.Timeout | undefined;
  #isReleased = false;

  constructor(message: IncomingMessage, parts: ReplyParts) {
    this.status = message.statusCode ?? 0;
    this.#message = message;
    this.#parts = parts;
    message.on('error', (error) => {
      this.#error ??= error;
    });
  }

  get url(): string {
    return this.#parts.url.href;
  }

  header(name: string): string | undefined {
    const value = this.#message.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  headerNames(): readonly string[] {
    return Object.keys(this.#message.headers);
  }

  async text(maxBytes: number): Promise<string | undefined> {
    const message = this.#message;
    if (Number(this.header('content-length')) > maxBytes) {
      this.cancel();
      return undefined;
    }
    const isPlain = this.header('content-encoding') === undefined;
    // Almost every reply is complete already, and is read at once.
    if (
      isPlain &&
      message.complete &&
      message.readableLength <= maxBytes &&
      !this.#error &&
      !this.#isReleased
    ) {
      const bytes: Buffer | null = message.read();
      this.#release();
      return bytes === null ? '' : toText(bytes);
    }
    return this.#readLimited(maxBytes);
  }

  async read(): Promise<Uint8Array | undefined> {
    if (this.#error) throw this.#error;
    if (this.#isReleased) return undefined;
    try {
      this.#body ??= decompress(this.#message, this.header('content-encoding'))[Symbol.asyncIterator]();
      this.#startIdleTimer();
      const { done, value } = await this.#body.next();
      if (!done) return value;
      this.#release();
      return undefined;
    } catch (error) {
      const cause = this.#error ?? error;
      this.cancel();
      throw cause;
    }
  }

  cancel(): void {
    // After a complete reply, the connection can be used again.
    if (this.#message.complete) this.#message.resume();
    else this.#message.destroy();
    this.#release();
  }

  /** Ends the reading with an error for the reader. */
  fail(reason: Error): void {
    this.#error ??= reason;
    this.#message.destroy(reason);
    this.#release();
  }

  async #readLimited(maxBytes: number): Promise<string | undefined> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for (;;) {
      const chunk = await this.read();
      if (chunk === undefined) return toText(Buffer.concat(chunks));
      bytes += chunk.length;
      if (bytes > maxBytes) {
        this.cancel();
        return undefined;
      }
      chunks.push(chunk);
    }
  }

  #startIdleTimer(): void {
    const { idleMs } = this.#parts;
    if (this.#idle !== undefined) {
      this.#idle.refresh();
      return;
    }
    this.#idle = setTimeout(() => this.fail(idleError(idleMs)), idleMs);
    this.#idle.unref();
  }

  #release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    clearTimeout(this.#idle);
    this.#parts.release();
  }
}

function toText(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** A compressed stream is flushed after each event, so it is decompressed event by event. */
const FLUSHED = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const BROTLI = {
  flush: constants.BROTLI_OPERATION_FLUSH,
  finishFlush: constants.BROTLI_OPERATION_FLUSH,
};

function decompress(message: IncomingMessage, encoding = 'identity'): Readable {
  switch (encoding.trim().toLowerCase()) {
    case 'identity':
    case '':
      return message;
    case 'gzip':
    case 'x-gzip':
      return pipeThrough(message, createGunzip(FLUSHED));
    case 'deflate':
      return pipeThrough(message, createInflate(FLUSHED));
    case 'br':
      return pipeThrough(message, createBrotliDecompress(BROTLI));
    default:
      throw new McpError(
        'bad_response',
        `The reply is encoded as ${quote(encoding, 64)}, which was not requested and cannot be read.`,
      );
  }
}

function pipeThrough<T extends Readable & NodeJS.WritableStream>(message: IncomingMessage, decoder: T): T {
  message.on('error', (error) => decoder.destroy(error));
  message.on('close', () => message.complete || decoder.destroy(truncatedError()));
  return message.pipe(decoder);
}

function truncatedError(): Error {
  return Object.assign(new Error('The body broke off'), { code: 'ECONNRESET' });
}

function idleError(ms: number): Error {
  return Object.assign(new Error(`Nothing came for ${ms} ms`), { code: 'ETIMEDOUT' });
}
