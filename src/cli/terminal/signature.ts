// A schema in a few characters, as in `add(a: number, b?: number = 1)`.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { cleanLine } from '../../tooling/clean.js';

const MAX_FIELDS = 30;
const MAX_DEPTH = 3;
/** The keywords of schemas that consist of others. */
const PARTS = ['properties', 'items', 'anyOf', 'oneOf'];
const NAME = /^[A-Za-z_$][\w$]*$/;

/** The fields of an object schema, as the parameters of a function. */
export function parameters(schema: JsonObject): string {
  const fields = Object.entries(isObject(schema['properties']) ? schema['properties'] : {});
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const shown = fields
    .slice(0, MAX_FIELDS)
    .map(
      ([name, field]) =>
        `${fieldName(name)}${required.includes(name) ? '' : '?'}: ${typeOf(field, 1)}${defaultOf(field)}`,
    );
  return [...shown, ...(fields.length > MAX_FIELDS ? ['…'] : [])].join(', ');
}

/** The type that a schema describes. */
export function typeOf(schema: unknown, depth = 0): string {
  if (!isObject(schema)) return 'any';
  if (depth > MAX_DEPTH && PARTS.some((keyword) => keyword in schema)) return '…';
  if ('const' in schema) return printed(schema['const']);
  if (Array.isArray(schema['enum'])) return choices(schema['enum'].map(printed));
  const union = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(union)) return choices([...new Set(union.map((one) => typeOf(one, depth + 1)))]);
  const { type } = schema;
  if (Array.isArray(type)) return choices(type.map((one) => typeOf({ ...schema, type: one }, depth)));
  if (type === 'array') return arrayOf(schema['items'], depth + 1);
  if (type === 'object') return objectOf(schema, depth);
  if (type === 'integer' || type === 'number')
    return range(schema) ?? (type === 'integer' ? 'int' : 'number');
  return typeof type === 'string' ? cleanLine(type, 20) : 'any';
}

function objectOf(schema: JsonObject, depth: number): string {
  const fields = Object.entries(isObject(schema['properties']) ? schema['properties'] : {});
  if (fields.length === 0) return 'object';
  const shown = fields
    .slice(0, MAX_FIELDS)
    .map(([name, field]) => `${fieldName(name)}: ${typeOf(field, depth + 1)}`);
  return `{ ${[...shown, ...(fields.length > MAX_FIELDS ? ['…'] : [])].join(', ')} }`;
}

function range({ minimum, maximum, type }: JsonObject): string | undefined {
  const bounds = [minimum, maximum].map((bound) => (typeof bound === 'number' ? String(bound) : ''));
  const isSafe = Math.abs(Number(maximum)) === Number.MAX_SAFE_INTEGER;
  if (bounds.join('') === '' || isSafe) return undefined;
  return `${bounds.join('..')}${type === 'number' ? ' number' : ''}`;
}

function defaultOf(field: unknown): string {
  return isObject(field) && 'default' in field ? ` = ${printed(field['default'])}` : '';
}

function choices(types: readonly string[]): string {
  const shown = types.slice(0, 8);
  return [...shown, ...(types.length > 8 ? ['…'] : [])].join(' | ');
}

function arrayOf(items: unknown, depth: number): string {
  const item = typeOf(items, depth);
  // The braces of one object hold it together; those of several do not.
  const isOneObject = isObject(items) && items['type'] === 'object' && !isUnion(items);
  return item.includes(' ') && !isOneObject ? `(${item})[]` : `${item}[]`;
}

function isUnion(schema: JsonObject): boolean {
  return ['anyOf', 'oneOf', 'enum', 'const'].some((keyword) => keyword in schema);
}

function fieldName(name: string): string {
  return NAME.test(name) && name.length <= 64 ? name : JSON.stringify(cleanLine(name, 64));
}

function printed(value: unknown): string {
  return cleanLine(JSON.stringify(value) ?? 'any', 40);
}
