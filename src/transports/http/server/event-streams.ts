import { unref } from '../../../async/unref.js';
import { printComment, printEvent } from '../../../jsonrpc/event-stream.js';
import { isBehind } from '../../server/backlog.js';
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

interface StreamEvent {
  readonly data: string;
  readonly id?: string;
  readonly event?: string;
  readonly retry?: number;
}

/** An open event stream. */
export interface EventStream {
  send(event: StreamEvent): void;
  end(): void;
}

export interface StreamOwner {
  /** The client is gone or never reads, or the stream is too old. */
  readonly onEnd: (why: 'gone' | 'unread' | 'old') => void;
}

interface Open {
  readonly outlet: Outlet;
  readonly since: number;
  readonly owner: StreamOwner;
  quietSince: number;
  timer: ReturnType<typeof setInterval> | undefined;
}

const streamHeaders: HeaderFields = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Proxies would otherwise hold events back until their buffer is full.
  'x-accel-buffering': 'no',
};

/** All open streams of a transport: kept alive, and ended when they are old. */
export class Streams {
  readonly #open = new Set<Open>();
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
    const stream: Open = { outlet, since: now, quietSince: now, owner, timer: undefined };
    this.#open.add(stream);
    stream.timer = this.#startTimer(stream);
    incoming.onGone(() => this.#leave(stream, 'gone'));
    return {
      send: (event) => {
        if (!this.#open.has(stream)) return;
        if (isBehind(outlet.buffered(), this.#limits.maxBufferedBytes)) {
          outlet.destroy();
          return this.#leave(stream, 'unread');
        }
        outlet.write(printEvent(event));
        stream.quietSince = performance.now();
      },
      end: () => {
        if (this.#forget(stream)) outlet.end();
      },
    };
  }

  #leave(stream: Open, why: 'gone' | 'unread' | 'old'): void {
    if (this.#forget(stream)) stream.owner.onEnd(why);
  }

  #forget(stream: Open): boolean {
    clearInterval(stream.timer);
    return this.#open.delete(stream);
  }

  // A timer for each stream, not one for all: Workers end a request that waits for nothing of its own, and with the
  // request its timers.
  #startTimer(stream: Open): ReturnType<typeof setInterval> {
    const { keepAliveMs, maxAgeMs } = this.#limits;
    const timer = setInterval(() => this.#tick(stream), Math.max(10, Math.min(keepAliveMs, maxAgeMs) / 2));
    unref(timer);
    return timer;
  }

  #tick(stream: Open): void {
    const { keepAliveMs, maxAgeMs } = this.#limits;
    const now = performance.now();
    // The owner ends it in its own words: a subscription with its result, a poll with a hint when to reconnect.
    if (now - stream.since >= maxAgeMs) stream.owner.onEnd('old');
    else if (now - stream.quietSince >= keepAliveMs) {
      stream.quietSince = now;
      stream.outlet.write(printComment(''));
    }
  }
}
