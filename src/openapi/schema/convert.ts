// Converts the schemas of a document to JSON Schema 2020-12. Keywords with a mistake are left out, since the API checks its own
// requests: one wrong pattern among thousands of schemas should not stop a server.

import { isObject } from '../../jsonrpc/message.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import type { SchemaDirection } from '../../schema/check/compiled-schema.js';
import { typeBits } from '../../schema/document/json-types.js';
import { type KeywordShape, keywords, shapeProblem } from '../../schema/document/keywords.js';
import { unicodePattern } from '../../schema/document/pattern.js';
import type { JsonSchema } from '../../schema/document/plain-json.js';
import { isSlowPattern } from '../../schema/document/slow-pattern.js';
import type { Json } from '../document/references.js';

/** The conversion of one schema. */
export interface Conversion {
  /** `input` is without `readOnly` properties, `output` without `writeOnly` ones. */
  readonly direction: SchemaDirection;
  readonly maxDescriptionChars: number;
  /** The levels below which a schema is only outlined. */
  readonly maxDepth: number;
  /** The reference to the schema that a `$ref` leads to. */
  readonly refer: (raw: Json) => string;
  /** The schema that a reference leads to; any other as it is. */
  readonly resolve: (raw: unknown) => unknown;
  /** Counts the schemas. A document whose references were replaced by their targets may be endless. */
  readonly count: { schemas: number };
}

const MAX_SCHEMAS = 3000;
const MAX_VALUE_CHARS = 200;
const MAX_PATTERN_CHARS = 1000;
const ANNOTATIONS = ['contentEncoding', 'contentMediaType', 'deprecated'];
/** Keywords that 2020-12 does not have, that name other schemas, or that are read together with another keyword. */
const SKIPPED = ['additionalItems', 'dependencies', 'definitions', '$defs', 'required'];

/** Converts a schema and those inside of it. */
export function convertSchema(raw: unknown, conversion: Conversion, depth = 0): JsonSchema | boolean {
  if (typeof raw === 'boolean') return raw;
  if (!isObject(raw)) return {};
  if (depth >= conversion.maxDepth || ++conversion.count.schemas > MAX_SCHEMAS) return outline(raw);
  const isReference = typeof raw['$ref'] === 'string';
  const converted = isReference
    ? { ...texts(raw, conversion), $ref: conversion.refer(raw) }
    : convertKeywords(raw, conversion, depth);
  return raw['nullable'] === true || raw['x-nullable'] === true ? orNull(converted) : converted;
}

/** The rest of a schema that is too large: any value of its type. */
export function outline(raw: unknown): JsonSchema {
  const type = isObject(raw) ? typesOf(raw['type']) : undefined;
  return { ...(type !== undefined && { type }), description: 'Shortened: see the documentation of the API.' };
}

function convertKeywords(raw: Json, conversion: Conversion, depth: number): Record<string, unknown> {
  const inner = (value: unknown): JsonSchema | boolean => convertSchema(value, conversion, depth + 1);
  const result: Record<string, unknown> = texts(raw, conversion);
  for (const [keyword, value] of Object.entries(raw)) {
    const shape = keywords.get(keyword);
    if (ANNOTATIONS.includes(keyword)) result[keyword] = jsonOf(value);
    if (shape === undefined || SKIPPED.includes(keyword) || shapeProblem(shape, value) !== undefined)
      continue;
    const isTuple = keyword === 'items' && Array.isArray(value);
    const converted = isTuple ? value.map(inner) : BY_SHAPE[shape](value, { keyword, conversion, inner });
    if (converted !== undefined) result[isTuple ? 'prefixItems' : keyword] = converted;
  }
  addRequired(result, raw, conversion);
  correctLimits(result, raw);
  const branches = branchesOf(raw, inner);
  if (branches !== undefined) {
    delete result['oneOf'];
    result['anyOf'] = branches;
  }
  for (const key of Object.keys(result)) if (result[key] === undefined) delete result[key];
  return result;
}

/** The keyword whose value is converted. */
interface KeywordPlace {
  readonly keyword: string;
  readonly conversion: Conversion;
  /** Converts a schema inside the value. */
  readonly inner: (raw: unknown) => JsonSchema | boolean;
}

/** Converts the value of a keyword; undefined leaves the keyword out. */
type ConvertValue = (value: unknown, place: KeywordPlace) => unknown;

const asItIs: ConvertValue = (value) => value;

const BY_SHAPE: Readonly<Record<KeywordShape, ConvertValue>> = {
  any: jsonOf,
  boolean: asItIs,
  count: asItIs,
  // Replies are often a little different: the check of a format would reject them.
  format: (value, { conversion }) => (conversion.direction === 'input' ? value : undefined),
  list: (value) => enumOf(value as readonly unknown[]),
  names: asItIs,
  namesMap: asItIs,
  number: asItIs,
  pattern: (value, { conversion }) =>
    conversion.direction === 'input' ? patternOf(value as string) : undefined,
  positive: asItIs,
  schema: convertInner,
  schemaList: (value, { inner }) => nonEmpty((value as readonly unknown[]).map((raw) => inner(raw))),
  schemaMap: (value, { conversion, inner }) => convertMap(value as Json, inner, conversion),
  schemaOrList: convertInner,
  schemaOrNamesMap: asItIs,
  types: typesOf,
};

