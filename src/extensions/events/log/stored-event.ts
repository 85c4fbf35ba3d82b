// An event as it is kept: an item of a list, under its id.

import type { JsonObject } from '../../../jsonrpc/message.js';
import type { NewEvent } from '../../../server/state/emitting.js';
import type { ListItem } from '../../../state/store.js';
import type { LogPosition } from './positions.js';

export type { NewEvent } from '../../../server/state/emitting.js';

/** An event that is kept. */
export interface StoredEvent extends NewEvent {
  /** The place after the event. */
  readonly position: LogPosition;
}

/** An event after `append`. */
export interface Appended {
  readonly eventId: string;
  /** Whether the event was appended by this call. Otherwise it was there already, and is not told again. */
  readonly isNew: boolean;
}

/** The room of a segment. An event takes one unit for each part of `UNIT_BYTES`, so a segment has at most 500 events, or 1 MB. */
export const SEGMENT_UNITS = 500;
const UNIT_BYTES = 2100;

const encoder = new TextEncoder();

/** The item of an event, with the room that it takes. */
export function itemOf({ timestamp, data, _meta, to }: NewEvent): {
  readonly value: JsonObject;
  readonly units: number;
} {
  const value = { timestamp, data, ...(_meta && { _meta }), ...(to && { to }) };
  const bytes = encoder.encode(JSON.stringify(value)).length;
  const units = Math.max(1, Math.ceil(bytes / UNIT_BYTES));
  return { units, value: units === 1 ? value : { ...value, units } };
}

/** The event of an item that comes after `before`. */
export function eventOf({ name, at, value }: ListItem, { segment, used }: LogPosition): StoredEvent {
  const { units, ...event } = value as { readonly units?: number } & Omit<NewEvent, 'eventId'>;
  return { eventId: name, ...event, position: { segment, at, used: used + (units ?? 1) } };
}
