// Converts a Standard Schema to JSON Schema with the help of its own library.

import type { SchemaDirection } from './check/compiled-schema.js';
import { assertPlainJson, type JsonSchema } from './document/plain-json.js';
import { SchemaError } from './document/schema-error.js';
import type { StandardJsonConverter, StandardSchema } from './standard.js';

// The dialects to ask for, in order of preference: some libraries support only the older one.
const TARGETS = ['draft-2020-12', 'draft-07'] as const;

/** Asks a Standard Schema for its JSON Schema. */
export function toJsonSchema(schema: StandardSchema, io: SchemaDirection): JsonSchema {
  const props = schema['~standard'];
  const converter = 'jsonSchema' in props ? (props.jsonSchema as StandardJsonConverter) : undefined;
  if (converter === undefined) throw new SchemaError(cannotConvert(schema, props.vendor));
  let failure: unknown;
  for (const target of TARGETS) {
    try {
      const json: unknown = converter[io]({ target, ...strictness(props.vendor) });
      assertPlainJson(json);
      return json;
    } catch (error) {
      failure ??= error;
    }
  }
  const reason = failure instanceof Error ? failure.message : String(failure);
  const place = faultyField(schema, io);
  const where = place === '' ? '' : `the field "${place}": `;
  throw new SchemaError(
    `The ${props.vendor} schema cannot be expressed as JSON Schema (${io}): ${where}${reason.trim().replace(/\.$/, '')}. ` +
      'Use types that JSON has, or provide the JSON Schema yourself with withJsonSchema(schema, json).',
    { cause: failure },
  );
}

/** The schemas inside another one are searched this deep for the one that cannot be converted. */
const MAX_DEPTH = 10;

/** The path of the field that cannot be converted, as in `items[].due`; empty if the schema does not show its parts. */
function faultyField(schema: StandardSchema, io: SchemaDirection, depth = 0): string {
  if (depth >= MAX_DEPTH) return '';
  for (const [name, part] of partsOf(schema)) {
    if (canConvert(part, io)) continue;
    const inner = faultyField(part, io, depth + 1);
    return `${name}${name === '' || inner === '' || inner.startsWith('[') ? '' : '.'}${inner}`;
  }
  return '';
}

/** The fields of an object, the items of an array, and the schema below `optional()` and the like, as zod and valibot show them. */
function partsOf(schema: object): readonly (readonly [string, StandardSchema])[] {
  const { shape, entries, _zod, item, wrapped } = schema as {
    readonly shape?: unknown;
    readonly entries?: unknown;
    readonly item?: unknown;
    readonly wrapped?: unknown;
    readonly _zod?: { readonly def?: { readonly element?: unknown; readonly innerType?: unknown } };
  };
  const fields = [shape, entries].find((one) => typeof one === 'object' && one !== null) ?? {};
  const all: (readonly [string, unknown])[] = [
    ...Object.entries(fields as object),
    ['[]', _zod?.def?.element ?? item],
    ['', _zod?.def?.innerType ?? wrapped],
  ];
  return all.filter((part): part is readonly [string, StandardSchema] => isStandard(part[1]));
}

function isStandard(value: unknown): value is StandardSchema {
  return typeof value === 'object' && value !== null && '~standard' in value;
}

function canConvert(schema: StandardSchema, io: SchemaDirection): boolean {
  const props = schema['~standard'];
  if (!('jsonSchema' in props)) return true;
  try {
    const [target] = TARGETS;
    (props.jsonSchema as StandardJsonConverter)[io]({ target, ...strictness(props.vendor) });
    return true;
  } catch {
    return false;
  }
}

/** By default, arktype writes `{}` for types that JSON does not have: a field that no value from a client could satisfy. */
function strictness(vendor: string): { libraryOptions?: Record<string, unknown> } {
  if (vendor !== 'arktype') return {};
  const refuse = (what: string) => (): never => {
    throw new Error(`${what} cannot be represented in JSON Schema`);
  };
  const fallback = {
    date: refuse('Date'),
    domain: refuse('bigint or symbol'),
    proto: refuse('an instance of a class'),
  };
  return { libraryOptions: { fallback } };
}

function cannotConvert(schema: StandardSchema, vendor: string): string {
  const start = `The ${vendor} schema cannot convert itself to JSON Schema`;
  if (vendor === 'zod') {
    return '_zod' in schema
      ? `${start}: upgrade zod to 4.2 or later, or use withJsonSchema(schema, z.toJSONSchema(schema)).`
      : `${start}: for zod 3 use withJsonSchema(schema, zodToJsonSchema(schema)) with zod-to-json-schema, or upgrade zod to 4.2 or later.`;
  }
  if (vendor === 'valibot') {
    return `${start}: wrap it with toStandardJsonSchema(schema) from @valibot/to-json-schema, or use withJsonSchema(schema, toJsonSchema(schema)).`;
  }
  return `${start} (it has no "~standard".jsonSchema): use withJsonSchema(schema, json) with a JSON Schema of your own.`;
}
