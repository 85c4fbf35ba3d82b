// The type of a plain JSON Schema, and a check that an object is one.

import { joinPointer } from './pointer.js';
import { SchemaError } from './schema-error.js';

// Schemas may have long enums and examples, so these limits are generous: they only stop a check that would never end.
const MAX_VALUES = 1_000_000;
const MAX_LEVELS = 256;

/** A plain JSON Schema object. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Throws for values that JSON cannot express: cycles, functions, class instances. A schema that passes can be sent as it is. */
export function assertPlainJson(schema: unknown): asserts schema is JsonSchema {
  if (!isPlainObject(schema)) {
    throw new SchemaError(
      `A schema must be a Standard Schema (zod, valibot, arktype …) or a plain JSON Schema object, not ${nameOf(schema)}.`,
    );
  }
  const ancestors = new Set<object>();
  let count = 0;

  function walk(value: unknown, pointer: string): void {
    if (typeof value !== 'object' || value === null) {
      assertScalar(value, pointer);
      return;
    }
    if (ancestors.has(value)) {
      throw new SchemaError(
        `The schema contains itself at #${pointer}: a circular JavaScript object is not JSON. Use "$ref" for recursion.`,
      );
    }
    if (ancestors.size >= MAX_LEVELS)
      throw new SchemaError(`The schema is nested more than ${MAX_LEVELS} levels deep at #${pointer}.`);
    if (++count > MAX_VALUES)
      throw new SchemaError(`The schema is too large (more than ${MAX_VALUES} values).`);
    if (!Array.isArray(value) && !isPlainObject(value)) assertScalar(value, pointer);
    ancestors.add(value);
    for (const [key, child] of Object.entries(value)) walk(child, joinPointer(pointer, key));
    ancestors.delete(value);
  }
  walk(schema, '');
}

/** True for object literals and parsed JSON, including those of another realm (a worker's or a test runner's). */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function assertScalar(value: unknown, pointer: string): void {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined': // JSON.stringify leaves it out
      return;
    case 'number':
      if (Number.isFinite(value)) return;
      break;
    default:
      if (value === null) return;
  }
  const shape = hasStandard(value)
    ? 'a Standard Schema; an object of schemas is not a schema, wrap it, for example z.object({ … })'
    : nameOf(value);
  throw new SchemaError(`The JSON Schema has a value that is not JSON at #${pointer}: ${shape}.`);
}

function hasStandard(value: unknown): boolean {
  return (typeof value === 'object' || typeof value === 'function') && value !== null && '~standard' in value;
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'number') return String(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value !== 'object') return `a ${typeof value}`;
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' ? `an instance of ${name}` : 'an instance of a class';
}
