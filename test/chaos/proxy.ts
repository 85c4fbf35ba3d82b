import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A balancer that sends each request to the next replica. A replica that cannot be reached is skipped. */
export interface Balancer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Starts a balancer in front of the replicas that `ports` returns. */
export async function startBalancer(ports: () => readonly number[]): Promise<Balancer> {
  let turn = 0;
  const server = createServer((req, res) => forward(req, res, ports().length));

  function forward(req: IncomingMessage, res: ServerResponse, attempts: number): void {
    const all = ports();
    const port = all[turn++ % Math.max(1, all.length)];
    if (port === undefined || attempts <= 0) {
      res.writeHead(503).end();
      return;
    }
    const { method, url, headers } = req;
    const upstream = request({
      port,
      host: '127.0.0.1',
      method,
      path: url,
      headers: { ...headers, host: `127.0.0.1:${port}` },
      agent: false,
    });
    upstream.on('response', (reply) => {
      res.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(res);
      // A replica that dies in the middle of a reply breaks the connection to the client, as a real balancer does.
      reply.on('error', () => res.destroy());
      reply.on('aborted', () => res.destroy());
    });
    upstream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' && !res.headersSent && !req.readableFlowing)
        forward(req, res, attempts - 1);
      else res.destroy();
    });
    res.on('close', () => upstream.destroy());
    upstream.on('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => req.pipe(upstream));
      else req.pipe(upstream);
    });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
