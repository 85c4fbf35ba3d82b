// The arguments in an address, as in `#/tools/order_pizza?size=large`.

import type { JsonObject } from '../../../src/jsonrpc/message.js';
import { tryParse } from '../../../src/jsonrpc/try-parse.js';
import { fieldsOf } from '../../../src/schema/read/across-branches.js';
import { type Shape, shapeOf } from '../../../src/schema/read/shape.js';

/**
 * The values of an address, each read as its schema wants it; what cannot be read stays a string, and the form says that it is wrong.
 * As on the command line, `customer.name` is a field of `customer`, unless an argument has that name.
 */
export function fromQuery(query: URLSearchParams, schema: JsonObject): JsonObject {
  const args: JsonObject = {};
  for (const [name, text] of query) {
    const path = fieldOf(name, schema, schema) === undefined ? name.split('.', 8) : [name];
    let place = args;
    let at: Shape['schema'] = schema;
    path.forEach((part, index) => {
      const field = fieldOf(part, at, schema);
      if (index === path.length - 1) define(place, part, field?.kind === 'string' ? text : jsonOr(text));
      else {
        const inner = Object.hasOwn(place, part) ? place[part] : undefined;
        const next = (typeof inner === 'object' && inner !== null ? inner : {}) as JsonObject;
        define(place, part, next);
        place = next;
        at = field?.schema ?? {};
      }
    });
  }
  return args;
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

function fieldOf(name: string, schema: Shape['schema'], root: JsonObject): Shape | undefined {
  const field = fieldsOf(schema, root).find((each) => each.name === name);
  return field && shapeOf(field.schema, root);
}

// An argument may be called `__proto__`.
function define(place: JsonObject, key: string, value: unknown): void {
  Object.defineProperty(place, key, { value, enumerable: true, configurable: true, writable: true });
}

function jsonOr(text: string): unknown {
  const value = tryParse(text);
  return value === undefined ? text : value;
}
