import { callAt } from '../../../async/call-at.js';
import { every } from '../../../async/every.js';
import { isBehind } from '../../../async/unread.js';
import { type EventFields, printComment, printEvent } from '../../../jsonrpc/event-stream.js';
import type { HeaderFields, Incoming, Outlet } from './incoming.js';

/** The limits of event streams. */
export interface StreamLimits {
  /** A comment is sent after this long without an event, so that proxies keep the connection open. Default: 15 s. */
  readonly keepAliveMs: number;
  /** A stream that has been open for this long is ended; its client may open another. Default: 1 hour. */
  readonly maxAgeMs: number;
  /** A client that leaves more than this unread is disconnected. Default: 4 MB. */
  readonly maxBufferedBytes: number;
}

/** An open event stream. */
export interface EventStream {
  send(event: EventFields): void;
  end(): void;
}

export interface StreamOwner {
  /** Whether events come at intervals, so that no comments are sent. Default: they do not. */
  readonly hasHeartbeat?: boolean;
  /** Called when the client is gone or does not read, or when the owner has to end the stream: it is too old, or its token has expired. */
  readonly onEnd: (why: StreamEnd) => void;
}

/** Why a stream ends before it is complete. */
export type StreamEnd = 'gone' | 'unread' | 'old' | 'expired';

interface OpenStream {
  readonly outlet: Outlet;
  readonly openedAt: number;
  readonly owner: StreamOwner;
  lastEventAt: number;
  stopTimer: (() => void) | undefined;
  /** Stops the clock of the token that has opened the stream. */
  stopExpiry: (() => void) | undefined;
  /** Stops the checks of that token. */
  stopWatch: (() => void) | undefined;
}

const streamHeaders: HeaderFields = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Otherwise proxies would hold events back until their buffer is full.
  'x-accel-buffering': 'no',
};

/** The open event streams of an endpoint: keeps them alive, and ends them when they are too old. */
export class Streams {
  readonly #open = new Set<OpenStream>();
  readonly #limits: StreamLimits;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#open.size;
  }

  open(incoming: Incoming, headers: HeaderFields, owner: StreamOwner): EventStream {
    const outlet = incoming.stream(200, { ...streamHeaders, ...headers });
    const now = performance.now();
    const stream: OpenStream = {
      outlet,
      openedAt: now,
      lastEventAt: now,
      owner,
      stopTimer: undefined,
      stopExpiry: undefined,
      stopWatch: undefined,
    };
    this.#open.add(stream);
    stream.stopTimer = this.#startTimer(stream);
    const expiresAt = incoming.auth?.expiresAt;
    if (expiresAt !== undefined) stream.stopExpiry = callAt(expiresAt, () => owner.onEnd('expired'));
    stream.stopWatch = incoming.protection?.watch(incoming, () => owner.onEnd('expired'));
    incoming.onGone(() => this.#lose(stream, 'gone'));
    return {
      send: (event) => {
        if (!this.#open.has(stream)) return;
        if (isBehind(outlet.buffered(), this.#limits.maxBufferedBytes)) {
          outlet.destroy();
          return this.#lose(stream, 'unread');
        }
        outlet.write(printEvent(event));
        stream.lastEventAt = performance.now();
      },
      end: () => {
        if (this.#forget(stream)) outlet.end();
      },
    };
  }

  #lose(stream: OpenStream, why: StreamEnd): void {
    if (this.#forget(stream)) stream.owner.onEnd(why);
  }

  #forget(stream: OpenStream): boolean {
    stream.stopTimer?.();
    stream.stopExpiry?.();
    stream.stopWatch?.();
    return this.#open.delete(stream);
  }

  // Each stream has a timer of its own: Workers end a request that waits for nothing, and with the request its timers.
  #startTimer(stream: OpenStream): () => void {
    const { keepAliveMs, maxAgeMs } = this.#limits;
    return every(Math.max(10, Math.min(keepAliveMs, maxAgeMs) / 2), () => this.#tick(stream));
  }

  #tick(stream: OpenStream): void {
    const { keepAliveMs, maxAgeMs } = this.#limits;
    const now = performance.now();
    // The owner ends the stream: a subscription with its result, a poll with the time to reconnect after.
    if (now - stream.openedAt >= maxAgeMs) stream.owner.onEnd('old');
    else if (now - stream.lastEventAt >= keepAliveMs && stream.owner.hasHeartbeat !== true) {
      stream.lastEventAt = now;
      stream.outlet.write(printComment(''));
    }
  }
}
