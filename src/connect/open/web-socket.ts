// Opens a link over a WebSocket, with the class of the program, of the runtime, or of the host.

import { McpError } from '../../protocol/errors.js';
import type { Wire } from '../../transports/client/wire.js';
import { needingNode } from '../../transports/http/client/options.js';
import { type HeaderRecord, ownHeaders } from '../../transports/http/client/request-headers.js';
import { withoutCredentials } from '../../transports/http/client/target.js';
import { type WebSocketConstructor, webSocketWire } from '../../transports/websocket/connect.js';
import type { ConnectOptions, Host } from '../targets/options.js';
import type { OpenAnyEra } from './eras.js';
import { type OverWire, overWire } from './wire.js';

export interface OverWebSocket extends Omit<OverWire, 'transport'> {
  readonly http: ConnectOptions;
  readonly host: Host;
}

export function overWebSocket(url: URL, { http, host, ...over }: OverWebSocket): OpenAnyEra {
  const headers = ownHeaders(url, http);
  async function open(): Promise<Wire> {
    return webSocketWire(withoutCredentials(url).href, {
      WebSocket: await choose(await headers(), { http, host }),
      ...(http.maxMessageBytes !== undefined && { maxMessageBytes: http.maxMessageBytes }),
    });
  }
  return overWire(open, { ...over, transport: 'websocket' });
}

/** Chooses the class that opens the socket. A runtime's own does not accept headers. */
async function choose(
  headers: HeaderRecord,
  { http, host }: Pick<OverWebSocket, 'http' | 'host'>,
): Promise<WebSocketConstructor> {
  const bare = Object.keys(headers).length === 0;
  const { ownWebSocket = host.webSocket === undefined } = host;
  const own = ownWebSocket ? (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket : undefined;
  const chosen = http.WebSocket ?? own;
  const needNode = needingNode(http);
  if (bare && chosen !== undefined && needNode.length === 0) return chosen;
  if (http.WebSocket === undefined && host.webSocket !== undefined && !ownWebSocket)
    return host.webSocket(headers, http);
  if (http.WebSocket === undefined && host.webSocket !== undefined && needNode.length === 0)
    return host.webSocket(headers, {});
  if (needNode.length > 0)
    throw new McpError(
      'invalid_request',
      `${needNode.join(', ')}: this needs the WebSocket that fullmcp opens on Node. Leave it out, or leave out \`WebSocket\`.`,
    );
  throw new McpError(
    'invalid_request',
    bare
      ? 'This runtime has no WebSocket. Pass one in the option `WebSocket`.'
      : 'A WebSocket cannot send headers here. Leave out `auth` and `headers`, or connect over https://.',
  );
}
