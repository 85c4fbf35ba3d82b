import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Auth } from '../../../protocol/call.js';
import {
  type BodyLimits,
  type BodyReceiver,
  BodyTooLarge,
  type HeaderFields,
  type Incoming,
  JSON_TYPE,
  jsonHeaders,
  type Outlet,
  type Protection,
} from '../../../transports/http/server/incoming.js';
import { NodeBody } from './body.js';
import { hasPipelined, pipelinedOn, whilePipelined } from './pipelined.js';

/**
 * Node's `req` and `res` as an `Incoming`. They are used as they are: building a web `Request` and `Response` around them costs
 * more than all the rest of a call.
 */
export class NodeIncoming implements Incoming {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly raw: unknown;
  auth: Auth | undefined = undefined;
  protection: Protection | undefined = undefined;
  readonly #req: IncomingMessage;
  readonly #headers: IncomingHttpHeaders;
  readonly #res: ServerResponse;
  readonly #parsedBody: unknown;
  writeTimeoutMs = 0;
  endpoint: { readonly isLeaving: boolean } | undefined = undefined;
  #body: NodeBody | undefined;
  #authority: string | undefined;

  /** Takes a body that a framework has already parsed, and the framework's own request. */
  constructor(req: IncomingMessage, res: ServerResponse, parsedBody?: unknown, raw: unknown = req) {
    this.raw = raw;
    this.#req = req;
    this.#headers = req.headers;
    this.#res = res;
    this.#parsedBody = parsedBody;
    this.method = req.method ?? 'GET';
    const url = (req as { originalUrl?: string }).originalUrl ?? req.url ?? '/';
    const start = url.charCodeAt(0) === SLASH ? 0 : this.#readAuthority(url);
    const mark = url.indexOf('?', start);
    this.path = mark === -1 ? url.slice(start) : url.slice(start, mark);
    this.query = mark === -1 ? '' : url.slice(mark);
  }

  // RFC 9112, 3.2.2: a server accepts a target in absolute form, and then ignores the Host header.
  #readAuthority(url: string): number {
    const scheme = url.slice(0, 8).toLowerCase();
    const from = scheme.startsWith('http://') ? 7 : scheme === 'https://' ? 8 : 0;
    if (from === 0) return 0;
    const slash = url.indexOf('/', from);
    const mark = url.indexOf('?', from);
    const end = Math.min(slash === -1 ? url.length : slash, mark === -1 ? url.length : mark);
    this.#authority = url.slice(from, end);
    return end;
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

  get version(): string {
    return this.#req.httpVersion;
  }

  header(name: string): string | undefined {
    if (this.#authority !== undefined && name === 'host') return this.#authority;
    if (name === 'authorization' || name === 'host') return this.#onlyOne(name);
    const value = this.#headers[name];
    return typeof value === 'object' ? value.join(', ') : value;
  }

  // Node keeps only the first one of several. A proxy in front may have checked another one, so none of them is valid.
  #onlyOne(name: 'authorization' | 'host'): string | undefined {
    const first = this.#headers[name];
    if (first === undefined) return undefined;
    const { rawHeaders } = this.#req;
    const all: string[] = [];
    for (let at = 0; at < rawHeaders.length; at += 2)
      if (rawHeaders[at]?.length === name.length && rawHeaders[at]?.toLowerCase() === name)
        all.push(rawHeaders[at + 1] ?? '');
    return all.length > 1 ? all.join(', ') : first;
  }

