import { has } from '../../../protocol/tables/features.js';
import type { Streams } from '../../../transports/http/server/event-streams.js';
import type { HeaderFields, Incoming } from '../../../transports/http/server/incoming.js';
import { accepts, replyJson } from '../../../transports/http/server/reply.js';
import type { EventLog } from './event-log.js';
import { ResumableStream } from './resumable-stream.js';
import type { LiveSession } from './session-table.js';

// The reply to a POST of a session.

export interface SessionReplyOptions {
  readonly live: LiveSession;
  readonly streams: Streams;
  readonly log: EventLog;
  readonly retryMs: number;
  readonly headers: HeaderFields;
  /** Called when the client is gone and cannot resume this reply. */
  readonly onLost: () => void;
}

/** The reply to a POST of a session: one JSON body, or a stream that the client can resume. */
export class SessionReply {
  readonly #incoming: Incoming;
  readonly #options: SessionReplyOptions;
  readonly #mayStream: boolean;
  #stream: ResumableStream | undefined;
  #isFinished = false;

  constructor(incoming: Incoming, options: SessionReplyOptions) {
    this.#incoming = incoming;
    this.#options = options;
    this.#mayStream = accepts(incoming.header('accept'), 'text/event-stream');
    // Spec 2025-11-25: a lost connection does not cancel the call. But a reply without a stream cannot be resumed.
    incoming.onGone(() => {
      if (this.#stream === undefined && !this.#isFinished) options.onLost();
    });
  }

  get mayStream(): boolean {
    return this.#mayStream;
  }

  /** Sends a notification. A client that accepts only JSON does not get it. */
  notify(message: string): void {
    if (!this.#isFinished && this.#mayStream) this.#begin().send(message);
  }

  finish(message: string, status = 200): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    if (this.#stream === undefined) return replyJson(this.#incoming, status, message, this.#options.headers);
    this.#stream.send(message);
    this.#stream.end();
    this.#options.live.streams.delete(this.#stream.name);
  }

  /** Whether the connection may be closed before the reply is complete: only if the revision lets clients poll. */
  get canRelease(): boolean {
    return this.#mayStream && has(this.#options.live.session.revision, 'pollingStreams');
  }

  release(): void {
    if (!this.#isFinished) this.#begin().release();
  }

  #begin(): ResumableStream {
    if (this.#stream !== undefined) return this.#stream;
    const { live, streams, log, retryMs, headers } = this.#options;
    const stream = new ResumableStream(streamName(live, 'p'), {
      log,
      retryMs: this.canRelease ? retryMs : undefined,
    });
    this.#stream = stream;
    live.streams.set(stream.name, stream);
    stream.begin(streams.open(this.#incoming, headers, { onEnd: () => stream.release() }));
    return stream;
  }
}

/** A stream name that cannot be guessed. It begins with the session's tag, and `p` for a POST or `g` for the GET. */
export function streamName({ tag }: LiveSession, kind: 'p' | 'g'): string {
  return `${tag}.${kind}${crypto.randomUUID().slice(0, 18)}`;
}
