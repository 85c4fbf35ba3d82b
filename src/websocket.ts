// The entry `fullmcp/websocket`: serves on WebSockets.

import { channelSession } from './legacy/server/channel-session.js';
import type { HttpFacts } from './protocol/call.js';
import { type AuthInit, toAuth } from './protocol/caller.js';
import { checkOptions } from './protocol/checks/options.js';
import type { CoreServer } from './server/build/core-server.js';
import {
  type Socket,
  serveOverWebSocket,
  type WebSocketOptions,
  type WebSocketServing,
  webSocketTable,
} from './transports/websocket/accept.js';
import { SUBPROTOCOL } from './transports/websocket/subprotocol.js';

export type { Socket, WebSocketOptions, WebSocketServing } from './transports/websocket/accept.js';
export { SUBPROTOCOL };

/** The caller on a WebSocket, and the request that opened it. */
export interface WebSocketCaller {
  /** The caller that opened the socket, who is the caller of every call on it. Default: an anonymous one. */
  readonly auth?: AuthInit | undefined;
  /** The headers and the address of the request that opened the socket, for `ctx.request`. Default: undefined. */
  readonly http?: HttpFacts | undefined;
}

/**
 * Serves one client in any revision, on an open WebSocket of the package `ws` or of the runtime. The program has authenticated the
 * client: a server that requires authentication is not served without `auth`.
 */
export function serveWebSocket(
  server: Pick<CoreServer, 'dispatch'> & Partial<Pick<CoreServer, 'auth'>>,
  socket: Socket,
  { auth, http, ...options }: WebSocketOptions & WebSocketCaller = {},
): WebSocketServing {
  checkOptions('serveWebSocket', options, webSocketTable);
  if (auth === undefined && server.auth !== undefined && !server.auth.provider.optional)
    throw new TypeError(
      'serveWebSocket: the server has the option "auth", which sees HTTP requests only. Check the request that opened the socket, and pass its caller: serveWebSocket(server, socket, { auth: { subject } }).',
    );
  const { dispatch } = server;
  const caller = { auth: toAuth(auth), http };
  return serveOverWebSocket(
    { dispatch, session: (send) => channelSession(dispatch, send), caller },
    socket,
    options,
  );
}
