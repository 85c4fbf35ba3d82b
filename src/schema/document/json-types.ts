// Sets of JSON types as bits. A number is an integer or a fraction, so that "integer" is a part of "number".

import type { SchemaDocument, SchemaNode } from './nodes.js';

export const NULL = 1;
export const BOOLEAN = 2;
export const INTEGER = 4;
export const FRACTION = 8;
export const STRING = 16;
export const ARRAY = 32;
export const OBJECT = 64;
const ANYTHING = 127;

/** The bits of each name that `type` may have. */
export const typeBits: ReadonlyMap<string, number> = new Map([
  ['null', NULL],
  ['boolean', BOOLEAN],
  ['integer', INTEGER],
  ['number', INTEGER | FRACTION],
  ['string', STRING],
  ['array', ARRAY],
  ['object', OBJECT],
]);

/** The bit of the type that a value has. */
export function bitOf(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return STRING;
    case 'number':
      return Number.isInteger(value) ? INTEGER : FRACTION;
    case 'boolean':
      return BOOLEAN;
    default:
      if (value === null) return NULL;
      return Array.isArray(value) ? ARRAY : OBJECT;
  }
}

/** Returns the bits of the types that a schema allows. */
export type AllowedTypes = (schema: SchemaNode | boolean) => number;

/**
 * Finds the types that a schema allows. The result may have too many types (`not` and `if` are not read), but never too few: a
 * type that is missing is surely rejected. Schemas cannot loop in place (see expansion.ts), so the search ends.
 */
export function allowedTypesOf(document: SchemaDocument): AllowedTypes {
  const cache = new Map<SchemaNode, number>();

  function allowedTypes(schema: SchemaNode | boolean): number {
    if (typeof schema === 'boolean') return ANYTHING;
    let bits = cache.get(schema);
    if (bits === undefined) {
      bits = compute(schema);
      cache.set(schema, bits);
    }
    return bits;
  }

  function compute(node: SchemaNode): number {
    let bits = ANYTHING;
    if (node.type !== undefined) bits &= unionOf(node.type, (type) => typeBits.get(type) ?? 0);
    if (Object.hasOwn(node, 'const')) bits &= bitOf(node.const);
    if (node.enum !== undefined) bits &= unionOf(node.enum, bitOf);
    if (node.$ref !== undefined) bits &= allowedTypes(document.target(node.$ref));
    for (const part of node.allOf ?? []) bits &= allowedTypes(part);
    if (node.anyOf !== undefined) bits &= unionOf(node.anyOf, allowedTypes);
    if (node.oneOf !== undefined) bits &= unionOf(node.oneOf, allowedTypes);
    return bits;
  }
  return allowedTypes;
}

function unionOf<T>(items: readonly T[], bitsOf: (item: T) => number): number {
  let bits = 0;
  for (const item of items) bits |= bitsOf(item);
  return bits;
}
