// Finds the subschemas that apply to one part of a value.

import { allowedTypesOf } from '../document/json-types.js';
import type { SchemaDocument, SchemaNode } from '../document/nodes.js';
import { onlyCandidate } from './branches.js';
import { schemasOfField } from './coerce.js';

// Enough to name fields: an error message does not need every branch of a huge union.
const MAX_PLACES = 200;

/** Every subschema that applies to the value at a path, through references, combinations and the intended branch of a union. */
export function placesAt(
  document: SchemaDocument,
  path: readonly (string | number)[],
  value: unknown,
): readonly SchemaNode[] {
  const allowedTypes = allowedTypesOf(document);
  let current: unknown = value;
  let places = expand([document.root]);
  for (const key of path) {
    const inside = places.flatMap((node) => schemasInside(node, key));
    current = childOf(current, key);
    places = expand(inside);
  }
  return places;

  function expand(schemas: readonly (SchemaNode | boolean)[]): readonly SchemaNode[] {
    const nodes = new Set<SchemaNode>();
    const queue = [...schemas];
    for (let next = queue.shift(); next !== undefined && nodes.size < MAX_PLACES; next = queue.shift()) {
      if (typeof next === 'boolean' || nodes.has(next)) continue;
      nodes.add(next);
      if (next.$ref !== undefined) queue.push(document.target(next.$ref));
      queue.push(...(next.allOf ?? []));
      for (const branches of [next.anyOf, next.oneOf]) {
        if (branches === undefined) continue;
        const candidate = onlyCandidate(document, branches, { allowedTypes, value: current });
        queue.push(...(candidate === undefined ? branches : [branches[candidate] ?? true]));
      }
    }
    return [...nodes];
  }
}

/** The names of the fields that these subschemas define, in the order of the schema. */
export function fieldNames(places: readonly SchemaNode[]): readonly string[] {
  return [...new Set(places.flatMap((node) => Object.keys(node.properties ?? {})))];
}

/** The part of a value at a path; undefined if there is none. */
export function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce(childOf, value);
}

/** Converts a path of the validator, which has only strings, to one with numbers where the value has arrays. */
export function typedPath(value: unknown, tokens: readonly string[]): readonly (string | number)[] {
  let current = value;
  return tokens.map((token) => {
    const key = Array.isArray(current) ? Number(token) : token;
    current = childOf(current, token);
    return key;
  });
}

function schemasInside(node: SchemaNode, key: string | number): readonly (SchemaNode | boolean)[] {
  if (typeof key === 'string') return schemasOfField(node, key);
  return [node.prefixItems?.[key] ?? node.items ?? true];
}

function childOf(value: unknown, key: string | number): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string | number, unknown>>)[key];
}
