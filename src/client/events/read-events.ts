// Reads what a server lists and tells, and refuses what is malformed.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { deliveryModes } from '../../protocol/events/offer.js';
import { SUBSCRIPTION_ID } from '../../protocol/meta.js';
import type { ListedEvent, ReceivedEvent } from '../model/events.js';

/** ISO 8601 with a zone, as JSON carries a time. */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,20})?)?(?:Z|[+-]\d\d:?\d\d)$/i;
/** The longest id of an event. A longer one could not be in a header. */
const MAX_ID = 1024;

/** The type of events in an entry of a list; undefined if it has no name. Ways of delivery that are not known are left out. */
export function toListedEvent(entry: JsonObject): ListedEvent | undefined {
  const { name, description, delivery, inputSchema, payloadSchema, _meta } = entry;
  if (typeof name !== 'string' || name === '') return undefined;
  const words: readonly unknown[] = Array.isArray(delivery) ? delivery : [];
  return {
    name,
    ...(typeof description === 'string' && { description }),
    delivery: deliveryModes.filter((mode) => words.includes(mode)),
    ...(isObject(inputSchema) && { inputSchema }),
    ...(isObject(payloadSchema) && { payloadSchema }),
    ...(isObject(_meta) && { _meta }),
  };
}

/** The event that a server has told; a sentence if it is malformed, or not of the type `name`. */
export function readEvent(value: unknown, name: string | undefined): ReceivedEvent | string {
  if (!isObject(value)) return 'the event is not an object';
  const { eventId, timestamp, data, _meta } = value;
  if (typeof eventId !== 'string' || eventId === '' || eventId.length > MAX_ID)
    return `"eventId" must be a string of 1 to ${MAX_ID} characters`;
  if (typeof value['name'] !== 'string') return '"name" must be a string';
  if (name !== undefined && value['name'] !== name) return '"name" is that of another type';
  if (typeof timestamp !== 'string' || !TIMESTAMP.test(timestamp) || Number.isNaN(Date.parse(timestamp)))
    return '"timestamp" must be a time in ISO 8601 with a zone';
  if (!isObject(data)) return '"data" must be an object';
  return {
    eventId,
    name: value['name'],
    timestamp,
    data,
    cursor: readCursor(value) ?? null,
    meta: isObject(_meta) ? ownMeta(_meta) : undefined,
  };
}

/** The meta of the event itself: on a stream, it also names the request. */
function ownMeta({ [SUBSCRIPTION_ID]: _, ...meta }: JsonObject): JsonObject | undefined {
  return Object.keys(meta).length > 0 ? meta : undefined;
}

/** The cursor of a message: null stands for a type without positions; undefined if the message has none. */
export function readCursor(message: JsonObject): string | null | undefined {
  const { cursor } = message;
  return typeof cursor === 'string' || cursor === null ? cursor : undefined;
}
