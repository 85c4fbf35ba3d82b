// The entry `fullmcp/postgres`: store, bus and event log that processes share, on Postgres.

export { type PostgresCluster, type PostgresOptions, postgres } from './adapters/postgres/cluster.js';
export type { PgClient, PgPool } from './adapters/postgres/database/pg.js';
export type { PostgresStore } from './adapters/postgres/store.js';
export type { Cluster } from './state/cluster.js';
export { type Committed, TransactionFailed } from './state/transaction.js';
