// Serves an inspector on a port of this computer.

import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpError } from '../../protocol/errors.js';
import type { Inspector } from '../contract/inspector.js';
import { refusePeer } from './guard.js';
import { refuse } from './reply.js';
import { NO_TOKEN, requestHandler } from './request-handler.js';
import { newToken } from './secret.js';

export interface ServeInspectorOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** Default: a new one with 256 bits. */
  readonly token?: string;
}

export interface ServedInspector {
  /** The address of the page, with its token. */
  readonly url: string;
  readonly port: number;
  /** Ends the server and its streams, not the inspector. */
  readonly close: () => Promise<void>;
}

/** Pages, their streams, and a few requests at the same time. */
const MAX_CONNECTIONS = 256;

/** Listens on 127.0.0.1 only. */
export async function serveInspector(
  inspector: Inspector,
  { port = 0, token = newToken() }: ServeInspectorOptions = {},
): Promise<ServedInspector> {
  // A browser sends a cookie to every port of the computer, but only below the cookie's path. Other servers do not know this one.
  const base = `/${randomBytes(8).toString('base64url')}/`;
  const handler = requestHandler(inspector, { token, base });
  const server = createServer((req, res) => {
    if (handler.handle(req, res)) return;
    refuse(req, res, refusePeer(req) ?? NO_TOKEN, { isApi: false });
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('upgrade', (_req, socket) => socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n'));
  await listen(server, port);
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}${base}?token=${token}`,
    port: own,
    close: async () => {
      await handler.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new McpError(
          'connect_failed',
          error.code === 'EADDRINUSE'
            ? `Port ${port} is in use. Choose another one for the inspector, or none to get a free one.`
            : `The inspector cannot listen on port ${port}: ${error.message}`,
        ),
      ),
    );
    server.listen(port, '127.0.0.1', resolve);
  });
}
