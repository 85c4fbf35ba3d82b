// The arguments in an address, as in `#/tools/order_pizza?size=large`.

import type { JsonObject } from '../../src/jsonrpc/message.js';
import { propertiesOf, shapeOf } from '../form/shape.js';

/** Each value is read as its schema wants it; what cannot be read stays a string, and the form says that it is wrong. */
export function fromQuery(query: URLSearchParams, schema: JsonObject): JsonObject {
  const properties = new Map(propertiesOf(schema));
  const entries = [...query].map(([name, text]) => {
    const { kind } = shapeOf(properties.get(name), schema);
    return [name, kind === 'text' ? text : jsonOr(text)] as const;
  });
  return Object.fromEntries(entries) as JsonObject;
}

/** The inverse: an address that fills the form. */
export function toQuery(args: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : (JSON.stringify(value) ?? ''),
    ]),
  );
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
