// The entry `fullmcp/nats`: bus, event log, links and discovery over NATS.

export { type NatsOptions, nats } from './adapters/nats/cluster/cluster.js';
export type { NatsEventLimits } from './adapters/nats/cluster/stream-config.js';
export type {
  NatsAuthenticator,
  NatsConnectionLike,
  NatsSubscription,
  NatsTls,
} from './adapters/nats/connection/nats-types.js';
export type { NatsConnectionOptions } from './adapters/nats/connection/options.js';
export { type NatsDiscoveryOptions, natsDiscovery } from './adapters/nats/discovery.js';
export type {
  NatsRequestFacts,
  NatsServiceOptions,
  ServeNatsOptions,
} from './adapters/nats/server/options.js';
export { type NatsServable, serveNats } from './adapters/nats/server/serve.js';
export type {
  DiscoverableServer,
  Discovery,
  OpenServiceOptions,
  RegisteredService,
  RegisterOptions,
  ServiceInstance,
} from './protocol/services.js';
export type { Cluster } from './state/cluster.js';
export type { EventLimits } from './state/event-log.js';
export {
  type FindServiceOptions,
  findService,
  listServices,
  serviceAvailable,
} from './transports/memory/discovery.js';
