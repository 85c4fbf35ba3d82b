import { channelSession } from './legacy/channel-session.js';
import type { HttpFacts } from './protocol/call.js';
import { type AuthInit, toAuth } from './protocol/caller.js';
import { checkOptions } from './protocol/known-keys.js';
import type { Server } from './server/create-server.js';
import {
  type Socket,
  SUBPROTOCOL,
  serveOverWebSocket,
  type WebSocketOptions,
  type WebSocketServing,
  webSocketKeys,
} from './transports/websocket/accept.js';

export type { Socket, WebSocketOptions, WebSocketServing } from './transports/websocket/accept.js';
export { SUBPROTOCOL };

export interface WebSocketCaller {
  /** Who opened the socket. Every call on it is made in this name. */
  readonly auth?: AuthInit | undefined;
  /** What is known of the request that opened the socket; `ctx.request` has it. */
  readonly http?: HttpFacts | undefined;
}

/** Serves one client on a WebSocket that is open: `ws` on Node, the runtime's own elsewhere. Both eras. */
export function serveWebSocket(
  server: Pick<Server, 'dispatch'>,
  socket: Socket,
  { auth, http, ...options }: WebSocketOptions & WebSocketCaller = {},
): WebSocketServing {
  checkOptions('serveWebSocket', options, webSocketKeys);
  const { dispatch } = server;
  const caller = { auth: toAuth(auth), http };
  return serveOverWebSocket(
    { dispatch, session: (send) => channelSession(dispatch, send), caller },
    socket,
    options,
  );
}
