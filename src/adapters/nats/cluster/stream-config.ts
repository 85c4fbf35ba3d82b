// The limits of the event log, and the configuration of its stream.

import type { EventLimits } from '../../../state/event-log.js';
import type { StreamSettings } from '../connection/nats-types.js';

/** The limits of the event log on JetStream. At a limit, the oldest events are dropped. */
export interface NatsEventLimits extends EventLimits {
  /**
   * The size of all events together, in bytes. NATS reserves that much of its storage. An event larger than a quarter of it is
   * rejected. Default: 256 MB.
   */
  readonly maxBytes?: number;
  /** The number of servers of a NATS cluster that keep each event. Default: 1. */
  readonly replicas?: number;
  /** The place where NATS keeps events. Those in memory are lost when it restarts. Default: `file`. */
  readonly storage?: 'file' | 'memory';
}

/** Repeated attempts to store an event end long before this. */
const DUPLICATE_WINDOW_MS = 30_000;
const NANOS = 1_000_000;

/** The size of the largest event, and the option that sets it. One larger than a quarter of the log would displace most others. */
export function largestEvent({
  maxEventBytes,
  maxBytes,
}: Required<NatsEventLimits>): readonly [bytes: number, option: string] {
  const quarter = Math.floor(maxBytes / 4);
  return quarter < maxEventBytes ? [quarter, 'a quarter of maxBytes'] : [maxEventBytes, 'maxEventBytes'];
}

/** The configuration of the stream. */
export function streamConfig(
  name: string,
  prefix: string,
  limits: Required<NatsEventLimits>,
): StreamSettings {
  const { maxAgeMs, maxEventsPerStream, maxBytes, replicas, storage } = limits;
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
