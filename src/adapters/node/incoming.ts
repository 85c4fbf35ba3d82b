import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Auth } from '../../protocol/call.js';
import {
  BodyTooLarge,
  type HeaderFields,
  type Incoming,
  type Outlet,
} from '../../transports/http/incoming.js';

/**
 * Node's `req` and `res` as Incoming. They are used as they are: building a web `Request` and `Response` around them costs
 * more than all the rest of a call.
 */
export class NodeIncoming implements Incoming {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly raw: unknown;
  auth: Auth | undefined = undefined;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #parsedBody: unknown;
  #reading: Reading | undefined;

  /** A body that a framework has parsed already is handed in, and so is a request of the framework's own. */
  constructor(req: IncomingMessage, res: ServerResponse, parsedBody?: unknown, raw: unknown = req) {
    this.raw = raw;
    this.#req = req;
    this.#res = res;
    this.#parsedBody = parsedBody;
    this.method = req.method ?? 'GET';
    const url = (req as { originalUrl?: string }).originalUrl ?? req.url ?? '/';
    const mark = url.indexOf('?');
    this.path = mark === -1 ? url : url.slice(0, mark);
    this.query = mark === -1 ? '' : url.slice(mark);
  }

  get secure(): boolean {
    return (this.#req.socket as TLSSocket).encrypted === true;
  }

  get local(): boolean {
    const address = this.#req.socket.localAddress ?? '';
    return address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.');
  }

  get remoteAddress(): string | undefined {
    return this.#req.socket.remoteAddress;
  }

  header(name: string): string | undefined {
    const value = this.#req.headers[name];
    return typeof value === 'object' ? value.join(', ') : value;
  }

  text(maxBytes: number): Promise<string> {
    if (this.#parsedBody !== undefined) {
      const text = printed(this.#parsedBody);
      if (Buffer.byteLength(text) > maxBytes) return Promise.reject(new BodyTooLarge(maxBytes));
      return Promise.resolve(text);
    }
    const req = this.#req;
    if (Number(req.headers['content-length'] ?? 0) > maxBytes) {
      discardRest(req);
      return Promise.reject(new BodyTooLarge(maxBytes));
    }
    return new Promise((resolve, reject) => {
      let first: Buffer | undefined;
      let rest: Buffer[] | undefined;
      let bytes = 0;
      const data = (chunk: Buffer): void => {
        bytes += chunk.length;
        if (bytes > maxBytes) {
          req.off('data', data);
          discardRest(req);
          reject(new BodyTooLarge(maxBytes));
        } else if (first === undefined) first = chunk;
        else if (rest === undefined) rest = [first, chunk];
        else rest.push(chunk);
      };
      const end = (): void =>
        resolve(rest === undefined ? (first?.toString('utf8') ?? '') : Buffer.concat(rest).toString('utf8'));
      const close = (): void => {
        if (!req.complete) reject(new Error('The client went away while sending'));
      };
      req.on('data', data).on('end', end).on('error', reject).on('close', close);
      this.#reading = { data, end, error: reject, close };
    });
  }

  // The listeners hold the body. A short answer is soon gone, and they with it; a stream would hold them for hours.
  #forgetBody(): void {
    if (this.#reading === undefined) return;
    const { data, end, error, close } = this.#reading;
    this.#req.off('data', data).off('end', end).off('error', error).off('close', close);
    this.#reading = undefined;
  }

  reply(status: number, headers: HeaderFields, body?: string): void {
    const res = this.#res;
    if (res.headersSent || res.destroyed) return;
    // An explicit length lets Node send head and body in one write.
    if (body === undefined) res.writeHead(status, headers).end();
    else res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
  }

  stream(status: number, headers: HeaderFields): Outlet {
    const res = this.#res;
    res.writeHead(status, headers);
    res.flushHeaders();
    this.#forgetBody();
    return new NodeOutlet(res);
  }

  onGone(listener: () => void): void {
    const res = this.#res;
    res.on('close', () => {
      if (!res.writableFinished) listener();
    });
  }
}

interface Reading {
  readonly data: (chunk: Buffer) => void;
  readonly end: () => void;
  readonly error: (error: Error) => void;
  readonly close: () => void;
}

class NodeOutlet implements Outlet {
  readonly #res: ServerResponse;

  constructor(res: ServerResponse) {
    this.#res = res;
  }

  write(text: string): void {
    if (!this.#res.destroyed) this.#res.write(text);
  }

  end(): void {
    this.#res.end();
  }

  destroy(): void {
    this.#res.destroy();
  }

  buffered(): number {
    return this.#res.writableLength;
  }
}

const MOST_DISCARDED = 64 * 1024 * 1024;

// Read and thrown away, so that the client comes to its end and then to the answer: a connection that is closed while it
// still sends is reset, and the answer with it. Node's time limit for a request ends those that never come to an end.
function discardRest(req: IncomingMessage): void {
  let bytes = 0;
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MOST_DISCARDED) req.destroy();
  });
}

// What a body parser left behind: a value, a text, or bytes.
function printed(body: unknown): string {
  if (typeof body === 'string') return body;
  return body instanceof Uint8Array ? Buffer.from(body).toString('utf8') : JSON.stringify(body);
}
