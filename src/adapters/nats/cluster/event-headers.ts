// The headers of stored events: those of NATS, and our own.

import type { NatsHeaders } from '../connection/nats-types.js';

/** The id under which JetStream stores a repeated message once. */
export const MSG_ID = 'Nats-Msg-Id';
/** Marks the event that ends a stream. */
export const LAST = 'Fullmcp-Last';
/** The number of messages that have the data of an event that is too large for one. */
export const PARTS = 'Fullmcp-Parts';
/** Tells the followers of a stream that it was dropped. */
export const DROPPED = 'Fullmcp-Dropped';

const SEQUENCE = 'Nats-Sequence';
const PREVIOUS = 'Nats-Last-Sequence';

/** An event with its place in the stream. */
export interface PlacedEvent {
  readonly seq: number;
  /** The sequence of the event before it; 0 if there is none. */
  readonly previous: number;
  readonly headers: NatsHeaders | undefined;
  readonly data: Uint8Array;
}

/** Reads a message that JetStream published again. Undefined if it is not one: anybody may publish there. */
export function readLive(headers: NatsHeaders | undefined, data: Uint8Array): PlacedEvent | undefined {
  const seq = Number(headers?.get(SEQUENCE) || Number.NaN);
  const previous = Number(headers?.get(PREVIOUS) || Number.NaN);
  if (!Number.isSafeInteger(seq) || !Number.isSafeInteger(previous) || previous >= seq) return undefined;
  return { seq, previous, headers, data };
}
