// Converts a schema to the form that a client can show: one level of properties, each a primitive or a choice (Spec
// 2026-07-28, Elicitation, Requested Schema).

import { isObject, type JsonObject } from '../../jsonrpc/message.js';

const fieldKeywords: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'format', 'enum', 'enumNames', 'oneOf'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  boolean: [],
  array: ['minItems', 'maxItems'],
};

const formats = new Set(['email', 'uri', 'date', 'date-time']);

/** Converts a schema to the schema of a form. Throws an error that names the field that a form cannot show. */
export function formSchema(schema: Readonly<JsonObject>): JsonObject {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  if (Object.keys(properties).length === 0) throw new TypeError('A form needs at least one field');
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, field]) => [name, formField(name, field)]),
    ),
    ...(required.length > 0 && { required }),
  };
}

function formField(name: string, property: unknown): JsonObject {
  const field = isObject(property) ? asChoice(property) : {};
  const { type } = field;
  if (
    typeof type !== 'string' ||
    !Object.hasOwn(fieldKeywords, type) ||
    unions.some((keyword) => keyword in field)
  )
    throw unsuitableField(name, 'it must be a string, a number, a boolean or a choice');
  if (type !== 'string' && (field['enum'] ?? field['const']) !== undefined)
    throw unsuitableField(name, 'the options of a choice must be strings');
  const result: JsonObject = { type };
  for (const keyword of ['title', 'description', ...(fieldKeywords[type] ?? []), 'default']) {
    if (field[keyword] !== undefined) result[keyword] = field[keyword];
  }
  switch (type) {
    case 'string':
      return asString(name, field, result);
    case 'array':
      return { ...result, items: asChoices(name, field['items']) };
    case 'integer':
      return asInteger(field, result);
    default:
      return result;
  }
}

// The answer is validated with every format, even those that the specification does not allow in a form.
function asString(name: string, { pattern }: JsonObject, result: JsonObject): JsonObject {
  if (pattern !== undefined && result['format'] === undefined)
    throw unsuitableField(name, 'a form cannot express a pattern');
  const { format, ...rest } = result;
  return formats.has(String(format)) ? result : rest;
}

// Zod gives every integer the bounds of safe integers, which mean nothing to a user.
function asInteger({ exclusiveMinimum, exclusiveMaximum }: JsonObject, result: JsonObject): JsonObject {
  const { minimum, maximum, ...rest } = result;
  const least = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : minimum;
  const most = typeof exclusiveMaximum === 'number' ? exclusiveMaximum - 1 : maximum;
  return {
    ...rest,
    ...(least !== undefined && least !== Number.MIN_SAFE_INTEGER && { minimum: least }),
    ...(most !== undefined && most !== Number.MAX_SAFE_INTEGER && { maximum: most }),
  };
}

// A keyword that is still there after `asChoice` does not describe a choice.
const unions = ['anyOf', 'allOf', 'not', '$ref'];

// Libraries write a choice as an enum, a constant, or a union of constants.
function asChoice(field: JsonObject): JsonObject {
  const { anyOf, oneOf, const: only, ...rest } = field;
  const options = anyOf ?? oneOf;
  if (Array.isArray(options)) {
    if (!options.every(isConstant)) return { ...rest, anyOf: options };
    const hasTitles = options.every(({ title }) => typeof title === 'string');
    return hasTitles
      ? {
          ...rest,
          type: 'string',
          oneOf: options.map(({ const: value, title }) => ({ const: value, title })),
        }
      : { ...rest, type: 'string', enum: options.map((option) => option['const']) };
  }
  if (typeof only === 'string') return { ...rest, type: 'string', enum: [only] };
  return areStrings(field['enum']) ? { ...field, type: 'string' } : field;
}

function asChoices(name: string, items: unknown): JsonObject {
  const choice = isObject(items) ? asChoice(items) : {};
  if (Array.isArray(choice['oneOf'])) return { anyOf: choice['oneOf'] };
  if (areStrings(choice['enum'])) return { type: 'string', enum: choice['enum'] };
  throw unsuitableField(name, 'the items of an array must be a choice of strings');
}

function isConstant(option: unknown): option is JsonObject {
  return isObject(option) && typeof option['const'] === 'string';
}

function areStrings(values: unknown): values is string[] {
  return Array.isArray(values) && values.every((value) => typeof value === 'string');
}

function unsuitableField(name: string, reason: string): TypeError {
  return new TypeError(`The field "${name}" cannot be shown in a form: ${reason}`);
}
