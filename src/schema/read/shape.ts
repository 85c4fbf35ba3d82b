// Says what a JSON Schema describes, for everything that shows or reads values by a schema without validating them: forms, the command line,
// generated code. The schema comes from a peer: garbage is read as "any", and references are followed only inside the document.

import type { JsonSchema } from '../document/plain-json.js';
import { isNothing, isSchema, requiredOf, resolveSchema, typesOf } from './resolve.js';

/** The values that a schema describes, by their kind. Schemas inside of it are as they were sent: `shapeOf` reads them, too. */
export type Shape = AnyShape &
  (
    | { readonly kind: 'any' | 'never' | 'null' | 'string' | 'boolean' }
    | { readonly kind: 'number'; readonly isInteger: boolean }
    | { readonly kind: 'const'; readonly value: unknown }
    /** One of several values, none of which is null. */
    | { readonly kind: 'choice'; readonly options: readonly ShapeOption[]; readonly isCut: boolean }
    /** `rest` is the schema of fields that have no name here; `false` if there are none. */
    | { readonly kind: 'object'; readonly fields: readonly ShapeField[]; readonly rest: unknown }
    /** An object whose fields the schema does not name. */
    | { readonly kind: 'map'; readonly values: unknown }
    | { readonly kind: 'array'; readonly items: unknown }
    /** `rest` is the schema of further items; `false` if there are none. */
    | { readonly kind: 'tuple'; readonly first: readonly unknown[]; readonly rest: unknown }
    | { readonly kind: 'union'; readonly branches: readonly unknown[]; readonly isCut: boolean }
  );

interface AnyShape {
  /** The keywords, with references followed and `allOf` joined; without `oneOf` and `anyOf`, which became `branches` or `options`. */
  readonly schema: JsonSchema;
  /** Whether null fits, too. */
  readonly isNullable: boolean;
  /** The references that led here: a shape that is read inside of another with the same reference repeats without an end. */
  readonly references: ReadonlySet<string>;
}

/** A named field of an object. */
export interface ShapeField {
  readonly name: string;
  readonly schema: unknown;
  readonly isRequired: boolean;
}

/** One of the values to choose from. */
export interface ShapeOption {
  readonly value: unknown;
  readonly label: string;
}

/** More choices and branches than this are cut off, and `isCut` says so. */
const MAX_CHOICES = 1000;
/** Unions of one schema, inside of each other. */
const MAX_NESTED = 20;

// A form asks for the same shapes with every letter that is typed.
const known = new WeakMap<JsonSchema, WeakMap<JsonSchema, Shape>>();

/** The shape of a schema, whose references point into `root`. */
export function shapeOf(given: unknown, root: JsonSchema): Shape {
  if (!isSchema(given) || !isSchema(root)) return readShape(given, { root, nested: 0 });
  const shapes = known.get(root) ?? new WeakMap<JsonSchema, Shape>();
  known.set(root, shapes);
  const shape = shapes.get(given) ?? readShape(given, { root, nested: 0 });
  shapes.set(given, shape);
  return shape;
}

interface Place {
  readonly root: JsonSchema;
  readonly nested: number;
  readonly references?: ReadonlySet<string>;
}

function readShape(given: unknown, place: Place): Shape {
  const { schema, references } = resolveSchema(given, place.root, place.references);
  const base = { schema, references, isNullable: schema['nullable'] === true };
  if (isNothing(schema)) return { ...base, kind: 'never' };
  if (Object.hasOwn(schema, 'const')) return constShape(base, schema['const']);
  if (Array.isArray(schema['enum'])) return enumShape(base, schema['enum']);
  const branches = schema['oneOf'] ?? schema['anyOf'];
  if (!Array.isArray(branches)) return typedShape(base);
  const { oneOf, anyOf, ...beside } = schema;
  return unionShape({ ...base, schema: beside }, branches, { ...place, references });
}

function constShape(base: AnyShape, value: unknown): Shape {
  return value === null ? { ...base, kind: 'null' } : { ...base, kind: 'const', value };
}

function enumShape(base: AnyShape, values: readonly unknown[]): Shape {
  const { enumNames } = base.schema;
  const names: readonly unknown[] = Array.isArray(enumNames) ? enumNames : [];
  const options = values
    .slice(0, MAX_CHOICES)
    .map((value, at) => ({ value, label: labelOf(names[at], value) }))
    .filter(({ value }) => value !== null);
  const isNullable = base.isNullable || values.includes(null);
  if (options.length === 0) return { ...base, kind: values.includes(null) ? 'null' : 'never' };
  return { ...base, isNullable, kind: 'choice', options, isCut: values.length > MAX_CHOICES };
}

