import { printNotification } from '../../../jsonrpc/message.js';
import { McpError } from '../../../protocol/errors.js';
import { has } from '../../../protocol/tables/features.js';
import type { EventStream, Streams } from '../../../transports/http/server/event-streams.js';
import { callerOf, type HeaderFields, type Incoming } from '../../../transports/http/server/incoming.js';
import { refuse } from '../../../transports/http/server/refusal.js';
import type { GuardedLog } from './guarded-log.js';
import type { Followed } from './resumable-stream.js';
import { openStream, streamName } from './session-reply.js';
import type { LiveSession } from './session-table.js';

// The GET of a session: its own stream, or the rest of a lost one.

export interface GetStreamsOptions {
  readonly streams: Streams;
  readonly log: GuardedLog;
  readonly retryMs: number;
  /** Called before a session's stream is opened: it replaces the one that another process may have. */
  readonly onOpen: (live: LiveSession) => void;
}

interface GetStreamOptions {
  readonly live: LiveSession;
  readonly headers: HeaderFields;
  readonly afterGap: boolean;
}

/**
 * The stream for messages that do not belong to a call: changes. Its events are not stored. They have ids so that a client that
 * reconnects says so: then everything is reported as changed once, which includes what the client missed.
 */
class GetStream {
  readonly #name: string;
  readonly #connection: EventStream;
  #count = 0;

  constructor(name: string, connection: EventStream) {
    this.#name = name;
    this.#connection = connection;
  }

  send(data: string, retry?: number): void {
    const id = `${this.#name}-${(this.#count++).toString(36)}`;
    this.#connection.send(retry === undefined ? { id, data } : { id, data, retry });
  }

  end(): void {
    this.#connection.end();
  }
}

/** Serves the GET of a session: the stream for messages that do not belong to a call, or the rest of a stream that was lost. */
export function getStreams({
  streams,
  log,
  retryMs,
  onOpen,
}: GetStreamsOptions): (incoming: Incoming, live: LiveSession, headers: HeaderFields) => Promise<void> {
  /** Opens the stream for messages that do not belong to a call. It replaces the session's previous one. */
  function openGetStream(incoming: Incoming, { live, headers, afterGap }: GetStreamOptions): void {
    live.getStream?.end();
    onOpen(live);
    const connection = streams.open(incoming, headers, { onEnd: () => leave(live, getStream) });
    const getStream = new GetStream(streamName(live, 'g'), connection);
    live.getStream = getStream;
    // An event without data, so that a client that loses the connection before the first change has an id to send.
    if (has(live.session.revision, 'pollingStreams')) getStream.send('', retryMs);
    live.session.attach({
      notify: (method, params) => getStream.send(printNotification(method, params)),
      caller: callerOf(incoming),
      via: live.via,
      afterGap,
    });
  }

  function leave(live: LiveSession, getStream: GetStream): void {
    getStream.end();
    if (live.getStream !== getStream) return;
    live.getStream = undefined;
    live.session.detach();
    live.usedAt = performance.now();
  }

  /** Sends the rest of the stream of a call, which may run in another process. */
  async function resume(
    incoming: Incoming,
    { live, headers, after }: Pick<GetStreamOptions, 'live' | 'headers'> & { readonly after: string },
  ): Promise<void> {
    const name = after.slice(0, Math.max(0, after.lastIndexOf('-')));
    const followed = name.startsWith(`${live.tag}.p`) ? await readAfter(after) : undefined;
    // The session may have ended meanwhile. Nobody would end a stream that is opened now.
    if (live.isOver) {
      followed?.controller.abort();
      return refuse(incoming, 404, 'The session was ended. Send "initialize" again.', headers);
    }
    const existing = live.streams.get(name);
    // A stream of this process is followed as soon as the log works again, and its client gets what cannot be stored at once.
    if (existing === undefined && followed?.failure) throw followed.failure;
    if (existing === undefined && followed === undefined)
      return refuse(incoming, 404, 'The event is unknown. Send the request again.', headers);
    const stream = existing ?? openStream(live, name, { log });
    const connection = streams.open(incoming, headers, { onEnd: (why) => stream.leave(why) });
    stream.resume(connection, followed);
  }

  async function readAfter(after: string): Promise<(Followed & { readonly failure?: McpError }) | undefined> {
    const controller = new AbortController();
    try {
      const stream = await log.follow(after, controller.signal);
      return stream && { after, stream, controller };
    } catch (error) {
      log.report(error);
      const message = 'The events cannot be read now. Resume the stream later.';
      return { after, controller, failure: new McpError('overloaded', message, { cause: error }) };
    }
  }

  return async function listen(incoming, live, headers) {
    const after = incoming.header('last-event-id');
    // Changes were missed while there was no stream, so everything is reported as changed once.
    if (after === undefined || after.startsWith(`${live.tag}.g`))
      return openGetStream(incoming, { live, headers, afterGap: after !== undefined });
    return resume(incoming, { live, headers, after });
  };
}
