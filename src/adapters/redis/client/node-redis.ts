// Connections with the package `@redis/client`, or `redis`, which contains it.

import { unlessAborted } from '../../../async/abort.js';
import type { RedisConnection, RedisConnector, RedisOpenOptions } from './connection.js';

/** The part of a client of `@redis/client` that is used. */
export interface NodeRedisClient {
  readonly options?: NodeRedisOptions | undefined;
  duplicate(overrides?: object): NodeRedisClient;
  connect(): Promise<unknown>;
  destroy(): void;
  sendCommand(command: string[]): Promise<unknown>;
  subscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>;
  unsubscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>;
  on(event: string, listener: (reason: unknown) => void): unknown;
}

/** The part of a cluster client of `@redis/client` that is used. */
export interface NodeRedisCluster {
  readonly masters: readonly object[];
  readonly _options?: {
    readonly defaults?: NodeRedisOptions;
    readonly rootNodes?: readonly NodeRedisOptions[];
  };
  duplicate(overrides?: object): NodeRedisCluster;
  connect(): Promise<unknown>;
  destroy(): void;
  sendCommand(firstKey: string | undefined, isReadonly: boolean, command: string[]): Promise<unknown>;
  nodeClient(node: never): unknown;
  on(event: string, listener: (reason: unknown) => void): unknown;
}

interface NodeRedisOptions {
  readonly url?: string;
  readonly password?: string;
  readonly socket?: { readonly host?: string; readonly port?: number };
}

/** The options of a connection that never reconnects and never keeps a command to send it later. */
function optionsOf({ socket }: NodeRedisOptions = {}): object {
  return {
    RESP: 2,
    maintNotifications: 'disabled',
    clientSideCache: undefined,
    commandOptions: { timeout: undefined },
    disableOfflineQueue: true,
    keyPrefix: undefined,
    pingInterval: undefined,
    readonly: false,
    socket: { ...socket, reconnectStrategy: false },
  };
}

/** Opens connections with the options of a client of `@redis/client`. The client itself is not used. */
export function nodeRedisConnector(client: NodeRedisClient): RedisConnector {
  const open = (options: RedisOpenOptions): Promise<RedisConnection> =>
    connect(client.duplicate(optionsOf(client.options)), options);
  return { name: nameOf(client.options), secrets: secretsOf(client.options), open, openOne: open };
}

/** Opens connections with the options of a cluster client of `@redis/client`. The client itself is not used. */
export function nodeRedisClusterConnector(client: NodeRedisCluster): RedisConnector {
  const { defaults, rootNodes = [] } = client._options ?? {};
  async function openAll({ signal }: RedisOpenOptions): Promise<NodeRedisCluster> {
    const overrides = { ...optionsOf(), socket: undefined, useReplicas: false };
    const cluster = client.duplicate({ ...overrides, defaults: { ...defaults, ...optionsOf(defaults) } });
    // A node that fails is noticed by the command that it does not reply to.
    cluster.on('error', () => undefined);
    return opened(cluster, signal);
  }
  return {
    name: `the Redis cluster at ${addressOf(rootNodes[0]) ?? 'an unknown address'}`,
    secrets: [defaults, ...rootNodes].flatMap((options) => secretsOf(options)),
    async open(options) {
      const cluster = await openAll(options);
      return {
        send: (command, { key } = {}) => cluster.sendCommand(key, false, [...command]),
        subscribe: () => Promise.reject(new Error('Subscribe on a connection to one node.')),
        unsubscribe: () => Promise.resolve(),
        close: () => cluster.destroy(),
      };
    },
    async openOne(options) {
      const cluster = await openAll(options);
      try {
        const { masters } = cluster;
        const node = masters[Math.floor(Math.random() * masters.length)];
        const one = (await cluster.nodeClient(node as never)) as NodeRedisClient;
        return await connect(one.duplicate(optionsOf(one.options)), options);
      } finally {
        cluster.destroy();
      }
    },
  };
}

async function connect(
  client: NodeRedisClient,
  { signal, onMessage, onLost }: RedisOpenOptions,
): Promise<RedisConnection> {
  let isClosed = false;
  const lose = (reason: unknown): void => {
    if (isClosed) return;
    isClosed = true;
    onLost(reason ?? new Error('the connection ended'));
  };
  // One function for all channels: the client calls a function once for each message, however often it was subscribed with.
  const listener = (message: string, channel: string): void => onMessage(channel, message);
  client.on('error', lose);
  client.on('end', lose);
  await opened(client, signal);
  return {
    send: (command) => client.sendCommand([...command]),
    async subscribe(channel) {
      await client.subscribe(channel, listener);
    },
    async unsubscribe(channel) {
      // Without the listener, a SUBSCRIBE that follows at once would not be sent.
      await client.unsubscribe(channel, listener);
    },
    close() {
      isClosed = true;
      client.destroy();
    },
  };
}

async function opened<T extends NodeRedisClient | NodeRedisCluster>(
  client: T,
  signal: AbortSignal,
): Promise<T> {
  try {
    await unlessAborted(client.connect(), signal);
    return client;
  } catch (error) {
    client.destroy();
    throw error;
  }
}

function nameOf(options: NodeRedisOptions | undefined): string {
  return `Redis at ${addressOf(options) ?? 'localhost:6379'}`;
}

function addressOf({ url, socket }: NodeRedisOptions = {}): string | undefined {
  if (url !== undefined && URL.canParse(url)) return new URL(url).host;
  if (socket?.host === undefined && socket?.port === undefined) return undefined;
  return `${socket.host ?? 'localhost'}:${socket.port ?? 6379}`;
}

function secretsOf({ url, password }: NodeRedisOptions = {}): readonly string[] {
  const inUrl = url !== undefined && URL.canParse(url) ? new URL(url).password : '';
  return [password ?? '', inUrl, decodeURIComponent(inUrl)];
}
