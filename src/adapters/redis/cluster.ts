// Redis as the engine that the processes of a server share.

import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import type { Cluster } from '../../state/cluster.js';
import { type EventLimits, eventLimitTable } from '../../state/event-log.js';
import { redisBus } from './bus.js';
import { checkServer } from './check-server.js';
import type { RedisConnector } from './client/connection.js';
import { openWithin, unavailable } from './client/link.js';
import { connectorOfClient, connectorOfUrl, type RedisClientLike } from './client/recognize.js';
import { Engine } from './engine.js';
import { redisEventLog } from './event-log.js';
import { Keyspace } from './keys.js';
import { redisStore } from './store.js';
import { Subscriptions } from './subscriptions.js';

/** The options of `redis`. */
export interface RedisOptions {
  /**
   * The server, as `redis://user:password@host:6379/0`, or `rediss:` with TLS. If it is a node of a cluster, all its nodes are
   * used. Needs one of the packages `@redis/client`, `redis`, `ioredis` and `iovalkey`. Default: the option `client`.
   */
  readonly url?: string;
  /**
   * A client of one of these packages, for a server or for a cluster, or a connector of your own. The options of the client are
   * used to open connections; the client itself is not used, and need not be connected.
   */
  readonly client?: RedisClientLike | RedisConnector;
  /** The beginning of all keys and channels. Servers with the same prefix share everything. Default: `fullmcp`. */
  readonly prefix?: string;
  /**
   * The number of parts into which the keys are divided, so that a Redis cluster can spread them over its nodes. It must be the
   * same in all processes, and cannot be changed while there is data. Default: 16.
   */
  readonly partitions?: number;
  /** The longest time that a command may take, in milliseconds. Default: 5 s. */
  readonly timeoutMs?: number;
  /** The limits of the event log. */
  readonly events?: EventLimits;
}

const optionTable = {
  url: 'string',
  client: 'any',
  prefix: { is: 'string', default: 'fullmcp' },
  partitions: { is: 'count', max: 256, default: 16 },
  timeoutMs: { is: 'count', max: 0x7fffffff, default: 5000 },
  events: { is: 'object', options: eventLimitTable, default: {} },
} as const satisfies OptionTable<RedisOptions>;

/** Names that options had before, or that belong to the event log. */
const foreignNames = {
  maxEventAgeMs: 'Set `events: { maxAgeMs }`.',
  maxEventsPerStream: 'Set `events: { maxEventsPerStream }`.',
  maxBytesPerStream: 'Set `events: { maxBytesPerStream }`.',
};

/**
 * Shares the state of a server between processes over Redis 7 or newer, or Valkey: a store, a bus and an event log. Nothing is
 * connected before it is used or started.
 */
export function redis(options: RedisOptions): Cluster {
  const read = readOptions('redis', options, optionTable, foreignNames);
  const { prefix, partitions, timeoutMs, events } = read;
  checkPrefix(prefix);
  const connector = connectorOf(options);
  const engine = new Engine(connector, { keyspace: new Keyspace(prefix, partitions), timeoutMs });
  const subscriptions = new Subscriptions(connector, { timeoutMs });
  const store = redisStore(engine.access());
  const bus = redisBus(engine.access(), subscriptions);
  const eventLog = redisEventLog(engine.access(), { shared: subscriptions, ...events });
  return {
    store,
    bus,
    eventLog,
    async start() {
      const warnings = await check(connector, timeoutMs);
      await engine.ping();
      return warnings;
    },
    ping: () => engine.ping(),
    async close() {
      // Readers of streams end before the connection does.
      await eventLog.close();
      subscriptions.close();
      engine.close();
    },
  };
}

function connectorOf({ url, client }: RedisOptions): RedisConnector {
  if (client !== undefined && url !== undefined)
    throw new TypeError('redis: set either the option "url" or the option "client", not both.');
  if (client !== undefined) return connectorOfClient(client);
  if (url !== undefined) return connectorOfUrl(url);
  throw new TypeError(
    'redis: set the option "url", such as "redis://localhost:6379", or the option "client".',
  );
}

/** Checks the server over a connection of its own, which is closed again. */
async function check(connector: RedisConnector, timeoutMs: number): Promise<readonly string[]> {
  let warnings: readonly string[] = [];
  try {
    const connection = await openWithin(connector, {
      which: 'openOne',
      timeoutMs,
      signal: new AbortController().signal,
      onMessage: () => undefined,
      onLost: () => undefined,
      async prepare(opened) {
        warnings = await checkServer(opened);
      },
    });
    connection.close();
    return warnings;
  } catch (error) {
    throw unavailable(error, connector);
  }
}

// Braces would decide in which slot of a cluster the keys are.
function checkPrefix(prefix: string): void {
  if (/^[\w.:/-]{1,100}$/.test(prefix)) return;
  throw new TypeError(
    'redis: the option "prefix" must have 1 to 100 letters, digits or characters of "._:/-".',
  );
}
