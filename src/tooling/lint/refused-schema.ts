// Schemas that a validator of draft-07 refuses, or that have arrays without items: some hosts drop their tools.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { cleanLine } from '../clean.js';

const MAX_NODES = 20_000;
const TYPES = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);
const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'];
const LISTS = ['anyOf', 'oneOf', 'allOf'];
const NAMED = ['properties', 'patternProperties', 'definitions', '$defs', 'dependentSchemas'];
const ONE = [
  'additionalProperties',
  'additionalItems',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
];

/** The first reason to refuse an input schema; undefined if there is none. */
export function schemaProblem(root: unknown): string | undefined {
  if (!isObject(root) || root['type'] !== 'object') return 'the root of its input is not an object';
  const open: (readonly [path: string, schema: unknown])[] = [['', root]];
  for (let at = 0; at < open.length && at < MAX_NODES; at++) {
    const [path, schema] = open[at] as (typeof open)[number];
    if (typeof schema === 'boolean') continue;
    const problem = isObject(schema) ? nodeProblem(schema) : 'a schema is not an object';
    if (problem !== undefined) return path === '' ? problem : `${problem} (${cleanLine(path, 128)})`;
    if (open.length < MAX_NODES) open.push(...insideOf(schema as JsonObject, path));
  }
  return undefined;
}

function nodeProblem(schema: JsonObject): string | undefined {
  const types = [schema['type'] ?? []].flat();
  const type = types.find((one) => typeof one !== 'string' || !TYPES.has(one));
  if (type !== undefined) return `a schema has the type ${cleanLine(JSON.stringify(type), 40)}`;
  if (types.includes('array') && schema['items'] === undefined) return 'an array has no "items"';
  const number = NUMBERS.find((one) => !isNumberOrNone(schema[one]));
  if (number !== undefined) return `"${number}" is not a number`;
  const count = COUNTS.find((one) => !isCountOrNone(schema[one]));
  if (count !== undefined) return `"${count}" is not a count`;
  const { required, enum: values, $ref } = schema;
  if (required !== undefined && !isStrings(required)) return '"required" is not an array of names';
  if (values !== undefined && !(Array.isArray(values) && values.length > 0)) return '"enum" has no values';
  if ($ref !== undefined && typeof $ref !== 'string') return '"$ref" is not a string';
  const list = LISTS.find((one) => schema[one] !== undefined && !isSchemas(schema[one]));
  return list && `"${list}" is not an array of schemas`;
}

function insideOf(schema: JsonObject, path: string): [string, unknown][] {
  const inside: [string, unknown][] = [];
  for (const keyword of NAMED)
    if (isObject(schema[keyword]))
      for (const [name, one] of Object.entries(schema[keyword])) inside.push([`${path}/${name}`, one]);
  for (const keyword of LISTS)
    if (Array.isArray(schema[keyword])) for (const one of schema[keyword]) inside.push([path, one]);
  for (const keyword of ONE) if (schema[keyword] !== undefined) inside.push([path, schema[keyword]]);
  for (const one of [schema['items'] ?? []].flat()) inside.push([`${path}[]`, one]);
  return inside;
}

function isNumberOrNone(value: unknown): boolean {
  return value === undefined || typeof value === 'number';
}

function isCountOrNone(value: unknown): boolean {
  return value === undefined || (Number.isInteger(value) && (value as number) >= 0);
}

function isStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function isSchemas(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}
