import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** A balancer that sends each request to the next replica. A replica that cannot be reached is skipped. */
export interface Balancer {
  readonly url: string;
  /** The number of streams that the balancer has cut, and of those that clients have resumed. */
  readonly figures: { cut: number; resumed: number };
  readonly close: () => Promise<void>;
}

export interface BalancerOptions {
  /** The ports of the replicas that run. */
  readonly ports: () => readonly number[];
  readonly random: () => number;
  /** Called with the headers of a request that resumes the stream of a call. */
  readonly onResume: (headers: IncomingHttpHeaders) => void;
}

/** The share of the streams of sessions that are cut, and the longest time until then. */
const CUT_SHARE = 0.3;
const CUT_MS = 300;

/** Starts a balancer in front of replicas. It breaks some streams that their clients can resume. */
export async function startBalancer({ ports, random, onResume }: BalancerOptions): Promise<Balancer> {
  let turn = 0;
  const figures = { cut: 0, resumed: 0 };
  const server = createServer((req, res) => {
    // The name of a stream of a call begins with a `p` after the first dot.
    if (/^[^.]+\.p/.test(String(req.headers['last-event-id'] ?? ''))) {
      figures.resumed++;
      onResume(req.headers);
    }
    forward(req, res, ports().length);
  });

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
      // A client learns that its stream is open before the first event.
      res.flushHeaders();
      reply.pipe(res);
      // A replica that dies in the middle of a reply breaks the connection to the client, as a real balancer does.
      reply.on('error', () => res.destroy());
      reply.on('aborted', () => res.destroy());
      if (isResumable(req, reply) && random() < CUT_SHARE) cutSoon(reply, res);
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

  /** Breaks the connection after the first event, which has the id to resume from. */
  function cutSoon(reply: IncomingMessage, res: ServerResponse): void {
    reply.once('data', () => {
      setTimeout(() => {
        if (res.writableEnded || res.destroyed) return;
        figures.cut++;
        res.destroy();
      }, random() * CUT_MS);
    });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    figures,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function isResumable(req: IncomingMessage, reply: IncomingMessage): boolean {
  const isStream = String(reply.headers['content-type']).startsWith('text/event-stream');
  return isStream && req.headers['mcp-session-id'] !== undefined;
}
