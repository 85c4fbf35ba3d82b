import { isObject, type JsonObject } from '../../jsonrpc/message.js';

// Spec 2026-07-28, Elicitation, Requested Schema: one level of properties, each a primitive or a choice.

const kept: Readonly<Record<string, readonly string[]>> = {
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

function formField(name: string, given: unknown): JsonObject {
  const field = isObject(given) ? asChoice(given) : {};
  const { type } = field;
  if (typeof type !== 'string' || !Object.hasOwn(kept, type) || unions.some((keyword) => keyword in field))
    throw unfit(name, 'it must be a string, number, boolean or choice');
  if (type !== 'string' && (field['enum'] ?? field['const']) !== undefined)
    throw unfit(name, 'only texts can be chosen from');
  const shown: JsonObject = { type };
  for (const keyword of ['title', 'description', ...(kept[type] ?? []), 'default']) {
    if (field[keyword] !== undefined) shown[keyword] = field[keyword];
  }
  switch (type) {
    case 'string':
      return asText(name, field, shown);
    case 'array':
      return { ...shown, items: asChoices(name, field['items']) };
    case 'integer':
      return asInteger(field, shown);
    default:
      return shown;
  }
}

// A format that forms do not know is still checked in the answer.
function asText(name: string, { pattern }: JsonObject, shown: JsonObject): JsonObject {
  if (pattern !== undefined && shown['format'] === undefined)
    throw unfit(name, 'a form cannot say a pattern');
  const { format, ...rest } = shown;
  return formats.has(String(format)) ? shown : rest;
}

// The bounds that zod gives to every integer say nothing to a user.
function asInteger({ exclusiveMinimum, exclusiveMaximum }: JsonObject, shown: JsonObject): JsonObject {
  const { minimum, maximum, ...rest } = shown;
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
  return areTexts(field['enum']) ? { ...field, type: 'string' } : field;
}

function asChoices(name: string, items: unknown): JsonObject {
  const choice = isObject(items) ? asChoice(items) : {};
  if (Array.isArray(choice['oneOf'])) return { anyOf: choice['oneOf'] };
  if (areTexts(choice['enum'])) return { type: 'string', enum: choice['enum'] };
  throw unfit(name, 'a list must be one of texts to choose from');
}

function isConstant(option: unknown): option is JsonObject {
  return isObject(option) && typeof option['const'] === 'string';
}

function areTexts(values: unknown): values is string[] {
  return Array.isArray(values) && values.every((value) => typeof value === 'string');
}

function unfit(name: string, why: string): TypeError {
  return new TypeError(`The field "${name}" does not fit into a form: ${why}`);
}