  *headerFields(): Iterable<readonly [string, string]> {
    for (const name of Object.keys(this.#headers)) yield [name, this.header(name) ?? ''];
  }

  read(limits: BodyLimits, receiver: BodyReceiver): void {
    if (this.#parsedBody === undefined) this.#body = new NodeBody(this.#req, limits, receiver);
    else {
      const text = toText(this.#parsedBody, this.header('content-type'));
      if (Buffer.byteLength(text) > limits.maxBytes) receiver.fail(new BodyTooLarge(limits.maxBytes));
      else receiver.receiveBody(text);
    }
  }

  reply(status: number, headers: HeaderFields, body?: string): void {
    const res = this.#res;
    if (res.headersSent || res.destroyed) return;
    this.#endIfLeaving();
    // An explicit length lets Node send head and body in one write.
    if (body === undefined) res.writeHead(status, headers).end();
    else {
      const bytes = Buffer.byteLength(body);
      res.writeHead(
        status,
        headers === jsonHeaders
          ? { 'content-type': JSON_TYPE, 'content-length': bytes }
          : { ...headers, 'content-length': bytes },
      );
      // ASCII is the same in both, and latin1 is copied, while UTF-8 is encoded.
      res.end(body, bytes === body.length ? 'latin1' : 'utf8');
    }
    this.#watchWriting();
  }

  async respond(response: Response): Promise<void> {
    const res = this.#res;
    const body = Buffer.from(await response.arrayBuffer());
    if (res.headersSent || res.destroyed) return;
    const headers: Record<string, string | string[]> = Object.fromEntries(response.headers);
    this.#endIfLeaving();
    const cookies = response.headers.getSetCookie();
    if (cookies.length > 0) headers['set-cookie'] = cookies;
    res.writeHead(response.status, { ...headers, 'content-length': body.length }).end(body);
    this.#watchWriting();
  }

  // A client that keeps its connection would send its next request to a server that is shutting down.
  #endIfLeaving(): void {
    if (this.endpoint?.isLeaving && this.#req.httpVersionMajor === 1)
      this.#res.setHeader('connection', 'close');
  }

  // Bytes that the kernel accepted at once are not unread. A pipelined reply has no connection yet.
  #watchWriting(): void {
    const { socket } = this.#res;
    if (socket === null) this.#res.once('socket', () => setImmediate(() => this.#limitWriting()));
    else if (socket.writableLength > 0) this.#limitWriting();
  }

  // Uses Node's own timer of the connection: it restarts whenever the client reads, closes the connection when it expires, and
  // is returned to Node after the reply.
  #limitWriting(): void {
    const { socket } = this.#res;
    if (socket === null || socket.writableLength === 0) return;
    socket.setTimeout(this.writeTimeoutMs);
    // Node does not reset the timer when a pipelined reply follows, which may take long.
    this.#res.once('finish', () => {
      if (hasPipelined(socket) && socket.timeout === this.writeTimeoutMs) socket.setTimeout(0);
    });
  }

  stream(status: number, headers: HeaderFields): Outlet {
    const res = this.#res;
    this.#endIfLeaving();
    res.writeHead(status, headers);
    res.flushHeaders();
    this.#body?.forget();
    this.#body = undefined;
    return new NodeOutlet(res, this.#req.socket);
  }

  onGone(listener: () => void): void {
    const res = this.#res;
    const { socket } = this.#req;
    // The client may have disconnected while the body was being read.
    if (socket.destroyed) return queueMicrotask(listener);
    if (res.socket === null) res.once('socket', whilePipelined(socket, listener));
    res.on('close', () => {
      if (!res.writableFinished) listener();
    });
  }
}

class NodeOutlet implements Outlet {
  readonly #res: ServerResponse;
  readonly #connection: Socket;

  constructor(res: ServerResponse, connection: Socket) {
    this.#res = res;
    this.#connection = connection;
  }

  write(text: string): void {
    if (!this.#res.destroyed) this.#res.write(text);
  }

  end(): void {
    this.#res.end();
  }

  destroy(): void {
    // A pipelined reply has no connection to destroy yet, and would keep its data.
    if (this.#res.socket === null) this.#connection.destroy();
    this.#res.destroy();
  }

  /** Pipelined streams share one limit for unread bytes. */
  buffered(): number {
    return this.#res.writableLength * Math.max(1, pipelinedOn(this.#connection));
  }
}

const SLASH = 0x2f;

// The result of a framework's body parser: a value, a string, or bytes.
function toText(body: unknown, type = ''): string {
  if (typeof body === 'string') return body;
  if (type.startsWith('application/x-www-form-urlencoded') && !(body instanceof Uint8Array))
    return new URLSearchParams(body as Record<string, string>).toString();
  return body instanceof Uint8Array ? Buffer.from(body).toString('utf8') : JSON.stringify(body);
}
