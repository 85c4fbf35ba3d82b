// A schema in a few characters, as in `add(a: number, b?: number = 1)`.

import type { JsonObject } from '../../jsonrpc/message.js';
import { fieldsOf } from '../../schema/read/across-branches.js';
import { type Shape, type ShapeField, shapeOf } from '../../schema/read/shape.js';
import { cleanLine } from '../../tooling/clean.js';

const MAX_FIELDS = 30;
const MAX_CHOICES = 8;
const MAX_DEPTH = 3;
/** The types of one schema that are printed. */
const MAX_PARTS = 500;
const NAME = /^[A-Za-z_$][\w$]*$/;

/** The fields of an object schema, as the parameters of a function. */
export function parameters(schema: JsonObject): string {
  const place = startAt(schema, 1);
  return listed(
    fieldsOf(schema, schema),
    (field) =>
      `${fieldName(field)}${optional(field)}: ${typeAt(field.schema, place)}${defaultOf(shapeOf(field.schema, schema))}`,
  );
}

/** The type that a schema describes; references point into `root`. */
export function typeOf(schema: unknown, root: JsonObject): string {
  return typeAt(schema, startAt(root, 0));
}

interface Place {
  readonly root: JsonObject;
  readonly depth: number;
  readonly parts: { left: number };
  /** The references that lead here. */
  readonly references: ReadonlySet<string>;
}

function startAt(root: JsonObject, depth: number): Place {
  return { root, depth, parts: { left: MAX_PARTS }, references: new Set() };
}

function typeAt(schema: unknown, place: Place): string {
  const shape = shapeOf(schema, place.root);
  const isRepeated = [...shape.references].some((reference) => place.references.has(reference));
  if (place.parts.left-- <= 0 || isRepeated) return '…';
  const references = new Set([...place.references, ...shape.references]);
  const type = typeOfShape(shape, { ...place, depth: place.depth + 1, references });
  return shape.isNullable && shape.kind !== 'null' && shape.kind !== 'any' ? `${type} | null` : type;
}

/** The type of a shape whose parts are at `inner`. */
function typeOfShape(shape: Shape, inner: Place): string {
  switch (shape.kind) {
    case 'string':
    case 'boolean':
    case 'null':
    case 'never':
      return shape.kind;
    case 'number':
      return range(shape.schema) ?? (shape.isInteger ? 'int' : 'number');
    case 'const':
      return printed(shape.value);
    case 'choice':
      return choices(shape.options.map(({ value }) => printed(value)));
    case 'map':
      return 'object';
    case 'object':
      return objectOf(shape.fields, inner);
    case 'array':
      return arrayOf(shape.items, inner);
    case 'tuple':
      return tupleOf(shape.first, shape.rest, inner);
    case 'union':
      if (isTooDeep(inner)) return '…';
      return choices([...new Set(shape.branches.slice(0, 4 * MAX_CHOICES).map((one) => typeAt(one, inner)))]);
    case 'any':
      return typeof shape.schema['type'] === 'string' ? cleanLine(shape.schema['type'], 20) : 'any';
    default:
      return shape satisfies never;
  }
}

function isTooDeep({ depth }: Place): boolean {
  return depth > MAX_DEPTH + 1;
}

function objectOf(fields: readonly ShapeField[], inner: Place): string {
  if (fields.length === 0) return 'object';
  if (isTooDeep(inner)) return '…';
  return `{ ${listed(fields, (field) => `${fieldName(field)}${optional(field)}: ${typeAt(field.schema, inner)}`)} }`;
}

function arrayOf(items: unknown, inner: Place): string {
  if (items === undefined) return 'any[]';
  if (isTooDeep(inner)) return '…';
  const item = typeAt(items, inner);
  const { kind, isNullable } = shapeOf(items, inner.root);
  // The braces of one object hold it together; those of several do not.
  const isOneObject = kind === 'object' && !isNullable;
  return item.includes(' ') && !isOneObject && kind !== 'tuple' ? `(${item})[]` : `${item}[]`;
}

function tupleOf(first: readonly unknown[], rest: unknown, inner: Place): string {
  if (isTooDeep(inner)) return '…';
  const types = first.slice(0, MAX_FIELDS).map((item) => typeAt(item, inner));
  if (first.length > MAX_FIELDS) types.push('…');
  else if (typeof rest === 'object') types.push(`...${arrayOf(rest, inner)}`);
  return `[${types.join(', ')}]`;
}

function listed(fields: readonly ShapeField[], print: (field: ShapeField) => string): string {
  const shown = fields.slice(0, MAX_FIELDS).map(print);
  return [...shown, ...(fields.length > MAX_FIELDS ? ['…'] : [])].join(', ');
}

function range({ minimum, maximum, type }: Shape['schema']): string | undefined {
  const bounds = [minimum, maximum].map((bound) => (typeof bound === 'number' ? String(bound) : ''));
  const isSafe = Math.abs(Number(maximum)) === Number.MAX_SAFE_INTEGER;
  if (bounds.join('') === '' || isSafe) return undefined;
  return `${bounds.join('..')}${type === 'number' ? ' number' : ''}`;
}

function defaultOf({ schema }: Shape): string {
  return 'default' in schema ? ` = ${printed(schema['default'])}` : '';
}

function choices(types: readonly string[]): string {
  const shown = types.slice(0, MAX_CHOICES);
  return [...shown, ...(types.length > MAX_CHOICES ? ['…'] : [])].join(' | ');
}

function fieldName({ name }: ShapeField): string {
  return NAME.test(name) && name.length <= 64 ? name : JSON.stringify(cleanLine(name, 64));
}

function optional({ isRequired }: ShapeField): string {
  return isRequired ? '' : '?';
}

function printed(value: unknown): string {
  return cleanLine(JSON.stringify(value) ?? 'any', 40);
}
