// Connections with the package `ioredis`, or `iovalkey`, which has the same interface.

import { onAbort, unlessAborted } from '../../../async/abort.js';
import type { RedisConnection, RedisConnector, RedisOpenOptions } from './connection.js';

/** The part of a client of `ioredis` that is used. */
export interface IoRedisClient {
  readonly isCluster: boolean;
  readonly options: IoRedisOptions;
  duplicate(overrides?: object): IoRedisClient;
  connect(): Promise<unknown>;
  disconnect(): void;
  call(command: string, args: string[]): Promise<unknown>;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  on(event: string, listener: (...args: never[]) => void): unknown;
}

/** The part of a cluster client of `ioredis` that is used. */
export interface IoRedisCluster {
  readonly isCluster: boolean;
  readonly options: { readonly redisOptions?: IoRedisOptions };
  duplicate(nodes?: readonly never[], overrides?: object): IoRedisCluster;
  connect(): Promise<unknown>;
  disconnect(): void;
  call(command: string, args: string[]): Promise<unknown>;
  nodes(role: 'master'): readonly unknown[];
  on(event: string, listener: (...args: never[]) => void): unknown;
}

interface IoRedisOptions {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly path?: string | undefined;
  readonly password?: string | null | undefined;
  readonly sentinelPassword?: string | undefined;
}

// By default, ioredis sends a command again if the connection was lost before its reply: the command would be executed twice. It
// keeps commands that it cannot send, and sends them later, when their sender has given up.
const SINGLE = {
  lazyConnect: true,
  retryStrategy: null,
  reconnectOnError: null,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  enableOfflineQueue: false,
  enableReadyCheck: false,
  enableAutoPipelining: false,
  maxRetriesPerRequest: null,
  commandTimeout: undefined,
  keyPrefix: '',
  stringNumbers: false,
  monitor: false,
  readOnly: false,
  protocol: 2,
};

// A command waits while the connection to its node is being opened: this happens with the first command for each node. If that
// fails, the command rejects, because nothing is retried.
const CLUSTER = {
  lazyConnect: true,
  clusterRetryStrategy: null,
  retryDelayOnFailover: 0,
  retryDelayOnClusterDown: 0,
  enableOfflineQueue: true,
  enableAutoPipelining: false,
  scaleReads: 'master',
  shardedSubscribers: false,
  keyPrefix: '',
};

/** Opens connections with the options of a client of `ioredis`. The client itself is not used. */
export function ioRedisConnector(client: IoRedisClient): RedisConnector {
  const { host = 'localhost', port = 6379, path } = client.options;
  const open = (options: RedisOpenOptions): Promise<RedisConnection> =>
    connect(client.duplicate(SINGLE), options);
  return {
    name: `Redis at ${path ?? `${host}:${port}`}`,
    secrets: secretsOf(client.options),
    open,
    openOne: open,
  };
}

/** Opens connections with the options of a cluster client of `ioredis`. The client itself is not used. */
export function ioRedisClusterConnector(client: IoRedisCluster): RedisConnector {
  function openAll({ signal, onLost }: RedisOpenOptions): Promise<IoRedisCluster> {
    const { lazyConnect: _, ...redisOptions } = SINGLE;
    const cluster = client.duplicate([], { ...CLUSTER, redisOptions });
    cluster.on('error', () => undefined);
    // Without this, commands for a node that was lost wait until the client has found out who has its slots.
    cluster.on('-node', () => onLost(new Error('the connection to a node of the cluster was lost')));
    const ended = new Promise<never>((_, reject) => {
      cluster.on('end', () => {
        const reason = new Error('no node of the cluster can be reached');
        onLost(reason);
        reject(reason);
      });
    });
    // `connect` may wait forever if the nodes are lost meanwhile.
    return Promise.race([opened(cluster, signal), ended]);
  }
  return {
    name: 'the Redis cluster',
    secrets: secretsOf(client.options.redisOptions),
    async open(options) {
      const cluster = await openAll(options);
      return {
        send: ([name = '', ...args]) => cluster.call(name, args),
        subscribe: () => Promise.reject(new Error('Subscribe on a connection to one node.')),
        unsubscribe: () => Promise.resolve(),
        close: () => cluster.disconnect(),
      };
    },
    async openOne(options) {
      const cluster = await openAll({ ...options, onLost: () => undefined });
      try {
        const nodes = cluster.nodes('master') as readonly IoRedisClient[];
        const node = nodes[Math.floor(Math.random() * nodes.length)];
        if (node === undefined) throw new Error('the cluster has no primary');
        return await connect(node.duplicate(SINGLE), options);
      } finally {
        cluster.disconnect();
      }
    },
  };
}

async function connect(
  client: IoRedisClient,
  { signal, onMessage, onLost }: RedisOpenOptions,
): Promise<RedisConnection> {
  let isClosed = false;
  let reason: unknown = new Error('the connection ended');
  client.on('error', (error: unknown) => {
    reason = error;
  });
  client.on('end', () => {
    if (!isClosed) onLost(reason);
    isClosed = true;
  });
  client.on('message', (channel: string, message: string) => onMessage(channel, message));
  try {
    await opened(client, signal);
  } catch (error) {
    // `connect` says only that the connection is closed.
    throw signal.aborted ? signal.reason : reason instanceof Error ? reason : error;
  }
  return {
    send: ([name = '', ...args]) => client.call(name, args),
    async subscribe(channel) {
      await client.subscribe(channel);
    },
    async unsubscribe(channel) {
      await client.unsubscribe(channel);
    },
    close() {
      isClosed = true;
      client.disconnect();
    },
  };
}

async function opened<T extends IoRedisClient | IoRedisCluster>(client: T, signal: AbortSignal): Promise<T> {
  const forget = onAbort(signal, () => client.disconnect());
  try {
    await unlessAborted(client.connect(), signal);
    return client;
  } catch (error) {
    client.disconnect();
    throw error;
  } finally {
    forget();
  }
}

function secretsOf({ password, sentinelPassword }: IoRedisOptions = {}): readonly string[] {
  return [password ?? '', sentinelPassword ?? ''];
}
