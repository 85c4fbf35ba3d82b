import type { IncomingMessage } from 'node:http';
import {
  type BodyLimits,
  type BodyReceiver,
  BodyTooLarge,
} from '../../../transports/http/server/incoming.js';
import { BodyWatch, UNWATCHED, type WatchedBody } from './body-watch.js';

const bodies = new BodyWatch();

/** The body of a request of `node:http` while it is being read. */
export class NodeBody implements WatchedBody {
  bytes = 0;
  lastBytes = -1;
  progressAt = 0;
  slot: number = UNWATCHED;
  isOver = false;
  readonly silenceMs: number;
  readonly #req: IncomingMessage;
  readonly #maxBytes: number;
  readonly #receiver: BodyReceiver;
  #first: Buffer | undefined;
  #rest: Buffer[] | undefined;

  constructor(req: IncomingMessage, { maxBytes, silenceMs }: BodyLimits, receiver: BodyReceiver) {
    this.#req = req;
    this.#maxBytes = maxBytes;
    this.silenceMs = silenceMs;
    this.#receiver = receiver;
    if (Number(req.headers['content-length'] ?? 0) > maxBytes) this.#refuse();
    else {
      req.on('data', this.#onData).on('end', this.onBodyEnd);
      bodies.expect(this);
    }
  }

  /** Listens for a client that disconnects. Most bodies are complete before that is needed. */
  expectMore(): void {
    if (this.#req.destroyed) this.#onClose();
    else this.#req.on('error', this.fail).on('close', this.#onClose);
  }

  readonly fail = (error: Error): void => {
    if (this.isOver) return;
    this.#finish();
    this.#receiver.fail(error);
  };

  /** Removes the listeners: a stream would hold them, and everything they refer to, for hours. */
  forget(): void {
    this.#req.off('data', this.#onData).off('end', this.onBodyEnd).off('error', this.fail);
    this.#req.off('close', this.#onClose);
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.isOver) return;
    this.bytes += chunk.length;
    if (this.bytes > this.#maxBytes) this.#refuse();
    else if (this.#first === undefined) this.#first = chunk;
    else if (this.#rest === undefined) this.#rest = [this.#first, chunk];
    else this.#rest.push(chunk);
  };

  // Not private: the build shortens private names, and this one is in every stack trace.
  readonly onBodyEnd = (): void => {
    if (this.isOver) return;
    const text = (this.#rest === undefined ? this.#first : Buffer.concat(this.#rest))?.toString('utf8');
    this.#finish();
    this.#receiver.receiveBody(text ?? '');
  };

  readonly #onClose = (): void => {
    if (!this.#req.complete) this.fail(new Error('The client went away while sending'));
  };

  #refuse(): void {
    this.#req.off('data', this.#onData);
    discardRest(this.#req);
    this.fail(new BodyTooLarge(this.#maxBytes));
  }

  #finish(): void {
    this.isOver = true;
    this.#first = undefined;
    this.#rest = undefined;
    bodies.forget(this);
  }
}

const MAX_DISCARDED = 64 * 1024 * 1024;

// Reads and discards the rest, so that the client finishes sending and then reads the reply: closing a connection while the
// client still sends resets it, and the reply is lost. Node's own request timeout ends bodies that never end.
function discardRest(req: IncomingMessage): void {
  let bytes = 0;
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_DISCARDED) req.destroy();
  });
}
