// #region websocket
import { type Socket, serveWebSocket } from 'fullmcp/websocket';
import server from '../basic-server/server.js';

/** Serves one client on an open socket; `closed` resolves when the client is gone. */
export function accept(socket: Socket): Promise<void> {
  return serveWebSocket(server, socket).closed;
}
// #endregion
