import { printComment, printEvent } from '../../jsonrpc/event-stream.js';
import type { HeaderFields, Incoming, Outlet } from './incoming.js';

export interface StreamLimits {
  /** A comment is sent after this long without an event, so that nothing in between closes the connection. */
  readonly keepAliveMs: number;
  /** A stream older than this is ended; its client may open another. */
  readonly maxAgeMs: number;
  /** A client that leaves more than this unread is let go. */
  readonly maxBufferedBytes: number;
}

export interface StreamEvent {
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
}

const streamHeaders: HeaderFields = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Proxies would otherwise hold events back until their buffer is full.
  'x-accel-buffering': 'no',
};

/** All open streams of a transport: one timer keeps them alive and ends the old ones. */
export class Streams {
  readonly #open = new Set<Open>();
  readonly #limits: StreamLimits;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#open.size;
  }

  open(incoming: Incoming, headers: HeaderFields, owner: StreamOwner): EventStream {
    const outlet = incoming.stream(200, { ...streamHeaders, ...headers });
    const now = Date.now();
    const stream: Open = { outlet, since: now, quietSince: now, owner };
    this.#open.add(stream);
    this.#timer ??= this.#startTimer();
    incoming.onGone(() => this.#leave(stream, 'gone'));
    return {
      send: (event) => {
        if (!this.#open.has(stream)) return;
        outlet.write(printEvent(event));
        stream.quietSince = Date.now();
        if (outlet.buffered > this.#limits.maxBufferedBytes) {
          outlet.destroy();
          this.#leave(stream, 'unread');
        }
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
    const known = this.#open.delete(stream);
    if (this.#open.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    return known;
  }

  #startTimer(): ReturnType<typeof setInterval> {
    const { keepAliveMs, maxAgeMs } = this.#limits;
    const timer = setInterval(() => this.#sweep(), Math.max(10, Math.min(keepAliveMs, maxAgeMs) / 2));
    // A stream that is only kept alive must not keep the process alive. Browsers and Workers have plain numbers here.
    if (typeof timer === 'object' && 'unref' in timer) (timer as { unref(): void }).unref();
    return timer;
  }

  #sweep(): void {
    const { keepAliveMs, maxAgeMs } = this.#limits;
    const now = Date.now();
    for (const stream of [...this.#open]) {
      // The owner ends it in its own words: a subscription with its result, a poll with a hint when to come back.
      if (now - stream.since >= maxAgeMs) stream.owner.onEnd('old');
      else if (now - stream.quietSince >= keepAliveMs) {
        stream.quietSince = now;
        stream.outlet.write(printComment(''));
      }
    }
  }
}
