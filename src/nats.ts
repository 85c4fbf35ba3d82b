// The entry `fullmcp/nats`: bus, event log, links and discovery over NATS.

export { type NatsOptions, nats } from './adapters/nats/cluster/cluster.js';
export type { NatsConnectionLike } from './adapters/nats/connection/nats-types.js';
export { type NatsDiscoveryOptions, natsDiscovery } from './adapters/nats/discovery.js';
export type { ServeNatsOptions } from './adapters/nats/server/options.js';
export { type NatsServable, serveNats } from './adapters/nats/server/serve.js';
export type { Discovery, RegisteredService, ServiceInstance } from './protocol/services.js';
export type { Cluster } from './state/cluster.js';
export {
  type FindServiceOptions,
  findService,
  listServices,
  serviceAvailable,
} from './transports/memory/discovery.js';
