// The limits of the event log, and the configuration of its stream.

import type { KeysOf } from '../../../protocol/checks/known-keys.js';
import { checkCounts } from '../../../protocol/checks/number-options.js';
import type { StreamSettings } from '../connection/nats-types.js';

/** The limits of the event log on JetStream. At a limit, the oldest events are dropped. */
export interface EventLogLimits {
  /** The time that an event is kept, in milliseconds. Default: 5 minutes. */
  readonly maxAgeMs?: number;
  /** The size of all events together. NATS reserves that much of its storage. Default: 256 MB. */
  readonly maxBytes?: number;
  /** The number of events of one stream. Default: 1,000. */
  readonly maxEventsPerStream?: number;
  /** The number of servers of a NATS cluster that keep each event. Default: 1. */
  readonly replicas?: number;
  /** The place where NATS keeps events. Those in memory are lost when it restarts. Default: `file`. */
  readonly storage?: 'file' | 'memory';
}

/** The names of the limits. */
export const limitKeys: KeysOf<EventLogLimits> = {
  maxAgeMs: true,
  maxBytes: true,
  maxEventsPerStream: true,
  replicas: true,
  storage: true,
};

const MIN_AGE_MS = 1000;
/** Repeated attempts to store an event end long before this. */
const DUPLICATE_WINDOW_MS = 30_000;
const NANOS = 1_000_000;

/** The largest event that the log stores: a larger one would displace most others. */
export function maxEventBytes({ maxBytes = 256 * 1024 * 1024 }: EventLogLimits): number {
  return Math.floor(maxBytes / 4);
}

/** The configuration of the stream. Throws a RangeError for a limit that NATS would not accept. */
export function streamConfig(name: string, prefix: string, limits: EventLogLimits): StreamSettings {
  const { maxAgeMs = 300_000, maxBytes = 256 * 1024 * 1024, maxEventsPerStream = 1000 } = limits;
  const { replicas = 1, storage = 'file' } = limits;
  checkCounts('events', { maxAgeMs, maxBytes, maxEventsPerStream, replicas });
  if (maxAgeMs < MIN_AGE_MS) throw new RangeError(`"events.maxAgeMs" must be ${MIN_AGE_MS} or more.`);
  if (storage !== 'file' && storage !== 'memory')
    throw new RangeError('"events.storage" must be "file" or "memory".');
  return {
    name,
    subjects: [`${prefix}.events.*`, `${prefix}.parts.>`],
    retention: 'limits',
    storage,
    num_replicas: replicas,
    max_age: maxAgeMs * NANOS,
    max_bytes: maxBytes,
    max_msgs_per_subject: maxEventsPerStream,
    discard: 'old',
    duplicate_window: Math.min(maxAgeMs, DUPLICATE_WINDOW_MS) * NANOS,
    allow_direct: true,
    // Followers hear of an event when it is stored, with its sequence and that of the event before it.
    republish: { src: `${prefix}.events.*`, dest: `${prefix}.live.{{wildcard(1)}}` },
  };
}
