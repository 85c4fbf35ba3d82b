// Requests to a handler of `node:http` in the same process. Both ends speak real HTTP over a pair of streams, so that the handler gets the
// requests and responses that it knows, and no port is open that others could reach. Node documents that any duplex stream may be
// passed to a server as a connection.

import { createServer, type IncomingMessage, type RequestListener, request as sendRequest } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** Makes a function of web requests from a handler of `node:http`. */
export function listenerRequests(listener: RequestListener): (request: Request) => Promise<Response> {
  const server = createServer(listener);
  return async function toListener(request) {
    const { method, headers, signal } = request;
    const { host, pathname, search } = new URL(request.url);
    const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
    signal.throwIfAborted();
    const reply = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = sendRequest({
        ...{ method, path: `${pathname}${search}`, signal },
        headers: { host, ...Object.fromEntries(headers) },
        // Without an agent: one would open connections of its own.
        createConnection() {
          const [near, far] = connectedPair();
          server.emit('connection', far);
          return near as Socket;
        },
      });
      sent.once('response', resolve).once('error', reject);
      sent.end(body);
    });
    return toResponse(reply, method);
  };
}

function toResponse(reply: IncomingMessage, method: string): Response {
  const { statusCode: status = 502, rawHeaders } = reply;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] as string, rawHeaders[at + 1] as string);
  const isEmpty = method === 'HEAD' || status === 204 || status === 205 || status === 304;
  if (isEmpty) reply.resume();
  return new Response(isEmpty ? null : webBody(reply), { status, headers });
}

/** Not `Readable.toWeb`: on Node 20, a chunk that arrives after its reader has cancelled is an uncaught exception. */
function webBody(reply: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = reply[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => void reply.destroy(),
  });
}

/** Two streams, each of which reads what is written to the other: the client's, and the server's. */
function connectedPair(): readonly [Duplex, Duplex] {
  const near: End = new End({ other: () => far, isClient: true });
  const far: End = new End({ other: () => near, isClient: false });
  return [near, far];
}

interface EndParts {
  readonly other: () => End;
  readonly isClient: boolean;
}

/** One end of a connection. A chunk counts as written when the other end has room for more. */
class End extends Duplex {
  readonly #parts: EndParts;
  #resume: (() => void) | undefined;
  #hasEnded = false;

  constructor(parts: EndParts) {
    super();
    this.#parts = parts;
  }

  override _read(): void {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const other = this.#parts.other();
    if (other.push(chunk)) done();
    else other.#resume = done;
  }

  override _final(done: () => void): void {
    this.#parts.other().#receiveEnd();
    done();
  }

  // A client that is gone reads nothing, and a handler that waits for it must learn that at once. A server that is gone has often sent
  // its whole reply, which the client still has to read.
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const other = this.#parts.other();
    // Not in the same turn: the other end may be in the middle of a write.
    process.nextTick(() => {
      if (this.#parts.isClient) other.destroy();
      else other.#receiveEnd();
    });
    done(error);
  }

  #receiveEnd(): void {
    if (this.#hasEnded || this.destroyed) return;
    this.#hasEnded = true;
    this.push(null);
  }
}
