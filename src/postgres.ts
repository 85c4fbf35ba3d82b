// The entry `fullmcp/postgres`: store, bus and event log that processes share, on Postgres.

export { type PostgresCluster, type PostgresOptions, postgres } from './adapters/postgres/cluster.js';
export type {
  PgClient,
  PgNotification,
  PgPool,
  PgPoolSettings,
  PgQuery,
  PgResult,
} from './adapters/postgres/database/pg.js';
export type { PostgresStore } from './adapters/postgres/store.js';
export type { Cluster } from './state/cluster.js';
export type { EventLimits } from './state/event-log.js';
export {
  type Committed,
  type CommittedResult,
  type GuardedChanges,
  type RefusedTransaction,
  type TransactionalStore,
  TransactionFailed,
  type TransactionFailure,
  type TransactionOptions,
} from './state/transaction.js';
