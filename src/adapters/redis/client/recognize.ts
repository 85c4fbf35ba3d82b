// Finds the connector for a client that the user passed, or for a URL.

import { exportsOf, isNotInstalled } from '../../../protocol/checks/optional-package.js';
import type { RedisConnection, RedisConnector } from './connection.js';
import { RedisError } from './error.js';
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

/** Makes the connector for a URL, with the first package that is installed. It is loaded when a connection is opened. */
export function connectorOfUrl(url: string): RedisConnector {
  // The error of `new URL` has the URL, and so the password.
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const protocol = PROTOCOLS[parsed?.protocol ?? ''];
  if (parsed === undefined || protocol === undefined)
    throw new TypeError(
      'redis: the option "url" must be a URL such as "redis://user:password@host:6379/0", or "rediss:" with TLS.',
    );
  const { hostname, port, password } = parsed;
  let clients: Promise<Clients> | undefined;
  return urlConnector({
    name: `Redis at ${hostname || 'localhost'}:${port || '6379'}`,
    secrets: [password, decodeURIComponent(password)],
    clients() {
      clients ??= makeClients(parsed, protocol + url.slice(url.indexOf(':') + 1));
      return clients;
    },
  });
}

/** Clients for a server, and for the cluster to which it may belong. */
interface Clients {
  readonly single: RedisClientLike;
  readonly cluster: () => RedisClientLike;
}

/** A URL names one server. If that turns out to be a node of a larger cluster, connections are opened to all its nodes. */
function urlConnector({
  name,
  secrets,
  clients,
}: {
  readonly name: string;
  readonly secrets: readonly string[];
  readonly clients: () => Promise<Clients>;
}): RedisConnector {
  let single: RedisConnector | undefined;
  let cluster: RedisConnector | undefined;
  return {
    name,
    secrets,
    async open(options) {
      const made = await clients();
      if (cluster !== undefined) return cluster.open(options);
      single ??= connectorOfClient(made.single);
      const connection = await single.open(options);
      if (!(await isNodeOfMany(connection))) return connection;
      connection.close();
      cluster = connectorOfClient(made.cluster());
      return cluster.open(options);
    },
    async openOne(options) {
      const made = await clients();
      single ??= connectorOfClient(made.single);
      return (cluster ?? single).openOne(options);
    },
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
interface IoRedisPackage {
  readonly Redis: new (url: string, options: object) => IoRedisClient;
  readonly Cluster: new (nodes: readonly string[], options: object) => IoRedisCluster;
}

async function makeClients(parsed: URL, url: string): Promise<Clients> {
  const hasTls = url.startsWith('rediss:');
  const access = {
    ...(parsed.username !== '' && { username: decodeURIComponent(parsed.username) }),
    ...(parsed.password !== '' && { password: decodeURIComponent(parsed.password) }),
  };
  const nodeRedis = await loadNodeRedis();
  if (nodeRedis !== undefined) {
    const defaults = { ...access, ...(hasTls && { socket: { tls: true } }) };
    return {
      single: nodeRedis.createClient({ url }),
      cluster: () => nodeRedis.createCluster({ rootNodes: [{ url }], defaults }),
    };
  }
  const ioRedis = await loadIoRedis();
  if (ioRedis !== undefined) {
    const redisOptions = { ...access, ...(hasTls && { tls: {} }) };
    return {
      single: new ioRedis.Redis(url, { lazyConnect: true }),
      cluster: () => new ioRedis.Cluster([url], { lazyConnect: true, redisOptions }),
    };
  }
  throw new RedisError(
    'unavailable',
    'redis: a client library is needed. Install one of @redis/client, redis, ioredis and iovalkey: npm install @redis/client. If the program is bundled, install it where the bundle is made, or pass a `client`.',
  );
}

// Each import has a literal name and is inside a `try` of its own, as protocol/checks/optional-package.ts says.
async function loadNodeRedis(): Promise<NodeRedisPackage | undefined> {
  try {
    return exportsOf<NodeRedisPackage>(
      await import(/* webpackIgnore: true */ '@redis/client' as string),
      'createClient',
    );
  } catch (error) {
    mustBeMissing(error, '@redis/client');
  }
  try {
    return exportsOf<NodeRedisPackage>(
      await import(/* webpackIgnore: true */ 'redis' as string),
      'createClient',
    );
  } catch (error) {
    mustBeMissing(error, 'redis');
  }
  return undefined;
}

async function loadIoRedis(): Promise<IoRedisPackage | undefined> {
  try {
    return exportsOf<IoRedisPackage>(await import(/* webpackIgnore: true */ 'ioredis' as string), 'Redis');
  } catch (error) {
    mustBeMissing(error, 'ioredis');
  }
  try {
    return exportsOf<IoRedisPackage>(await import(/* webpackIgnore: true */ 'iovalkey' as string), 'Redis');
  } catch (error) {
    mustBeMissing(error, 'iovalkey');
  }
  return undefined;
}

/** A package that is there but cannot be loaded is not the same as one that is not there. */
function mustBeMissing(error: unknown, name: string): void {
  if (!isNotInstalled(error, name)) throw error;
}
