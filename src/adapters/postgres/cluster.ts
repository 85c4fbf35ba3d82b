// The cluster on Postgres: store, bus and event log in one database.

import process from 'node:process';
import { type FilledOptions, type OptionTable, readOptions } from '../../protocol/checks/options.js';
import type { Cluster } from '../../state/cluster.js';
import { type EventLimits, eventLimitTable, unlimitedStreams } from '../../state/event-log.js';
import { postgresBus, senderOf } from './bus.js';
import { PostgresDatabase } from './database/database.js';
import { migrate } from './database/migrate.js';
import { makePool, type PgPool } from './database/pg.js';
import { checkServer } from './database/server-settings.js';
import { type DatabaseTarget, targetOfEnvironment, targetOfPool, targetOfUrl } from './database/target.js';
import { postgresEventLog } from './event-log.js';
import { EventNews } from './event-news.js';
import { ListenReceiver } from './listen-receiver.js';
import { PollReceiver } from './poll-receiver.js';
import { type PostgresStore, postgresStore } from './store.js';
import { Sweeper } from './sweeper.js';

/** The options of `postgres`. */
export interface PostgresOptions {
  /** The URL of the database. Default: the environment variables of Postgres (`PGHOST`, `PGUSER`, `PGDATABASE`, …). */
  readonly url?: string;
  /** A pool of the package `pg`, instead of `url`. It needs 3 connections or more, of which the bus keeps one. It is not
   * ended by the cluster. */
  readonly pool?: PgPool;
  /** The schema for the tables, which is created if it does not exist. Default: 'fullmcp'. */
  readonly schema?: string;
  /** The number of connections, besides one that listens and one for renewals. Half of them may be in transactions of steps. Default: 10. */
  readonly poolSize?: number;
  /** The time to get a connection. Default: 3 s. */
  readonly connectTimeoutMs?: number;
  /** The longest time that one statement may take, waiting for locks included. Default: 5 s. */
  readonly timeoutMs?: number;
  /**
   * Whether the bus uses LISTEN and NOTIFY. Set it to false behind a pooler in transaction mode, such as PgBouncer: messages then go
   * through a table, and nothing is left on a connection. Default: true.
   */
  readonly listen?: boolean;
  /** The interval at which messages and events are polled while there is no LISTEN. Default: 500 ms. */
  readonly pollMs?: number;
  /** The size of one entry or item, in bytes of JSON. Default: 32 MB. */
  readonly maxValueBytes?: number;
  /** The limits of the event log. A stream may have an eighth more events than `maxEventsPerStream`, until its oldest are removed. */
  readonly events?: EventLimits;
}

/** A cluster on Postgres. */
export interface PostgresCluster extends Cluster {
  /** The store, with transactions. */
  readonly store: PostgresStore;
}

const optionTable = {
  url: 'string',
  pool: 'any',
  schema: { is: 'string', default: 'fullmcp' },
  poolSize: { is: 'count', default: 10 },
  connectTimeoutMs: { is: 'count', default: 3000 },
  timeoutMs: { is: 'count', max: 0x7fffffff, default: 5000 },
  listen: { is: 'boolean', default: true },
  pollMs: { is: 'count', default: 500 },
  maxValueBytes: { is: 'count', default: 32 * 1024 * 1024 },
  events: { is: 'object', options: eventLimitTable, default: {} },
} as const satisfies OptionTable<PostgresOptions>;

type Settings = FilledOptions<PostgresOptions, typeof optionTable>;

/** The connections besides: one that listens, and one that is kept free for renewals. */
const RESERVED = 2;

/**
 * Makes a cluster on Postgres 12 or newer, with the package `pg`. Nothing is connected before it is used. The first process creates
 * the schema; any number of them may start at the same time.
 */
export function postgres(options: PostgresOptions = {}): PostgresCluster {
  const settings = readOptions('postgres', options, optionTable, { statementTimeoutMs: 'timeoutMs' });
  const { listen, pollMs, maxValueBytes, events } = settings;
  const { maxEventsPerStream, maxAgeMs, maxEventBytes } = events;

  const database = databaseOf(settings, () => sweeper.start());
  const receiver = listen ? new ListenReceiver(database) : new PollReceiver(database, pollMs);
  const sender = senderOf(database, listen);
  const sweeper = new Sweeper(database, maxAgeMs);
  const half = Math.max(1, Math.floor(connectionsOf(settings) / 2));
  const store = postgresStore(database, { maxValueBytes, maxTransactions: half });
  const bus = postgresBus(sender, receiver);
  const news = new EventNews({ database, sender, receiver, pollMs, isListening: listen });
  const limits = { maxEventsPerStream, maxEventBytes, maxReads: half };
  const eventLog = postgresEventLog(database, news, limits);

  return {
    store,
    bus,
    eventLog,
    async start() {
      await database.ready();
      const { target, statementTimeoutMs } = database;
      const warnings = await database.withClient((client) => checkServer(client, target, statementTimeoutMs));
      await receiver.stands();
      return [...warnings, ...unlimitedStreams('Postgres', options.events)];
    },
    async ping() {
      await database.withClient((client) => database.run(client, { name: 'ping', text: 'SELECT 1' }, []), {
        isUrgent: true,
      });
    },
    async close() {
      sweeper.close();
      await Promise.all([store.close(), bus.close(), eventLog.close()]);
      await receiver.close();
      await database.close();
    },
  };
}

function databaseOf(settings: Settings, onReady: () => void): PostgresDatabase {
  const { url, pool, schema, poolSize, listen, connectTimeoutMs, timeoutMs: statementTimeoutMs } = settings;
  if (url !== undefined && pool !== undefined)
    throw new TypeError('postgres: give either "url" or "pool", not both.');
  if (!/^[a-z_][a-z0-9_]{0,39}$/.test(schema) || schema.startsWith('pg_'))
    throw new TypeError(
      `postgres: the schema ${JSON.stringify(schema)} must have at most 40 lower-case letters, digits and underscores, must not begin with a digit, and must not begin with "pg_".`,
    );
  if ((pool?.options?.max ?? 3) < 3)
    throw new TypeError(
      'postgres: the pool has too few connections: one listens, and one is kept free to renew leases. Set its "max" to 3 or more.',
    );
  const target: DatabaseTarget =
    url !== undefined
      ? targetOfUrl(url)
      : pool !== undefined
        ? targetOfPool(pool)
        : targetOfEnvironment(process.env);
  return new PostgresDatabase({
    target,
    schema,
    connectTimeoutMs,
    statementTimeoutMs,
    maxConnections: connectionsOf(settings),
    ownsPool: pool === undefined,
    isPooled: !listen,
    makePool: () =>
      pool ??
      makePool({
        ...(url !== undefined && { connectionString: url }),
        max: poolSize + RESERVED,
        connectionTimeoutMillis: connectTimeoutMs,
        keepAlive: true,
        allowExitOnIdle: true,
        application_name: 'fullmcp',
      }),
    async prepare(client) {
      await checkServer(client, target, statementTimeoutMs);
      await migrate(client, schema);
      onReady();
    },
  });
}

/** The number of connections for everything but listening and renewals. */
function connectionsOf({ pool, poolSize }: Settings): number {
  return pool === undefined ? poolSize : Math.max(1, (pool.options?.max ?? 10) - RESERVED);
}
