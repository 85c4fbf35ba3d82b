import { type Server as HttpServer, type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocketServer } from 'ws';
import type { Caller } from '../../../protocol/caller.js';
import { toMcpError } from '../../../protocol/errors.js';
import type { HttpOptions } from '../../../transports/http/server/endpoint.js';
import type { EndpointAuth } from '../../../transports/http/server/gate.js';
import type { GuardOptions } from '../../../transports/http/server/guard.js';
import { createGuard, refusalStatus } from '../../../transports/http/server/guard.js';
import { callerOf, type Incoming } from '../../../transports/http/server/incoming.js';
import { challengeHeaders } from '../../../transports/http/server/refusal.js';
import { readTrustProxy } from '../../../transports/http/server/trusted-proxies.js';
import type {
  Socket,
  WatchCaller,
  WebSocketOptions,
  WebSocketServing,
} from '../../../transports/websocket/accept.js';
import { SUBPROTOCOL } from '../../../transports/websocket/subprotocol.js';
import { NodeIncoming } from './incoming.js';

/** The WebSocket connections of an HTTP server. */
export interface Upgrades {
  readonly handle: (req: IncomingMessage, socket: Duplex, head: Buffer) => void;
  readonly close: (options: { readonly deadlineMs: number }) => Promise<void>;
}

export interface UpgradesOptions extends WebSocketOptions, GuardOptions, Pick<HttpOptions, 'trustProxy'> {
  readonly path: string;
  readonly maxConnections?: number | undefined;
  /** Authenticates the client that opens a connection. */
  readonly protectedBy?: EndpointAuth | undefined;
  readonly warn?: ((message: string) => void) | undefined;
}

/** Accepts WebSocket connections on an HTTP server. `ws` is loaded with the first of them. */
export function upgrades(
  accept: (socket: Socket, caller: Caller, watch: WatchCaller) => WebSocketServing,
  options: UpgradesOptions,
): Upgrades {
  const { path, protectedBy, maxMessageBytes = 4 * 1024 * 1024 } = options;
  const guard = createGuard(options, { warn: options.warn });
  const clientAddress = readTrustProxy(options.trustProxy);
  const open = new Set<WebSocketServing>();
  /** The connections whose clients are not identified yet. */
  const waiting = new Set<Duplex>();
  let loading: Promise<WebSocketServer> | undefined;
  let isClosing = false;

  async function load(): Promise<WebSocketServer> {
    const { WebSocketServer } = await import('ws');
    return new WebSocketServer({
      noServer: true,
      maxPayload: maxMessageBytes,
      handleProtocols: (protocols) => (protocols.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    });
  }

  async function upgrade(
    req: IncomingMessage,
    socket: Duplex,
    { incoming, head }: { readonly incoming: Incoming; readonly head: Buffer },
  ): Promise<void> {
    if (protectedBy !== undefined) {
      incoming.protection = protectedBy;
      try {
        incoming.auth = await protectedBy.authenticate(incoming);
      } catch (error) {
        return isClosing ? undefined : refuse(socket, headOf(incoming, error));
      }
    }
    loading ??= load();
    const server = await loading;
    if (isClosing) return;
    server.handleUpgrade(req, socket, head, (webSocket) => {
      const watch: WatchCaller = (onEnd) => protectedBy?.watch(incoming, onEnd);
      const serving = accept(webSocket as Socket, callerOf(incoming), watch);
      open.add(serving);
      void serving.closed.then(() => open.delete(serving));
    });
  }

  return {
    handle(req, socket, head) {
      const incoming: Incoming = new NodeIncoming(req, undefined as never);
      if (clientAddress !== undefined) incoming.clientAddress = clientAddress;
      socket.on('error', () => socket.destroy());
      if (isClosing) return refuse(socket, '503 Service Unavailable');
      if (incoming.path !== path) return refuse(socket, '404 Not Found');
      // Any web page may open a WebSocket: browsers do not send a preflight request for it.
      if (guard.refuse(incoming) !== undefined)
        return refuse(socket, refusalStatus(incoming) === 400 ? '400 Bad Request' : '403 Forbidden');
      waiting.add(socket);
      upgrade(req, socket, { incoming, head })
        .catch(() => socket.destroy())
        .finally(() => waiting.delete(socket));
    },
    async close(deadline) {
      isClosing = true;
      for (const socket of waiting) refuse(socket, '503 Service Unavailable');
      await Promise.all([...open].map((serving) => serving.close(deadline)));
    },
  };
}

// Clients read the status and the challenge of a rejected upgrade, not its body.
function headOf(incoming: Incoming, error: unknown): string {
  const refusal = toMcpError(error);
  const status = refusal.status >= 400 ? refusal.status : 403;
  const fields = Object.entries(challengeHeaders(incoming, refusal));
  const lines = fields.map(([name, value]) => `\r\n${name}: ${value}`);
  return `${status} ${STATUS_CODES[status] ?? 'Refused'}${lines.join('')}`;
}

/** Replies without an upgrade, and closes the socket, which the HTTP server no longer tracks. */
export function refuse(socket: Duplex, head: string): void {
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${head}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}

/** Whether a request asks for a WebSocket. */
export function isWebSocket(req: IncomingMessage): boolean {
  return req.headers.upgrade?.toLowerCase() === 'websocket';
}

const offers = new Set(['upgrade', 'http2-settings']);

/**
 * Serves a request that offers an unsupported protocol, such as h2c, as if it offered none: RFC 9110, 7.8. Older Nodes have detached
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
