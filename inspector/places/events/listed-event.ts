// A type of events as the server lists it, read for the page.

import { isObject, type JsonObject } from '../../../src/jsonrpc/message.js';

export interface ListedEventType {
  readonly name: string;
  readonly description: string;
  readonly delivery: readonly string[];
  readonly inputSchema: JsonObject;
  readonly payloadSchema: JsonObject | undefined;
}

const types = new WeakMap<JsonObject, ListedEventType>();

/** The same entry is always the same type, so that its forms keep their schemas. */
export function listedEventType(entry: JsonObject): ListedEventType {
  const known = types.get(entry);
  if (known !== undefined) return known;
  const { name, description, delivery, inputSchema, payloadSchema } = entry;
  const type: ListedEventType = {
    name: String(name),
    description: typeof description === 'string' ? description : '',
    delivery: Array.isArray(delivery) ? delivery.map(String) : [],
    inputSchema: isObject(inputSchema) ? inputSchema : { type: 'object' },
    payloadSchema: isObject(payloadSchema) ? payloadSchema : undefined,
  };
  types.set(entry, type);
  return type;
}
