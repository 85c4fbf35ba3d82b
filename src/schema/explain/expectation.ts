// Describes in a few words what a schema expects, and what value came instead.

import { literalsOf } from '../check/branches.js';
import type { SchemaDocument, SchemaNode } from '../document/nodes.js';

const MAX_SHOWN = 60;
const MAX_CHOICES = 8;
const MAX_ALTERNATIVES = 4;

/** Describes what a schema expects, as a noun: `a number`, `one of "red", "green"`; undefined if no description is short. */
export function expectation(document: SchemaDocument, schema: SchemaNode | boolean): string | undefined {
  if (typeof schema === 'boolean') return undefined;
  const literals = literalsOf(document, schema);
  if (literals !== undefined) return choice(literals);
  if (typeof schema['format'] === 'string' && schema.type?.join() === 'string')
    return formatWords(schema['format']);
  if (schema.type !== undefined) return typeWords(schema.type);
  if (schema.$ref !== undefined) return expectation(document, document.target(schema.$ref));
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches !== undefined) return alternatives(branches.map((branch) => expectation(document, branch)));
  for (const part of schema.allOf ?? []) {
    const words = expectation(document, part);
    if (words !== undefined) return words;
  }
  return undefined;
}

/** Joins the descriptions of the branches of a union; undefined if one is missing or there are too many. */
export function alternatives(words: readonly (string | undefined)[]): string | undefined {
  const distinct = [...new Set(words)];
  if (distinct.length > MAX_ALTERNATIVES || distinct.includes(undefined)) return undefined;
  return distinct.length === 0 ? undefined : distinct.join(' or ');
}

/** Describes the values to choose from. */
export function choice(values: readonly unknown[]): string {
  const choices = values.slice(0, MAX_CHOICES).map(literal);
  const rest = values.length - choices.length;
  if (values.length === 1) return choices.join('');
  return `one of ${choices.join(', ')}${rest > 0 ? ` (and ${rest} more)` : ''}`;
}

/** Describes types, with articles: `a number or null`. */
export function typeWords(types: readonly string[]): string {
  return types.map((type) => TYPE_WORDS.get(type) ?? type).join(' or ');
}

/** Describes a format, with an example where that helps. */
export function formatWords(format: string): string {
  return FORMAT_WORDS.get(format) ?? `a string in the format ${format}`;
}

/** Describes a value without showing more of it than a model needs to recognize it. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `the string ${literal(value)}`;
    case 'number':
      return `the number ${value}`;
    case 'undefined':
      return 'nothing';
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? 'an array' : 'an object';
    default:
      return clip(String(value));
  }
}

/** A value as JSON of at most 60 characters. Quoting also keeps control characters out of the message. */
function literal(value: unknown): string {
  if (typeof value !== 'string') return clip(JSON.stringify(value) ?? String(value));
  for (let length = Math.min(value.length, MAX_SHOWN - 2); ; length--) {
    const text = JSON.stringify(length < value.length ? `${value.slice(0, length)}…` : value);
    if (text.length <= MAX_SHOWN || length === 0) return text;
  }
}

/** Cuts a string to a length, with an ellipsis at its end. */
export function clip(text: string, limit: number = MAX_SHOWN): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}

const TYPE_WORDS: ReadonlyMap<string, string> = new Map([
  ['string', 'a string'],
  ['number', 'a number'],
  ['integer', 'an integer'],
  ['boolean', 'a boolean'],
  ['null', 'null'],
  ['array', 'an array'],
  ['object', 'an object'],
]);

const FORMAT_WORDS: ReadonlyMap<string, string> = new Map([
  ['date', 'a date like 2025-01-31'],
  ['time', 'a time like 13:45:00Z'],
  ['date-time', 'a date and time like 2025-01-31T13:45:00Z'],
  ['duration', 'a duration like PT1H30M'],
  ['uri', 'an absolute URI'],
  ['uri-reference', 'a URI reference'],
  ['email', 'an email address'],
  ['hostname', 'a host name'],
  ['ipv4', 'an IPv4 address'],
  ['ipv6', 'an IPv6 address'],
  ['regex', 'a regular expression'],
  ['uuid', 'a UUID'],
]);
