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
  throw new SchemaError(
    `The ${props.vendor} schema cannot be expressed as JSON Schema (${io}): ${reason.trim().replace(/\.$/, '')}. ` +
      'Use types that JSON has, or provide the JSON Schema yourself with withJsonSchema(schema, json).',
    { cause: failure },
  );
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
