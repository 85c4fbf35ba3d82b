import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import net, { type AddressInfo, type Socket } from 'node:net';
import {
  type NodeSafeFetchOptions,
  nodeSafeFetch,
} from '../../../src/adapters/node/fetch/node-safe-fetch.js';
import type { SafeFetch } from '../../../src/oauth/fetch/safe-fetch.js';
import { until } from '../until.js';

// A server on this computer that stands for all public hosts: the resolver and the dialler are replaced, so nothing leaves the machine.

/** A public address, for names that resolve to one. */
export const PUBLIC_ADDRESS = '93.184.215.14';

const pem = (name: string): string =>
  readFileSync(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url), 'utf8');

export interface PublicHosts {
  readonly fetch: SafeFetch;
  /** The names that were looked up. */
  readonly lookups: string[];
  /** The addresses and ports that were dialled, as `address:port`. */
  readonly dialled: string[];
  /** The requests that arrived, as `GET host/path`. */
  readonly requests: string[];
  readonly received: IncomingMessage[];
  /** Waits until no connection is open. */
  readonly idle: () => Promise<void>;
  readonly close: () => Promise<void>;
}

interface PublicHostsOptions extends Omit<NodeSafeFetchOptions, 'resolve' | 'dial' | 'ca'> {
  /** The addresses of a name. Default: a public one. */
  readonly addresses?: (hostname: string, lookup: number) => readonly string[] | Promise<readonly string[]>;
}

/** Starts the server. Names under `public.example` have its certificate. */
export async function publicHosts(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  { addresses = () => [PUBLIC_ADDRESS], ...options }: PublicHostsOptions = {},
): Promise<PublicHosts> {
  const [lookups, dialled, requests, received]: [string[], string[], string[], IncomingMessage[]] = [
    [],
    [],
    [],
    [],
  ];
  const sockets = new Set<Socket>();
  const server = createServer({ key: pem('hosts-key'), cert: pem('hosts-cert') }, (request, response) => {
    requests.push(`${request.method} ${request.headers.host}${request.url}`);
    received.push(request);
    handle(request, response);
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const fetch = nodeSafeFetch({
    ...options,
    ca: pem('hosts-cert'),
    async resolve(hostname) {
      lookups.push(hostname);
      return await addresses(hostname, lookups.length);
    },
    dial(target) {
      dialled.push(...target.addresses.map(({ address }) => `${address}:${target.port}`));
      return net.connect(port, '127.0.0.1');
    },
  });
  return {
    fetch,
    lookups,
    dialled,
    requests,
    received,
    idle: () => until('no connection is open', () => sockets.size === 0),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
