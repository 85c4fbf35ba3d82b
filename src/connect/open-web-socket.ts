import { McpError } from '../protocol/errors.js';
import { type HeaderRecord, ownHeaders } from '../transports/http/client/own-headers.js';
import { withoutCredentials } from '../transports/http/client/target.js';
import { type WebSocketConstructor, webSocketWire } from '../transports/websocket/connect.js';
import type { Wire } from '../transports/wire.js';
import { type OverWire, overWire } from './open-wire.js';
import type { ConnectOptions, Host } from './options.js';
import type { Way } from './way.js';

export interface OverWebSocket extends Omit<OverWire, 'transport'> {
  readonly http: ConnectOptions;
  readonly host: Host;
}

export function overWebSocket(url: URL, { http, host, ...over }: OverWebSocket): Way {
  const headers = ownHeaders(url, http);
  async function open(): Promise<Wire> {
    return webSocketWire(withoutCredentials(url).href, {
      WebSocket: await choose(await headers(), { http, host }),
      ...(http.maxMessageBytes !== undefined && { maxMessageBytes: http.maxMessageBytes }),
    });
  }
  return overWire(open, { ...over, transport: 'websocket' });
}

/** A runtime's own takes no headers. */
async function choose(
  headers: HeaderRecord,
  { http, host }: Pick<OverWebSocket, 'http' | 'host'>,
): Promise<WebSocketConstructor> {
  const bare = Object.keys(headers).length === 0;
  const { ownWebSocket = host.webSocket === undefined } = host;
  const own = ownWebSocket ? (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket : undefined;
  const chosen = http.WebSocket ?? own;
  if (bare && chosen !== undefined) return chosen;
  if (http.WebSocket === undefined && host.webSocket !== undefined) return host.webSocket(headers);
  throw new McpError(
    'invalid_request',
    bare
      ? 'This runtime has no WebSocket: hand one in with the option `WebSocket`.'
      : 'A WebSocket takes no headers here: leave out `auth` and `headers`, or connect over https://.',
  );
}
