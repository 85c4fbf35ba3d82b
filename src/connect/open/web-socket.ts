// Opens a link over a WebSocket, with the class of the program, of the runtime, or of the package `ws`.

import { McpError } from '../../protocol/errors.js';
import type { Wire } from '../../transports/client/wire.js';
import { listNodeOptions } from '../../transports/http/client/options.js';
import { type HeaderRecord, userHeaders } from '../../transports/http/client/request-headers.js';
import { withoutCredentials } from '../../transports/http/client/target.js';
import { type WebSocketConstructor, webSocketWire } from '../../transports/websocket/connect.js';
import type { ConnectOptions, Runtime } from '../targets/options.js';
import type { OpenAnyEra } from './eras.js';
import { type OverWire, overWire } from './wire.js';

export interface OverWebSocket extends Omit<OverWire, 'transport'> {
  readonly http: ConnectOptions;
  readonly runtime: Runtime;
}

export function overWebSocket(url: URL, { http, runtime, ...over }: OverWebSocket): OpenAnyEra {
  const headers = userHeaders(url, http);
  async function open(): Promise<Wire> {
    return webSocketWire(withoutCredentials(url).href, {
      WebSocket: await chooseClass(await headers(), { http, runtime }),
      ...(http.maxMessageBytes !== undefined && { maxMessageBytes: http.maxMessageBytes }),
    });
  }
  return overWire(open, { ...over, transport: 'websocket' });
}

/** Chooses the class that opens the socket. A runtime's own does not accept headers. */
async function chooseClass(
  headers: HeaderRecord,
  { http, runtime }: Pick<OverWebSocket, 'http' | 'runtime'>,
): Promise<WebSocketConstructor> {
  const hasHeaders = Object.keys(headers).length > 0;
  const { ownWebSocket = runtime.webSocket === undefined } = runtime;
  const own = ownWebSocket ? (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket : undefined;
  const candidate = http.WebSocket ?? own;
  const needNode = listNodeOptions(http);
  if (!hasHeaders && candidate !== undefined && needNode.length === 0) return candidate;
  if (http.WebSocket === undefined && runtime.webSocket !== undefined && !ownWebSocket)
    return runtime.webSocket(headers, http);
  if (http.WebSocket === undefined && runtime.webSocket !== undefined && needNode.length === 0)
    return runtime.webSocket(headers, {});
  if (needNode.length > 0)
    throw new McpError(
      'invalid_request',
      `${needNode.join(', ')}: this needs the WebSocket that fullmcp opens on Node. Leave it out, or leave out \`WebSocket\`.`,
    );
  throw new McpError(
    'invalid_request',
    hasHeaders
      ? 'A WebSocket cannot send headers here. Leave out `auth` and `headers`, or connect over https://.'
      : 'This runtime has no WebSocket. Pass one in the option `WebSocket`.',
  );
}
