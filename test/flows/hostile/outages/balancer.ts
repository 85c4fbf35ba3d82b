import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Replica } from './replicas.js';

/** A balancer that sends each request to the next replica, whatever session it belongs to. */
export interface Balancer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Starts a balancer in front of the replicas that `replicas` returns. A replica that does not listen is skipped. */
export async function startBalancer(replicas: () => readonly Replica[]): Promise<Balancer> {
  let turn = 0;
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => forward(req, res, { body: Buffer.concat(chunks), attempts: replicas().length }));
  });

  function forward(
    req: IncomingMessage,
    res: ServerResponse,
    { body, attempts }: { readonly body: Buffer; readonly attempts: number },
  ): void {
    const all = replicas();
    const replica = all[turn++ % Math.max(1, all.length)];
    if (replica === undefined || attempts === 0) return void res.writeHead(503).end();
    const { port } = new URL(replica.url);
    const { method, url, headers } = req;
    const upstream = request({
      ...{ host: '127.0.0.1', port, method, path: url, agent: false },
      headers: { ...headers, host: `localhost:${port}` },
    });
    upstream.on('response', (reply) => {
      res.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(res);
      reply.on('error', () => res.destroy());
      reply.on('aborted', () => res.destroy());
    });
    upstream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') forward(req, res, { body, attempts: attempts - 1 });
      else res.destroy();
    });
    res.on('close', () => upstream.destroy());
    upstream.end(body);
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
