import type { Dispatch } from '../protocol/call.js';
import { type Channel, openChannel } from '../transports/channel.js';
import { refuse } from '../transports/http/endpoint.js';
import type { HeaderFields, Incoming } from '../transports/http/incoming.js';
import type { Streams } from '../transports/http/streams.js';
import { channelSession } from './channel-session.js';

export interface HttpSseOptions {
  readonly dispatch: Dispatch;
  readonly streams: Streams;
  /** Reads and checks a body as every POST's is. */
  readonly read: (incoming: Incoming) => Promise<unknown>;
  readonly maxConnections: number;
}

export interface HttpSse {
  readonly handle: (incoming: Incoming, route: 'sse' | 'messages', headers: HeaderFields) => Promise<void>;
  readonly close: () => void;
}

/** The transport of 2024-11-05: a stream that carries everything to the client, and a path where it posts. */
export function httpSse({ dispatch, streams, read, maxConnections }: HttpSseOptions): HttpSse {
  const channels = new Map<string, Channel>();

  function connect(incoming: Incoming, headers: HeaderFields): void {
    if (channels.size >= maxConnections) return refuse(incoming, 503, 'Too many connections', headers);
    const id = crypto.randomUUID();
    const leave = (): void => {
      channels.delete(id);
      void channel.close({ deadlineMs: 0 });
    };
    const stream = streams.open(incoming, headers, {
      onEnd: () => {
        leave();
        stream.end();
      },
    });
    const send = (text: string): void => stream.send({ event: 'message', data: text });
    const channel = openChannel({ dispatch, send, session: channelSession(dispatch, send) });
    channels.set(id, channel);
    const path = `${incoming.path.slice(0, incoming.path.lastIndexOf('/'))}/messages?sessionId=${id}`;
    stream.send({ event: 'endpoint', data: path });
  }

  async function receive(incoming: Incoming, headers: HeaderFields): Promise<void> {
    const channel = channels.get(new URLSearchParams(incoming.query).get('sessionId') ?? '');
    if (channel === undefined)
      return refuse(incoming, 404, 'Unknown session: open the event stream again', headers);
    const value = await read(incoming);
    incoming.reply(202, headers, 'Accepted');
    channel.receive(JSON.stringify(value));
  }

  return {
    async handle(incoming, route, headers) {
      if (route === 'sse' && incoming.method === 'GET') return connect(incoming, headers);
      if (route === 'messages' && incoming.method === 'POST') return receive(incoming, headers);
      const allow = route === 'sse' ? 'GET, OPTIONS' : 'POST, OPTIONS';
      refuse(incoming, 405, `${incoming.method} is not served here`, { ...headers, allow });
    },
    close() {
      for (const channel of channels.values()) void channel.close({ deadlineMs: 0 });
      channels.clear();
    },
  };
}
