// The second origin of an inspector: it serves the page that shows apps, and nothing else.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sandboxPage } from '../../client/apps/sandbox-page.js';

export interface Sandbox {
  readonly origin: string;
  readonly close: () => Promise<void>;
}

/** Listens on a free port of this computer. Only pages of these origins may show what it serves. */
export async function openSandbox(hosts: readonly string[]): Promise<Sandbox> {
  const server = createServer((req, res) => {
    const { port } = server.address() as AddressInfo;
    const { url: requestUrl = '', method } = req;
    const isOurs =
      req.headers.host === `127.0.0.1:${port}` && method === 'GET' && /^\/(?:\?origins=|$)/.test(requestUrl);
    if (isOurs) {
      const { html, headers } = sandboxPage({ hosts, requestUrl });
      res.writeHead(200, { ...headers, 'cache-control': 'no-store' }).end(html);
    } else res.writeHead(404, { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' }).end();
  });
  server.on('upgrade', (_req, socket) => socket.destroy());
  server.maxConnections = 64;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
