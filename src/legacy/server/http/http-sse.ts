import type { Dispatch } from '../../../protocol/call.js';
import { principalOf } from '../../../protocol/caller.js';
import type { EventStream, Streams } from '../../../transports/http/server/event-streams.js';
import { callerOf, type HeaderFields, type Incoming } from '../../../transports/http/server/incoming.js';
import { refuse } from '../../../transports/http/server/refusal.js';
import { type Channel, openChannel, type ParsedMessage } from '../../../transports/server/channel.js';
import { channelSession } from '../channel-session.js';

// The server's side of HTTP+SSE.

export interface HttpSseOptions {
  readonly dispatch: Dispatch;
  readonly streams: Streams;
  /** Reads and checks the body of a POST. */
  readonly read: (incoming: Incoming) => Promise<ParsedMessage>;
  readonly maxConnections: number;
  /** Called when a message arrives for a connection that this process does not have. */
  readonly onUnknown: (id: string) => void;
}

export interface HttpSse {
  readonly handle: (incoming: Incoming, route: 'sse' | 'messages', headers: HeaderFields) => Promise<void>;
  readonly close: (options: { readonly deadlineMs: number }) => Promise<void>;
}

/** Serves HTTP+SSE (2024-11-05): one stream carries all messages to the client, which posts its own to a second path. */
export function httpSse({ dispatch, streams, read, maxConnections, onUnknown }: HttpSseOptions): HttpSse {
  const open = new Map<
    string,
    { readonly channel: Channel; readonly stream: EventStream; readonly principal: string }
  >();

  function connect(incoming: Incoming, headers: HeaderFields): void {
    if (open.size >= maxConnections)
      return refuse(incoming, 503, 'The server has too many connections. Retry later.', headers);
    const id = crypto.randomUUID();
    const leave = (): void => {
      open.delete(id);
      void channel.abandon('The client went away');
    };
    const stream = streams.open(incoming, headers, {
      onEnd: () => {
        leave();
        stream.end();
      },
    });
    const send = (text: string): void => stream.send({ event: 'message', data: text });
    const channel = openChannel({
      transport: 'http+sse',
      dispatch,
      send,
      session: channelSession(dispatch, send),
      caller: callerOf(incoming),
    });
    open.set(id, { channel, stream, principal: principalOf(incoming) });
    const path = `${incoming.path.slice(0, incoming.path.lastIndexOf('/'))}/messages?sessionId=${id}`;
    stream.send({ event: 'endpoint', data: path });
  }

  async function receive(incoming: Incoming, headers: HeaderFields): Promise<void> {
    const id = new URLSearchParams(incoming.query).get('sessionId') ?? '';
    const connection = open.get(id);
    if (connection === undefined) onUnknown(id);
    // Another caller's stream is treated like one that does not exist.
    if (connection === undefined || connection.principal !== principalOf(incoming))
      return refuse(incoming, 404, 'The session is unknown. Open the event stream again.', headers);
    const message = await read(incoming);
    incoming.reply(202, headers, 'Accepted');
    // Its token may have more scopes, or fewer, than the one that opened the stream.
    connection.channel.receive({ ...message, caller: callerOf(incoming) });
    // The response is sent on the stream of another HTTP request, after this one has ended.
    incoming.waitUntil?.(connection.channel.settled());
  }

  return {
    async handle(incoming, route, headers) {
      if (route === 'sse' && incoming.method === 'GET') return connect(incoming, headers);
      if (route === 'messages' && incoming.method === 'POST') return receive(incoming, headers);
      const allow = route === 'sse' ? 'GET, OPTIONS' : 'POST, OPTIONS';
      refuse(incoming, 405, `${incoming.method} is not served here`, { ...headers, allow });
    },
    async close(deadline) {
      await Promise.all(
        [...open.values()].map(async ({ channel, stream }) => {
          await channel.close(deadline);
          stream.end();
        }),
      );
      open.clear();
    },
  };
}
