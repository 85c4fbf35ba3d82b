// Converts strings in a value to the types that the schema asks for.

import {
  ARRAY,
  allowedTypesOf,
  BOOLEAN,
  bitOf,
  FRACTION,
  INTEGER,
  NULL,
  OBJECT,
  STRING,
} from '../document/json-types.js';
import type { SchemaDocument, SchemaNode } from '../document/nodes.js';
import { isPlainObject } from '../document/plain-json.js';
import { onlyCandidate } from './branches.js';

const MAX_VALUE_DEPTH = 64;
const MAX_JSON_TEXT = 100_000;
/** References that are followed. A schema that mentions itself twice in one field doubles the work with each level of a value. */
const MAX_REFERENCES = 100_000;

/** The value after coercion, and whether it changed. */
export interface Coercion {
  readonly changed: boolean;
  readonly value: unknown;
}

/**
 * Converts strings to the values that they spell: models send `"5"` for 5 and `"[1,2]"` for [1,2]. A string is converted only
 * where the schema forbids strings and the string is exactly a value of a type that the schema allows. A valid value never
 * changes. The argument is never mutated; only the path to a change is copied.
 */
export function coerce(document: SchemaDocument, value: unknown): Coercion {
  const allowedTypes = allowedTypesOf(document);
  let references = 0;
  const result = at(document.root, value, 0);
  return { changed: result !== value, value: result };

  function at(schema: SchemaNode | boolean, current: unknown, depth: number): unknown {
    if (typeof schema === 'boolean' || depth > MAX_VALUE_DEPTH) return current;
    if (typeof current === 'string') {
      const types = allowedTypes(schema);
      if ((types & STRING) !== 0) return current;
      const parsed = parseText(current, types);
      return parsed === undefined ? current : within(schema, parsed, depth);
    }
    return within(schema, current, depth);
  }

  function within(node: SchemaNode, current: unknown, depth: number): unknown {
    if (typeof current !== 'object' || current === null) return current;
    let next: unknown = current;
    if (node.$ref !== undefined && ++references <= MAX_REFERENCES)
      next = at(document.target(node.$ref), next, depth);
    for (const part of node.allOf ?? []) next = at(part, next, depth);
    for (const branches of [node.anyOf, node.oneOf]) {
      if (branches === undefined) continue;
      const candidate = onlyCandidate(document, branches, { allowedTypes, value: next });
      if (candidate !== undefined) next = at(branches[candidate] ?? true, next, depth);
    }
    if (Array.isArray(next)) return items(node, next, depth);
    return isPlainObject(next) ? fields(node, next, depth) : next;
  }

  function items(node: SchemaNode, list: readonly unknown[], depth: number): readonly unknown[] {
    if (node.items === undefined && node.prefixItems === undefined) return list;
    let copy: unknown[] | undefined;
    for (const [i, item] of list.entries()) {
      const next = at(node.prefixItems?.[i] ?? node.items ?? true, item, depth + 1);
      if (next !== item) {
        copy ??= [...list];
        copy[i] = next;
      }
    }
    return copy ?? list;
  }

  function fields(node: SchemaNode, object: Readonly<Record<string, unknown>>, depth: number): unknown {
    let copy: Record<string, unknown> | undefined;
    for (const [name, field] of Object.entries(object)) {
      let next = field;
      for (const schema of schemasOfField(node, name)) next = at(schema, next, depth + 1);
      if (next !== field) {
        copy ??= { ...object };
        copy[name] = next; // the spread made every field an own property, even one named `__proto__`
      }
    }
    return copy ?? object;
  }
}

/** The subschemas of a node that apply to one field, without those of its combinators. */
export function schemasOfField(node: SchemaNode, name: string): readonly (SchemaNode | boolean)[] {
  const own: (SchemaNode | boolean)[] = [];
  const property = node.properties?.[name];
  if (property !== undefined) own.push(property);
  for (const [pattern, schema] of Object.entries(node.patternProperties ?? {})) {
    if (new RegExp(pattern, 'u').test(name)) own.push(schema);
  }
  if (own.length === 0 && node.additionalProperties !== undefined) own.push(node.additionalProperties);
  return own;
}

// The grammar of RFC 8259: no sign but minus, no leading zeros, no hexadecimal, no surrounding space.
const JSON_NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

function parseText(text: string, types: number): unknown {
  if ((types & BOOLEAN) !== 0 && (text === 'true' || text === 'false')) return text === 'true';
  if ((types & NULL) !== 0 && text === 'null') return null;
  if ((types & (INTEGER | FRACTION)) !== 0 && JSON_NUMBER.test(text)) {
    const number = Number(text);
    // An identifier with more digits than a double can hold must not silently become another identifier.
    const isExact = Number.isInteger(number) ? Number.isSafeInteger(number) : Number.isFinite(number);
    return isExact && (types & bitOf(number)) !== 0 ? number : undefined;
  }
  return (types & (ARRAY | OBJECT)) !== 0 ? parseStructure(text, types) : undefined;
}

function parseStructure(text: string, types: number): unknown {
  const start = text.trimStart().charAt(0);
  if ((start !== '[' && start !== '{') || text.length > MAX_JSON_TEXT) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    // The limit on a message's depth has not been applied to the contents of this string.
    return (types & bitOf(parsed)) !== 0 && !deeperThan(parsed, MAX_VALUE_DEPTH) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((child) => deeperThan(child, levels - 1));
}
