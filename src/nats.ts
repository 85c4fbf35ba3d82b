// The entry `fullmcp/nats`: bus, event log, links and discovery over NATS.

export { type NatsOptions, nats } from './adapters/nats/cluster/cluster.js';
export type { EventLogLimits } from './adapters/nats/cluster/stream-config.js';
export type { NatsConnectionOptions } from './adapters/nats/connection/options.js';
export type { Cluster } from './state/cluster.js';
