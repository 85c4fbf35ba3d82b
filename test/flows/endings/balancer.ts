import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// A small balancer: it asks each server for its readiness, keeps connections, and retries nothing.

export interface Balancer {
  readonly url: string;
  readonly add: (url: string) => void;
  /** The requests that a server refused or that were lost. */
  readonly failures: readonly string[];
  readonly close: () => Promise<void>;
}

/** The interval between two probes. */
const PROBE_MS = 50;

interface Target {
  readonly origin: string;
  readonly agent: Agent;
  isReady: boolean;
}

export async function startBalancer(): Promise<Balancer> {
  const targets: Target[] = [];
  const failures: string[] = [];
  let turn = 0;

  async function probe(target: Target): Promise<void> {
    const reply = await fetch(`${target.origin}/ready`).catch(() => undefined);
    await reply?.arrayBuffer();
    target.isReady = reply?.status === 200;
  }

  function forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const ready = targets.filter(({ isReady }) => isReady);
    const target = ready[turn++ % Math.max(1, ready.length)];
    if (target === undefined) return fail(outgoing, 'no server is ready');
    const { origin, agent } = target;
    const { connection: _, host: __, ...headers } = incoming.headers;
    const onward = request(`${origin}${incoming.url}`, { method: incoming.method, headers, agent });
    onward.on('error', (error) => outgoing.destroyed || fail(outgoing, `${origin}: ${error.message}`));
    onward.on('response', (reply) => {
      if (Number(reply.statusCode) >= 500) failures.push(`${origin}: ${reply.statusCode}`);
      const { connection: ___, 'keep-alive': ____, ...fields } = reply.headers;
      outgoing.writeHead(Number(reply.statusCode), fields);
      outgoing.flushHeaders();
      reply.on('error', () => outgoing.destroy());
      reply.pipe(outgoing);
    });
    outgoing.on('close', () => outgoing.writableFinished || onward.destroy());
    incoming.pipe(onward);
  }

  function fail(outgoing: ServerResponse, why: string): void {
    failures.push(why);
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(502).end();
  }

  const http = createServer(forward);
  const probes = setInterval(() => {
    for (const target of targets) void probe(target);
  }, PROBE_MS);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    add(url) {
      const target = { origin: new URL(url).origin, agent: new Agent({ keepAlive: true }), isReady: true };
      targets.push(target);
    },
    failures,
    async close() {
      clearInterval(probes);
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      for (const { agent } of targets) agent.destroy();
    },
  };
}
