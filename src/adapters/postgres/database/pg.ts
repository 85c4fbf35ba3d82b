// The package "pg": the part of it that is used, and how it is loaded.

import { explainImport, exportsOf } from '../../../protocol/checks/optional-package.js';

/** A pool of connections: a `Pool` of the package `pg`, or anything with these methods. */
export interface PgPool {
  /** Takes a connection out of the pool, and opens one if need be. */
  connect(): Promise<PgClient>;
  /** Closes all connections. */
  end(): Promise<void>;
  /** Adds a listener for connections that break while nobody uses them. */
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** Removes a listener. */
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  /** The settings of the pool. */
  readonly options?: PgPoolSettings;
}

/** The settings of a pool that are looked at. */
type PgPoolSettings = {
  /** The host, for messages. */
  readonly host?: string | undefined;
  /** The port, for messages. */
  readonly port?: number | undefined;
  /** The name of the database, for messages. */
  readonly database?: string | undefined;
  /** The URL of the database, for messages, which never contain its password. */
  readonly connectionString?: string | undefined;
  /** The largest number of connections. */
  readonly max?: number | undefined;
};

/** A connection of a pool: a `PoolClient` of the package `pg`, or anything with these methods. */
export interface PgClient {
  /** Runs a statement. */
  query(query: string | PgQuery, values?: readonly unknown[]): Promise<PgResult>;
  /** Returns the connection to its pool; with `true` or an error, the connection is closed instead. */
  release(error?: Error | boolean): void;
  /** Adds a listener for errors of the connection. */
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** Adds a listener for the end of the connection. */
  on(event: 'end', listener: () => void): unknown;
  /** Adds a listener for messages of channels. */
  on(event: 'notification', listener: (message: PgNotification) => void): unknown;
  /** Removes a listener for errors. */
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  /** Removes a listener for the end. */
  removeListener(event: 'end', listener: () => void): unknown;
  /** Removes a listener for messages. */
  removeListener(event: 'notification', listener: (message: PgNotification) => void): unknown;
}

/** A statement with its parameters. */
export interface PgQuery {
  /** The statement, with `$1`, `$2` and so on for its parameters. */
  readonly text: string;
  /** The parameters. */
  readonly values?: unknown[];
  /** The name under which a connection keeps the prepared statement. */
  readonly name?: string;
  /** The time after which the client stops waiting for the result. */
  readonly query_timeout?: number;
}

/** The result of a statement. */
export interface PgResult {
  /** The rows, by the names of their columns. */
  // biome-ignore lint/suspicious/noExplicitAny: the type of a row is known only to the author of its statement, as in pg itself.
  readonly rows: any[];
  /** The number of rows that were read or changed; null if the statement has no such number. */
  readonly rowCount: number | null;
}

/** A message of a channel. */
export interface PgNotification {
  /** The name of the channel. */
  readonly channel: string;
  /** The message. */
  readonly payload?: string | undefined;
}

/** The settings of the pools that fullmcp makes itself. */
export interface PgPoolConfig {
  readonly connectionString?: string;
  readonly max: number;
  readonly connectionTimeoutMillis: number;
  readonly keepAlive: true;
  readonly allowExitOnIdle: true;
  readonly application_name: string;
}

interface PgPackage {
  readonly Pool: new (config: PgPoolConfig) => PackagePool;
}

/** A pool of the package, which tells of the connections that it opens. */
interface PackagePool extends PgPool {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'connect', listener: (client: PgClient) => void): unknown;
}

/** Makes a pool with the package `pg`, which is loaded only now. */
export async function makePool(config: PgPoolConfig): Promise<PgPool> {
  const { Pool } = await loadPg();
  const pool = new Pool(config);
  // The server may end a connection in the packet that accepts it, which is before whoever waits for it can listen. Without a
  // listener, its error would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

async function loadPg(): Promise<PgPackage> {
  try {
    return exportsOf<PgPackage>(await import(/* webpackIgnore: true */ 'pg' as string), 'Pool');
  } catch (error) {
    throw explainImport(error, { user: 'fullmcp/postgres', name: 'pg', instead: 'a `pool`' });
  }
}
