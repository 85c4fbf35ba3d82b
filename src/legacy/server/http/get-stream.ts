import { printNotification } from '../../../jsonrpc/message.js';
import { has } from '../../../protocol/tables/features.js';
import type { Streams } from '../../../transports/http/server/event-streams.js';
import { callerOf, type HeaderFields, type Incoming } from '../../../transports/http/server/incoming.js';
import { refuse } from '../../../transports/http/server/refusal.js';
import type { EventLog } from './event-log.js';
import { ResumableStream } from './resumable-stream.js';
import { streamName } from './session-reply.js';
import type { LiveSession } from './session-table.js';

// The GET of a session: its own stream, or the rest of a lost one.

export interface GetStreamsOptions {
  readonly streams: Streams;
  readonly log: EventLog;
  readonly retryMs: number;
}

interface GetStreamOptions {
  readonly live: LiveSession;
  readonly headers: HeaderFields;
  readonly afterGap?: boolean;
}

/** Serves the GET of a session: the stream for messages that do not belong to a call, or the rest of a stream that was lost. */
export function getStreams({
  streams,
  log,
  retryMs,
}: GetStreamsOptions): (incoming: Incoming, live: LiveSession, headers: HeaderFields) => void {
  /** Opens the stream for messages that do not belong to a call. It replaces the session's previous one. */
  function openGetStream(
    incoming: Incoming,
    { live, headers, afterGap = false }: GetStreamOptions,
  ): ResumableStream {
    live.getStream?.end();
    const canPoll = has(live.session.revision, 'pollingStreams');
    const getStream = new ResumableStream(streamName(live, 'g'), {
      log,
      retryMs: canPoll ? retryMs : undefined,
    });
    live.getStream = getStream;
    getStream.begin(streams.open(incoming, headers, { onEnd: () => leave(live, getStream) }));
    live.session.attach({
      notify: (method, params) => getStream.send(printNotification(method, params)),
      caller: callerOf(incoming),
      afterGap,
    });
    return getStream;
  }

  function leave(live: LiveSession, getStream: ResumableStream): void {
    getStream.end();
    if (live.getStream !== getStream) return;
    live.getStream = undefined;
    live.session.detach();
    live.usedAt = Date.now();
  }

  function endedStream(name: string): ResumableStream {
    const stream = new ResumableStream(name, { log, retryMs: undefined });
    stream.end();
    return stream;
  }

  return function listen(incoming, live, headers) {
    const lastEventId = incoming.header('last-event-id');
    if (lastEventId === undefined) return void openGetStream(incoming, { live, headers });
    const rest = lastEventId.startsWith(`${live.tag}.`) ? log.after(lastEventId) : undefined;
    // Events lost in a restart or to the log's limits do not prevent the stream from being opened.
    if (lastEventId.startsWith(`${live.tag}.g`)) {
      // Changes were missed while there was no stream, so everything is reported as changed once.
      const getStream = openGetStream(incoming, { live, headers, afterGap: true });
      for (const { data } of rest?.events ?? []) if (data !== '') getStream.send(data);
      if (rest) log.drop(rest.stream);
      return;
    }
    const openReply = [...live.streams.values()].find(({ name }) => lastEventId.startsWith(name));
    const stream = openReply ?? (rest && endedStream(rest.stream));
    if (stream === undefined)
      return refuse(incoming, 404, 'The event is unknown. Send the request again.', headers);
    // The newest events are dropped last, and the response is the newest.
    if (openReply === undefined && rest?.gap && rest.events.length === 0)
      return refuse(
        incoming,
        404,
        'The events after this one were too large to store. Send the request again.',
        headers,
      );
    stream.resume(streams.open(incoming, headers, { onEnd: () => stream.release() }), lastEventId);
  };
}
