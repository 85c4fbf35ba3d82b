import { printError, type RequestId } from '../../../jsonrpc/message.js';
import type { McpError } from '../../../protocol/errors.js';
import { has } from '../../../protocol/tables/features.js';
import type { Revision } from '../../../protocol/tables/revisions.js';
import type { Streams } from '../../../transports/http/server/event-streams.js';
import { type HeaderFields, type Incoming, replyJson } from '../../../transports/http/server/incoming.js';
import { challengeHeaders } from '../../../transports/http/server/refusal.js';
import { accepts } from '../../../transports/http/server/reply.js';
import type { CallRecord } from '../shared/call-record.js';
import type { GuardedLog } from './guarded-log.js';
import { ResumableStream, type ResumableStreamOptions } from './resumable-stream.js';
import type { LiveSession } from './session-table.js';

// The reply to a POST of a session.

export interface SessionReplyOptions {
  readonly live: LiveSession;
  readonly streams: Streams;
  readonly log: GuardedLog;
  readonly retryMs: number;
  readonly headers: HeaderFields;
  /** The requests that the reply is for. */
  readonly ids: readonly RequestId[];
  /** Whether the stream gets events at intervals, so that no comments are sent. */
  readonly hasHeartbeat: boolean;
  /** Called when the client is gone and cannot resume this reply. */
  readonly onLost: () => void;
  /** Records that the reply has become a stream. */
  readonly record: (stream: ResumableStream) => Promise<CallRecord | undefined> | undefined;
}

/** The reply to a request of a session, for the code that serves the request. */
export interface CallReply {
  readonly mayStream: boolean;
  /** Whether the connection may be closed before the reply is complete. */
  readonly canRelease: boolean;
  readonly notify: (message: string) => void;
  readonly release: () => void;
  /** The stream of the reply, which is opened with its first event. */
  readonly open: () => ResumableStream;
  /** The record of the call; undefined if there is no stream, or nobody would read the record. */
  readonly run: Promise<CallRecord | undefined> | undefined;
  /** Resolves when all events of the stream are stored; undefined if there is no stream. */
  readonly stored: () => Promise<void> | undefined;
}

/** The reply to a POST of a session: one JSON body, or a stream that the client can resume. */
export class SessionReply implements CallReply {
  readonly #incoming: Incoming;
  readonly #options: SessionReplyOptions;
  readonly #mayStream: boolean;
  #stream: ResumableStream | undefined;
  #run: Promise<CallRecord | undefined> | undefined;
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
    if (!this.#isFinished && this.#mayStream) this.open().send(message);
  }

  /** Ends the reply. An error with a challenge has its own status, unless a stream has begun. */
  finish(message: string, challenged?: McpError): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    if (this.#stream === undefined) {
      const { headers } = this.#options;
      if (challenged === undefined) return replyJson(this.#incoming, 200, message, headers);
      const challenge = challengeHeaders(this.#incoming, challenged);
      return replyJson(this.#incoming, challenged.status, message, { ...headers, ...challenge });
    }
    this.#stream.send(message, { last: true, keep: true, instead: tooLarge(this.#options.ids) });
  }

  stored(): Promise<void> | undefined {
    return this.#stream && this.#settle(this.#stream);
  }

  async #settle(stream: ResumableStream): Promise<void> {
    await stream.stored();
    if (!this.#isFinished) return;
    const run = await this.#run;
    this.#run = undefined;
    await run?.end();
  }

  get run(): Promise<CallRecord | undefined> | undefined {
    return this.#run;
  }

  /** Whether the connection may be closed before the reply is complete: only if the revision lets clients poll, and the session has an id. */
  get canRelease(): boolean {
    const { session, id } = this.#options.live;
    return this.#mayStream && id !== '' && has(session.revision, 'pollingStreams');
  }

  release(): void {
    if (!this.#isFinished) this.open().release();
  }

  open(): ResumableStream {
    if (this.#stream !== undefined) return this.#stream;
    const { live, streams, log, retryMs, headers, record, hasHeartbeat } = this.#options;
    const stream = openStream(live, streamName(live, 'p'), {
      log,
      retryMs: this.canRelease ? retryMs : undefined,
    });
    this.#stream = stream;
    this.#run = record(stream);
    const connection = streams.open(this.#incoming, headers, {
      hasHeartbeat,
      onEnd: (why) => {
        stream.leave(why);
        // Such a call has cursors of its own to resume from, or nothing to resume with, and would otherwise go on for nobody.
        if (hasHeartbeat || live.id === '') this.#options.onLost();
      },
    });
    // A client that has an event to resume from does not wait forever if this process dies.
    stream.begin(connection, this.#run);
    return stream;
  }
}

/** The rest of a reply whose stream was opened before, here or in another process. */
export function replyOn(
  revision: Revision,
  stream: ResumableStream,
  run: CallRecord | undefined | Promise<CallRecord | undefined>,
): CallReply {
  stream.own(run);
  return {
    mayStream: true,
    canRelease: has(revision, 'pollingStreams'),
    notify: (text) => stream.send(text),
    release: () => stream.release(),
    open: () => stream,
    run: Promise.resolve(run),
    stored: () => stream.stored(),
  };
}

/** The response that a client gets if it lost its connection and the real one is too large for the event log. */
export function tooLarge(ids: readonly RequestId[]): string {
  const error = {
    code: -32603,
    message: 'The response was too large to be kept until the client reconnected. Send the request again.',
  };
  const [first, ...rest] = ids.map((id) => printError(id, error));
  return rest.length === 0 ? String(first) : `[${[first, ...rest].join(',')}]`;
}

/** Opens a stream of a call in this process. The session knows the stream until this process has nothing more to do with it. */
export function openStream(
  { streams }: Pick<LiveSession, 'streams'>,
  name: string,
  options: Omit<ResumableStreamOptions, 'onDone'>,
): ResumableStream {
  const onDone = (): void => {
    if (streams.get(name) === stream) streams.delete(name);
  };
  const stream = new ResumableStream(name, { ...options, onDone });
  streams.set(name, stream);
  return stream;
}

/** A stream name that cannot be guessed. It begins with the session's tag, and `p` for a POST or `g` for the GET. */
export function streamName({ tag }: LiveSession, kind: 'p' | 'g'): string {
  return `${tag}.${kind}${crypto.randomUUID().slice(0, 18)}`;
}
