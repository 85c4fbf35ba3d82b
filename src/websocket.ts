import { channelSession } from './legacy/channel-session.js';
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

/** Serves one client on a WebSocket that is open: `ws` on Node, the runtime's own elsewhere. Both eras. */
export function serveWebSocket(
  server: Pick<Server, 'dispatch'>,
  socket: Socket,
  options: WebSocketOptions = {},
): WebSocketServing {
  checkOptions('serveWebSocket', options, webSocketKeys);
  const { dispatch } = server;
  return serveOverWebSocket({ dispatch, session: (send) => channelSession(dispatch, send) }, socket, options);
}
