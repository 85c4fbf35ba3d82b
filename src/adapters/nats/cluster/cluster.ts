// A cluster on NATS: the bus and the event log that the processes of a server share.

import { type OptionTable, readOptions } from '../../../protocol/checks/options.js';
import type { Cluster } from '../../../state/cluster.js';
import { eventLimitTable, unlimitedStreams } from '../../../state/event-log.js';
import { type NatsClient, NatsFailure } from '../connection/client.js';
import { NatsSource } from '../connection/open.js';
import { connectionTable, type NatsConnectionOptions } from '../connection/options.js';
import { checkPrefix } from '../connection/subjects.js';
import { natsBus } from './bus.js';
import { natsEventLog } from './event-log.js';
import type { NatsEventLimits } from './stream-config.js';

/** The options of `nats`. */
export interface NatsOptions extends NatsConnectionOptions {
  /** The beginning of all subjects, and of the name of the stream. Servers that share NATS need different ones. Default: `fullmcp`. */
  readonly prefix?: string;
  /** The limits of the event log. */
  readonly events?: NatsEventLimits;
}

const limitTable = {
  ...eventLimitTable,
  // NATS accepts no less.
  maxAgeMs: { ...eventLimitTable.maxAgeMs, min: 1000 },
  maxBytes: { is: 'count', default: 256 * 1024 * 1024 },
  replicas: { is: 'count', default: 1 },
  storage: { oneOf: ['file', 'memory'], default: 'file' },
} as const satisfies OptionTable<NatsEventLimits>;

const optionTable = {
  ...connectionTable,
  prefix: { is: 'string', default: 'fullmcp' },
  events: { is: 'object', options: limitTable, default: {} },
} as const satisfies OptionTable<NatsOptions>;

/**
 * Makes a cluster on NATS, for `createServer({ cluster: nats({ url }) })`. NATS carries the bus and keeps the event log in
 * JetStream. It does not keep tasks: the server's `store` does.
 */
export function nats(options: NatsOptions = {}): Cluster {
  const { prefix, events, ...connection } = readOptions('nats', options, optionTable);
  checkPrefix(prefix);
  const source = new NatsSource(connection, 'fullmcp');
  const bus = natsBus(source, prefix);
  const { prepare, ...eventLog } = natsEventLog(source, prefix, events);

  async function ping(): Promise<void> {
    const client = await source.get();
    await client.persist('NATS does not answer', () => client.flush());
  }

  return {
    bus,
    eventLog,
    ping,
    async start() {
      const client = await source.get();
      await ping();
      const warnings = checkEngine(client, events);
      await prepare();
      return [...warnings, ...unlimitedStreams('NATS', options.events)];
    },
    async close() {
      await Promise.all([bus.close(), eventLog.close()]);
      await source.close();
    },
  };
}

/** Throws if the server cannot carry a cluster. Returns what the operator should know about it. */
function checkEngine(
  { nc, servers }: NatsClient,
  { storage, replicas = 1 }: NatsEventLimits,
): readonly string[] {
  const { version = '', jetstream } = nc.info ?? {};
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isBefore = (least: number): boolean => major < 2 || (major === 2 && minor < least);
  if (isBefore(9))
    throw new NatsFailure(
      `NATS at ${servers} is version ${version}, but fullmcp needs 2.9 or later. Update nats-server.`,
    );
  if (jetstream !== true)
    throw new NatsFailure(
      `JetStream is not enabled on NATS at ${servers}. Add "jetstream {}" to the configuration of nats-server.`,
    );
  const warnings: string[] = [];
  if (storage === 'memory')
    warnings.push(
      'The event log is in the memory of NATS: when nats-server restarts, clients cannot resume their streams.',
    );
  else if (isBefore(10) && replicas < 2)
    warnings.push(
      `NATS at ${servers} is version ${version}: before 2.10, events of the last seconds can be lost in a power cut, and then clients cannot resume their streams. Update nats-server and set sync_interval, or keep events on several servers with \`replicas\`.`,
    );
  return warnings;
}