function unionShape(base: AnyShape, all: readonly unknown[], place: Place): Shape {
  const isCut = all.length > MAX_CHOICES;
  const read = all
    .slice(0, MAX_CHOICES)
    .map((branch) => ({ branch, schema: resolveSchema(branch, place.root).schema }));
  const real = read.filter(({ schema }) => !isNull(schema) && !isNothing(schema));
  const isNullable = base.isNullable || read.some(({ schema }) => isNull(schema));
  const [only] = real;
  if (only === undefined) return { ...base, kind: isNullable ? 'null' : 'never' };
  if (real.length === 1 && place.nested < MAX_NESTED) {
    const inner = { ...place, nested: place.nested + 1 };
    const shape = readShape({ allOf: [only.branch, base.schema] }, inner);
    return { ...shape, isNullable: isNullable || shape.isNullable };
  }
  // Choices with a title each are often written as a union of constants.
  if (real.every(({ schema }) => Object.hasOwn(schema, 'const'))) {
    const options = real.map(({ schema: { const: value, title } }) => ({
      value,
      label: labelOf(title, value),
    }));
    return { ...base, isNullable, kind: 'choice', options, isCut };
  }
  // Requirements only, as in "a or b": the keywords beside them are enough.
  if (!real.some(({ schema }) => saysKind(schema))) return typedShape({ ...base, isNullable });
  const common = commonPart(base.schema);
  const branches = real.map(({ branch }) => (common ? { allOf: [common, branch] } : branch));
  return { ...base, isNullable, kind: 'union', branches, isCut };
}

/** The part of the schema beside a union that holds for each of its branches: a title is that of the whole. */
function commonPart({
  title,
  description,
  default: _,
  examples,
  ...common
}: JsonSchema): JsonSchema | undefined {
  return saysKind(common) ? common : undefined;
}

const KIND_KEYWORDS = ['type', 'const', 'enum', 'oneOf', 'anyOf', 'properties', 'items', 'prefixItems'];

/** Whether a schema says what kind of value it wants, and not only what a value must have. */
function saysKind(schema: JsonSchema): boolean {
  return KIND_KEYWORDS.some((keyword) => schema[keyword] !== undefined);
}

function isNull(schema: JsonSchema): boolean {
  const { type, const: value, enum: values } = schema;
  if (type === 'null' || value === null) return true;
  return Array.isArray(values) && values.length > 0 && values.every((one) => one === null);
}

function typedShape(base: AnyShape): Shape {
  const types = new Set(typesOf(base.schema));
  const hasNull = types.delete('null');
  if (types.has('number')) types.delete('integer');
  const [type, second] = types;
  if (type === undefined) return hasNull ? { ...base, kind: 'null' } : guessedShape(base);
  const shape = { ...base, isNullable: base.isNullable || hasNull };
  if (second === undefined) return shapeOfType(shape, type);
  const branches = [...types].map((one) => ({ ...base.schema, type: one, nullable: false }));
  return { ...shape, kind: 'union', branches, isCut: false };
}

function shapeOfType(base: AnyShape, type: string): Shape {
  switch (type) {
    case 'string':
    case 'boolean':
      return { ...base, kind: type };
    case 'integer':
    case 'number':
      return { ...base, kind: 'number', isInteger: type === 'integer' };
    case 'array':
      return arrayShape(base);
    case 'object':
      return objectShape(base);
    default:
      return { ...base, kind: 'any' };
  }
}

/** Many schemas are written without a type where their other keywords leave no doubt. */
function guessedShape(base: AnyShape): Shape {
  const { properties, additionalProperties, items, prefixItems } = base.schema;
  if (isSchema(properties) || isSchema(additionalProperties)) return objectShape(base);
  if (isSchema(items) || Array.isArray(items) || Array.isArray(prefixItems)) return arrayShape(base);
  return { ...base, kind: 'any' };
}

function arrayShape(base: AnyShape): Shape {
  const { items, prefixItems, additionalItems, maxItems } = base.schema;
  // Draft-07 has the first items in `items`, and all others in `additionalItems`.
  const [first, rest] = Array.isArray(items) ? [items, additionalItems] : [prefixItems, items];
  if (!Array.isArray(first)) return { ...base, kind: 'array', items };
  const isFull = typeof maxItems === 'number' && maxItems <= first.length;
  return { ...base, kind: 'tuple', first, rest: isFull ? false : rest };
}

function objectShape(base: AnyShape): Shape {
  const { schema } = base;
  const fields = isSchema(schema['properties']) ? fieldsIn(schema, schema['properties']) : [];
  const rest = restOf(schema);
  if (fields.length === 0 && rest !== false) return { ...base, kind: 'map', values: rest };
  return { ...base, kind: 'object', fields, rest };
}

// A thousand references to one object share its fields.
const knownFields = new WeakMap<JsonSchema, { required: unknown; fields: readonly ShapeField[] }>();

function fieldsIn(schema: JsonSchema, properties: JsonSchema): readonly ShapeField[] {
  const known = knownFields.get(properties);
  if (known !== undefined && known.required === schema['required']) return known.fields;
  const required = requiredOf(schema);
  const fields = Object.entries(properties).map(([name, field]) => ({
    name,
    schema: field,
    isRequired: required.has(name),
  }));
  knownFields.set(properties, { required: schema['required'], fields });
  return fields;
}

function restOf({ additionalProperties, patternProperties }: JsonSchema): unknown {
  const patterns = isSchema(patternProperties) ? Object.values(patternProperties) : [];
  if (patterns.length === 0 || isSchema(additionalProperties)) return additionalProperties;
  return patterns.length === 1 ? patterns[0] : { anyOf: patterns };
}

function labelOf(title: unknown, value: unknown): string {
  if (typeof title === 'string') return title;
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
