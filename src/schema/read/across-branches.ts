// The fields and the types of a schema in all of its branches together: an object may be one of several, and so may a value.

import type { JsonSchema } from '../document/plain-json.js';
import { type Shape, type ShapeField, shapeOf } from './shape.js';

/** The branches that are read, with those inside of them. A schema that refers to itself many times would have no end. */
const MAX_BRANCHES = 2000;
const MAX_DEPTH = 8;
/** The fields of all branches together. A short schema can refer to an object with many fields a thousand times. */
const MAX_FIELDS = 20_000;

interface Walk {
  readonly root: JsonSchema;
  readonly depth: number;
  readonly budget: { branches: number; fields: number };
}

/**
 * The fields of an object, or of all objects that a union allows. A field is required if each of them requires it, and one that they describe
 * differently is a union itself.
 */
export function fieldsOf(schema: unknown, root: JsonSchema): readonly ShapeField[] {
  const all = leavesOf(schema, root).map((shape) => (shape.kind === 'object' ? shape.fields : []));
  const [only, second] = all;
  if (only === undefined || second === undefined) return only ?? [];
  const found = new Map<string, { readonly schemas: Map<string, unknown>; needs: number }>();
  for (const { name, schema: field, isRequired } of all.flat()) {
    const one = found.get(name) ?? { schemas: new Map<string, unknown>(), needs: 0 };
    one.schemas.set(JSON.stringify(field), field);
    if (isRequired) one.needs++;
    found.set(name, one);
  }
  return [...found].map(([name, { schemas, needs }]) => {
    const [first, ...others] = schemas.values();
    const field = others.length === 0 ? first : { anyOf: [first, ...others] };
    return { name, schema: field, isRequired: needs === all.length };
  });
}

/** The type of a JSON value. */
export type JsonType = 'string' | 'number' | 'boolean' | 'array' | 'object' | 'null';

/** The types of the values that a schema describes; empty if it does not say. */
export function jsonTypesOf(schema: unknown, root: JsonSchema): ReadonlySet<JsonType> {
  return new Set(leavesOf(schema, root).flatMap(typesOfShape));
}

/** The type of a value. */
export function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : (typeof value as JsonType);
}

function typesOfShape(shape: Shape): readonly JsonType[] {
  const types = ownTypes(shape);
  return shape.isNullable ? [...types, 'null'] : types;
}

function ownTypes(shape: Shape): readonly JsonType[] {
  switch (shape.kind) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'array':
    case 'object':
    case 'null':
      return [shape.kind];
    case 'map':
      return ['object'];
    case 'tuple':
      return ['array'];
    case 'const':
      return [jsonTypeOf(shape.value)];
    case 'choice':
      return shape.options.map(({ value }) => jsonTypeOf(value));
    default:
      return [];
  }
}

/** The shape of a schema, or those of its branches, and of their branches. */
export function leavesOf(schema: unknown, root: JsonSchema): readonly Shape[] {
  return leaves(schema, { root, depth: 0, budget: { branches: MAX_BRANCHES, fields: MAX_FIELDS } });
}

function leaves(schema: unknown, walk: Walk): readonly Shape[] {
  const { budget, depth, root } = walk;
  if (budget.branches-- <= 0 || budget.fields <= 0 || depth > MAX_DEPTH) return [];
  const shape = shapeOf(schema, root);
  if (shape.kind === 'object') budget.fields -= shape.fields.length;
  if (shape.kind !== 'union') return [shape];
  const inner = { ...walk, depth: depth + 1 };
  const branches = shape.branches.flatMap((branch) => leaves(branch, inner));
  return shape.isNullable ? branches.map((branch) => ({ ...branch, isNullable: true })) : branches;
}
