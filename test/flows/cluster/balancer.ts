import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a balancer has passed on. */
export interface Passed {
  /** The number of the replica that got it. */
  readonly replica: number;
  /** The HTTP method. */
  readonly method: string;
  /** The method of the message, or `response` if it is an answer; empty without a body. */
  readonly rpc: string;
  /** Whether the request asks for the rest of a stream. */
  readonly resumes: boolean;
  /** The status of the reply, once it has begun. */
  status: number | undefined;
}

/** A round-robin balancer: each request, also of one connection, goes to the next replica that accepts connections. */
export interface TestBalancer {
  /** The URL of `/mcp`. */
  readonly url: string;
  /** The requests, in order of arrival. The test empties the array. */
  readonly passed: Passed[];
  /** Breaks the connections of all requests that are not answered yet, as a balancer that restarts does. */
  readonly cut: () => void;
  readonly close: () => Promise<void>;
}

/** Starts a balancer in front of the replicas at these URLs, which may change. */
export async function startTestBalancer(targets: () => readonly string[]): Promise<TestBalancer> {
  const passed: Passed[] = [];
  const open = new Set<ServerResponse>();
  let turn = 0;

  async function pass(incoming: IncomingMessage, reply: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    passTo(turn++, { incoming, reply, body: Buffer.concat(chunks), attempts: targets().length });
  }

  function passTo(at: number, { incoming, reply, body, attempts }: Passing): void {
    const replica = at % targets().length;
    const { method = 'GET', url = '/', headers } = incoming;
    const entry: Passed = {
      replica,
      method,
      rpc: rpcOf(body),
      resumes: 'last-event-id' in headers,
      status: undefined,
    };
    passed.push(entry);
    const target = new URL(url, targets()[replica]);
    const upstream = request(target, { method, headers: { ...headers, host: target.host }, agent: false });
    upstream.on('response', (response) => {
      entry.status = response.statusCode;
      reply.writeHead(response.statusCode ?? 502, response.headers);
      // A stream without events yet is a stream that is open.
      reply.flushHeaders();
      response.on('error', () => reply.destroy());
      response.pipe(reply);
    });
    upstream.on('error', (error: NodeJS.ErrnoException) => {
      // The replica has not got the request, so another one may.
      if (error.code !== 'ECONNREFUSED' || attempts === 1 || reply.destroyed) return void reply.destroy();
      passed.splice(passed.indexOf(entry), 1);
      passTo(turn++, { incoming, reply, body, attempts: attempts - 1 });
    });
    reply.on('close', () => {
      open.delete(reply);
      upstream.destroy();
    });
    open.add(reply);
    upstream.end(body);
  }

  const server = createServer((incoming, reply) => {
    pass(incoming, reply).catch(() => reply.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    passed,
    cut() {
      for (const reply of open) reply.destroy();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Passing {
  readonly incoming: IncomingMessage;
  readonly reply: ServerResponse;
  readonly body: Buffer;
  /** How many replicas may still get the request. */
  readonly attempts: number;
}

function rpcOf(body: Buffer): string {
  if (body.length === 0) return '';
  try {
    const message = JSON.parse(body.toString());
    return Array.isArray(message) ? 'batch' : (message.method ?? 'response');
  } catch {
    return 'unreadable';
  }
}