function convertInner(value: unknown, { keyword, conversion, inner }: KeywordPlace): unknown {
  // A later version of the API may add fields to its replies.
  const isClosed = value === false && conversion.direction === 'output' && keyword.endsWith('Properties');
  return !isClosed && (isObject(value) || typeof value === 'boolean') ? inner(value) : undefined;
}

function nonEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length > 0 ? list : undefined;
}

function texts(raw: Json, { direction, maxDescriptionChars }: Conversion): Record<string, unknown> {
  const { title, description } = raw;
  const value: Record<string, unknown> = {};
  if (typeof title === 'string') value['title'] = shorten(title, maxDescriptionChars);
  if (typeof description === 'string') value['description'] = shorten(description, maxDescriptionChars);
  if (direction === 'output') return value;
  const { default: preset, example, examples } = raw;
  value['default'] = small(preset);
  const list = example === undefined && Array.isArray(examples) ? examples.slice(0, 3) : [example];
  const shown = list.map(small).filter((item) => item !== undefined);
  if (shown.length > 0) value['examples'] = shown;
  return value;
}

function small(value: unknown): unknown {
  const json = jsonOf(value);
  return json !== undefined && JSON.stringify(json).length <= MAX_VALUE_CHARS ? json : undefined;
}

/** A copy of a value as JSON has it; undefined if it cannot have it. */
function jsonOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return Number.isNaN(value) ? undefined : value;
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return undefined;
  }
}

function convertMap(
  map: Json,
  inner: (raw: unknown) => JsonSchema | boolean,
  conversion: Conversion,
): Readonly<Record<string, unknown>> {
  const shown = Object.entries(map).filter(([, raw]) => !isHidden(raw, conversion));
  return Object.fromEntries(shown.map(([name, raw]) => [name, inner(raw)]));
}

/** Whether a property exists only in the other direction. */
export function isHidden(
  raw: unknown,
  { direction, resolve }: Pick<Conversion, 'direction' | 'resolve'>,
): boolean {
  const flag = direction === 'input' ? 'readOnly' : 'writeOnly';
  if (!isObject(raw)) return false;
  const target = resolve(raw);
  return raw[flag] === true || (isObject(target) && target[flag] === true);
}

function addRequired(result: Record<string, unknown>, raw: Json, conversion: Conversion): void {
  const { required, properties } = raw;
  if (!Array.isArray(required)) return;
  const names = new Set(required.filter((name) => typeof name === 'string'));
  if (isObject(properties))
    for (const name of names)
      if (Object.hasOwn(properties, name) && isHidden(properties[name], conversion)) names.delete(name);
  if (names.size > 0) result['required'] = [...names];
}

/** In OpenAPI 3.0, `exclusiveMinimum` says whether `minimum` itself is allowed. */
function correctLimits(result: Record<string, unknown>, raw: Json): void {
  for (const [limit, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (raw[exclusive] !== true || result[limit] === undefined) continue;
    result[exclusive] = result[limit];
    delete result[limit];
  }
}

function typesOf(value: unknown): string | readonly string[] | undefined {
  const types = [value].flat().filter((type) => typeof type === 'string' && typeBits.has(type)) as string[];
  return types.length <= 1 ? types[0] : [...new Set(types)];
}

function enumOf(list: readonly unknown[]): readonly unknown[] | undefined {
  return nonEmpty(list.map(jsonOf).filter((value) => value !== undefined));
}

function patternOf(source: string): string | undefined {
  if (source.length > MAX_PATTERN_CHARS) return undefined;
  try {
    const pattern = unicodePattern(source, 'the pattern');
    return isSlowPattern(pattern) ? undefined : pattern;
  } catch {
    return undefined;
  }
}

function orNull(schema: Readonly<Record<string, unknown>>): JsonSchema {
  const { type, enum: values } = schema;
  const hasBranches = ['$ref', 'allOf', 'anyOf', 'oneOf', 'const', 'not'].some((key) => key in schema);
  if (hasBranches) return { anyOf: [schema, { type: 'null' }] };
  const types = [type].flat().filter((one) => one !== undefined);
  return {
    ...schema,
    ...(types.length > 0 && { type: [...new Set([...types, 'null'])] }),
    ...(Array.isArray(values) && { enum: values.includes(null) ? values : [...values, null] }),
  };
}

/**
 * The branches of a schema with a discriminator; undefined for other schemas. A value may fit several branches, since the property
 * that tells them apart is often only a string. So they become `anyOf`, and those that the mapping names get its values.
 */
function branchesOf(
  { oneOf, anyOf, discriminator }: Json,
  convert: (raw: unknown) => JsonSchema | boolean,
): readonly (JsonSchema | boolean)[] | undefined {
  const branches = oneOf ?? anyOf;
  if (!isObject(discriminator) || !Array.isArray(branches) || branches.length === 0) return undefined;
  if (oneOf !== undefined && anyOf !== undefined) return undefined;
  const { propertyName, mapping } = discriminator;
  const valuesOf = (ref: unknown): readonly string[] =>
    isObject(mapping) && typeof ref === 'string'
      ? Object.keys(mapping).filter(
          (value) => mapping[value] === ref || `#/components/schemas/${mapping[value]}` === ref,
        )
      : [];
  return branches.map((branch) => {
    const schema = convert(branch);
    const values = isObject(branch) ? valuesOf(branch['$ref']) : [];
    if (typeof propertyName !== 'string' || values.length === 0 || !isObject(schema)) return schema;
    return {
      ...schema,
      properties: Object.fromEntries([[propertyName, { enum: values }]]),
      required: [propertyName],
    };
  });
}
