// Finds the connector for a client that the user passed, or for a URL.

import { createRequire } from 'node:module';
import type { RedisConnection, RedisConnector } from './connection.js';
import {
  type IoRedisClient,
  type IoRedisCluster,
  ioRedisClusterConnector,
  ioRedisConnector,
} from './ioredis.js';
import {
  type NodeRedisClient,
  type NodeRedisCluster,
  nodeRedisClusterConnector,
  nodeRedisConnector,
} from './node-redis.js';

/** A client of `@redis/client`, `redis`, `ioredis` or `iovalkey`, for one server or for a cluster. It is recognized by its methods. */
export interface RedisClientLike {
  /** Makes a client with the same options. */
  duplicate(...args: never[]): unknown;
  /** Connects the client. */
  connect(...args: never[]): Promise<unknown>;
}

/** Makes the connector for a client. */
export function connectorOfClient(client: RedisClientLike | RedisConnector): RedisConnector {
  const has = (name: string): boolean =>
    typeof client === 'object' && client !== null && typeof Reflect.get(client, name) === 'function';
  if (has('open') && has('openOne')) return client as RedisConnector;
  if (has('duplicate') && has('call'))
    return has('nodes')
      ? ioRedisClusterConnector(client as unknown as IoRedisCluster)
      : ioRedisConnector(client as unknown as IoRedisClient);
  if (has('duplicate') && has('sendCommand') && has('nodeClient'))
    return nodeRedisClusterConnector(client as unknown as NodeRedisCluster);
  if (has('duplicate') && has('sendCommand') && has('subscribe') && has('destroy'))
    return nodeRedisConnector(client as unknown as NodeRedisClient);
  throw new TypeError(
    'redis: the option "client" is not a client that can be used. Pass a client or a cluster client of @redis/client, redis, ioredis or iovalkey, or a RedisConnector.',
  );
}

const PROTOCOLS: Readonly<Record<string, string>> = {
  'redis:': 'redis:',
  'rediss:': 'rediss:',
  'valkey:': 'redis:',
  'valkeys:': 'rediss:',
};

/** Makes the connector for a URL, with the first package that is installed. */
export function connectorOfUrl(url: string): RedisConnector {
  // The error of `new URL` has the URL, and so the password.
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const protocol = PROTOCOLS[parsed?.protocol ?? ''];
  if (parsed === undefined || protocol === undefined)
    throw new TypeError(
      'redis: the option "url" must be a URL such as "redis://user:password@host:6379/0", or "rediss:" with TLS.',
    );
  return urlConnector(makeClients(parsed, protocol + url.slice(url.indexOf(':') + 1)));
}

/** Clients for a server, and for the cluster to which it may belong. */
interface Clients {
  readonly single: RedisClientLike;
  readonly cluster: () => RedisClientLike;
}

/** A URL names one server. If that turns out to be a node of a larger cluster, connections are opened to all its nodes. */
function urlConnector(clients: Clients): RedisConnector {
  const single = connectorOfClient(clients.single);
  let cluster: RedisConnector | undefined;
  return {
    name: single.name,
    secrets: single.secrets,
    async open(options) {
      if (cluster !== undefined) return cluster.open(options);
      const connection = await single.open(options);
      if (!(await isNodeOfMany(connection))) return connection;
      connection.close();
      cluster = connectorOfClient(clients.cluster());
      return cluster.open(options);
    },
    openOne: (options) => (cluster ?? single).openOne(options),
  };
}

async function isNodeOfMany(connection: RedisConnection): Promise<boolean> {
  try {
    const ranges = (await connection.send(['CLUSTER', 'SLOTS'])) as [number, number, [string, number]][];
    return new Set(ranges.map(([, , [host, port]]) => `${host}:${port}`)).size > 1;
  } catch {
    // It is not a cluster, or the command is not permitted. If it is one, the next command says so.
    return false;
  }
}

interface NodeRedisPackage {
  createClient(options: object): NodeRedisClient;
  createCluster(options: object): NodeRedisCluster;
}
type IoRedisPackage = { readonly default?: IoRedisClass } & IoRedisClass;
interface IoRedisClass {
  new (url: string, options: object): IoRedisClient;
  readonly Cluster: new (nodes: readonly string[], options: object) => IoRedisCluster;
}

function makeClients(parsed: URL, url: string): Clients {
  const require = createRequire(import.meta.url);
  const hasTls = url.startsWith('rediss:');
  const access = {
    ...(parsed.username !== '' && { username: decodeURIComponent(parsed.username) }),
    ...(parsed.password !== '' && { password: decodeURIComponent(parsed.password) }),
  };
  for (const name of ['@redis/client', 'redis']) {
    const found = load<NodeRedisPackage>(require, name);
    if (found === undefined) continue;
    const defaults = { ...access, ...(hasTls && { socket: { tls: true } }) };
    return {
      single: found.createClient({ url }),
      cluster: () => found.createCluster({ rootNodes: [{ url }], defaults }),
    };
  }
  for (const name of ['ioredis', 'iovalkey']) {
    const found = load<IoRedisPackage>(require, name);
    if (found === undefined) continue;
    const Client = found.default ?? found;
    const redisOptions = { ...access, ...(hasTls && { tls: {} }) };
    return {
      single: new Client(url, { lazyConnect: true }),
      cluster: () => new Client.Cluster([url], { lazyConnect: true, redisOptions }),
    };
  }
  throw new Error(
    'redis: a client library is needed. Install one of @redis/client, redis, ioredis and iovalkey: npm install @redis/client',
  );
}

function load<T>(require: NodeJS.Require, name: string): T | undefined {
  try {
    return require(name) as T;
  } catch (error) {
    // A package that is there but cannot be loaded is not the same as one that is not there.
    if ((error as { readonly code?: unknown }).code !== 'MODULE_NOT_FOUND') throw error;
    return undefined;
  }
}
