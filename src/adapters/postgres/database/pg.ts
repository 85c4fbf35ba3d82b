// The package "pg": the part of it that is used, and how it is loaded.

import { createRequire } from 'node:module';

/** A pool of connections: a `Pool` of the package `pg`, or anything with these methods. */
export interface PgPool {
  connect(): Promise<PgClient>;
  end(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  readonly options?: {
    readonly host?: string | undefined;
    readonly port?: number | undefined;
    readonly database?: string | undefined;
    readonly max?: number | undefined;
  };
}

/** A connection of a pool: a `PoolClient` of the package `pg`, or anything with these methods. */
export interface PgClient {
  query(query: string | PgQuery, values?: readonly unknown[]): Promise<PgResult>;
  /** Returns the connection to its pool; with `true` or an error, the connection is closed instead. */
  release(error?: Error | boolean): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'notification', listener: (message: PgNotification) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'end', listener: () => void): unknown;
  removeListener(event: 'notification', listener: (message: PgNotification) => void): unknown;
}

/** A statement with its parameters. */
export interface PgQuery {
  readonly text: string;
  readonly values?: unknown[];
  /** The name under which a connection keeps the prepared statement. */
  readonly name?: string;
  /** The time after which the client stops waiting for the result. */
  readonly query_timeout?: number;
}

/** The rows of a statement. */
export interface PgResult {
  // biome-ignore lint/suspicious/noExplicitAny: the type of a row is known only to the author of its statement, as in pg itself.
  readonly rows: any[];
}

/** A message of a channel. */
export interface PgNotification {
  readonly channel: string;
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

/** Makes a pool with the package `pg`, which is loaded only now. */
export function makePool(config: PgPoolConfig): PgPool {
  const require = createRequire(import.meta.url);
  let pg: { readonly Pool: new (config: PgPoolConfig) => PgPool };
  try {
    pg = require('pg');
  } catch (error) {
    throw new Error('fullmcp/postgres needs the package "pg". Install it: npm install pg', { cause: error });
  }
  return new pg.Pool(config);
}
