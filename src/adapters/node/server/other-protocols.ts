// Requests that offer to switch to another protocol.

import type { Server as HttpServer, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** Whether a request asks for a WebSocket. */
export function isWebSocket(req: IncomingMessage): boolean {
  return req.headers.upgrade?.toLowerCase() === 'websocket';
}

const offers = new Set(['upgrade', 'http2-settings']);

/**
 * Serves a request that offers an unsupported protocol, such as h2c, as if it offered none: RFC 9110, 7.8. Node has detached
 * the connection by then, so the request is put back in front of it, without the offer.
 */
export function serveAsHttp(
  http: HttpServer,
  req: IncomingMessage,
  { socket, head }: { readonly socket: Duplex; readonly head: Buffer },
): void {
  let text = `${req.method} ${req.url} HTTP/${req.httpVersion}\r\n`;
  for (let at = 0; at < req.rawHeaders.length; at += 2) {
    const [name, value] = [String(req.rawHeaders[at]), String(req.rawHeaders[at + 1])];
    if (name.toLowerCase() === 'connection') text += `${name}: ${withoutOffers(value)}\r\n`;
    else if (!offers.has(name.toLowerCase())) text += `${name}: ${value}\r\n`;
  }
  socket.unshift(Buffer.concat([Buffer.from(`${text}\r\n`, 'latin1'), head]));
  http.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket);
}

function withoutOffers(connection: string): string {
  return connection
    .split(',')
    .filter((option) => !offers.has(option.trim().toLowerCase()))
    .join(',');
}
