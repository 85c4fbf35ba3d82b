// The entry `fullmcp/redis`: the processes of a server share their state over Redis or Valkey.

export type { RedisConnection, RedisConnector } from './adapters/redis/client/connection.js';
export { RedisError } from './adapters/redis/client/error.js';
export type { RedisClientLike } from './adapters/redis/client/recognize.js';
export { type RedisOptions, redis } from './adapters/redis/cluster.js';
export type { Cluster } from './state/cluster.js';
