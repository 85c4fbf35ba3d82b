import { isObject, type JsonObject } from '../../jsonrpc/message.js';

// Spec 2026-07-28, Elicitation, Requested Schema: one level of properties, each a primitive or a choice.

const fieldKeywords: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'format', 'enum', 'enumNames', 'oneOf'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  boolean: [],
  array: ['minItems', 'maxItems'],
};

const formats = new Set(['email', 'uri', 'date', 'date-time']);

/** A schema as a form can show it. Throws an error that names what no form can. */
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
    throw unsuitableField(name, 'it must be a string, number, boolean or choice');
  if (type !== 'string' && (field['enum'] ?? field['const']) !== undefined)
    throw unsuitableField(name, 'only texts can be chosen from');
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

// A format that forms do not know is still checked in the answer.
function asString(name: string, { pattern }: JsonObject, result: JsonObject): JsonObject {
  if (pattern !== undefined && result['format'] === undefined)
    throw unsuitableField(name, 'a form cannot say a pattern');
  const { format, ...rest } = result;
  return formats.has(String(format)) ? result : rest;
}

// The bounds that zod gives to every integer say nothing to a user.
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

// What remains of these after `asChoice` is no choice.
const unions = ['anyOf', 'allOf', 'not', '$ref'];

// Constants of one type are a choice, whatever their library calls it.
function asChoice(field: JsonObject): JsonObject {
  const { anyOf, oneOf, const: only, ...rest } = field;
  const options = anyOf ?? oneOf;
  if (Array.isArray(options)) {
    if (!options.every(isConstant)) return { ...rest, anyOf: options };
    const titled = options.every(({ title }) => typeof title === 'string');
    return titled
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
  throw unsuitableField(name, 'a list must be one of texts to choose from');
}

function isConstant(option: unknown): option is JsonObject {
  return isObject(option) && typeof option['const'] === 'string';
}

function areStrings(values: unknown): values is string[] {
  return Array.isArray(values) && values.every((value) => typeof value === 'string');
}

function unsuitableField(name: string, why: string): TypeError {
  return new TypeError(`The field "${name}" does not fit into a form: ${why}`);
}
