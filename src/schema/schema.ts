// The types of schemas that the package accepts, and the two functions that make one from a plain JSON Schema.

import { accepts } from './check/validator.js';
import { readDocument } from './document/document.js';
import type { JsonSchema } from './document/plain-json.js';
import { findProblems } from './explain/problems.js';
import type {
  HasStandard,
  InferInput,
  InferOutput,
  StandardJsonSchema,
  StandardProps,
  StandardResult,
  StandardSchema,
  StandardTyped,
  ZodTyped,
} from './standard.js';

/** A schema of any library that implements Standard Schema (zod, valibot, arktype and others), or a plain JSON Schema. */
export type Schema = StandardSchema | JsonSchema;

/** The constraint of type parameters for schemas: as wide as `Schema`, and much cheaper for the compiler to check. */
export type SchemaLike = HasStandard | JsonSchema;

/** The type of the input of a handler without a schema. It has no fields, so a handler that reads a field does not compile. */
export interface NoInput {
  readonly [noField]?: never;
}

declare const noField: unique symbol;

/**
 * The type that a schema gives: a Standard Schema's output, a TypeBox schema's `static`, an object of unknown fields for plain
 * JSON Schema, and an object without fields for no schema.
 */
export type Infer<S> = S extends ZodTyped
  ? S['_zod']['output']
  : [S] extends [undefined]
    ? NoInput
    : S extends StandardTyped
      ? InferOutput<S>
      : S extends { readonly static: infer T }
        ? T
        : Record<string, unknown>;

/** The type that a schema accepts, before defaults and conversions: the value that a client sends. */
export type Sent<S> = S extends ZodTyped
  ? S['_zod']['input']
  : [S] extends [undefined]
    ? Record<string, never>
    : S extends StandardTyped
      ? InferInput<S>
      : S extends { readonly static: infer T }
        ? T
        : Record<string, unknown>;

/** An object of schemas where a schema belongs, because `z.object` around the fields is missing. The compiler reports it. */
export type RawShape = Readonly<Record<string, HasStandard>>;

/** Gives a plain JSON Schema a TypeScript type. Values are validated against the schema; the type itself is not checked. */
export function jsonSchema<T = Record<string, unknown>>(schema: JsonSchema): StandardJsonSchema<T> {
  const document = readDocument(schema);
  function validate(value: unknown): StandardResult<T> {
    if (accepts(document, value)) return { value: value as T };
    const issues = findProblems(document, value);
    return { issues: issues.length > 0 ? issues : [{ message: 'does not match the schema' }] };
  }
  const toJson = (): JsonSchema => schema;
  return {
    '~standard': {
      version: 1,
      vendor: 'json-schema',
      validate,
      jsonSchema: { input: toJson, output: toJson },
    },
  };
}

/**
 * Adds a JSON Schema to a Standard Schema that cannot convert itself to one (zod 3, plain valibot). The library validates;
 * clients see the JSON Schema.
 */
export function withJsonSchema<S extends StandardSchema>(
  schema: S,
  json: object,
): StandardJsonSchema<InferInput<S>, InferOutput<S>> {
  const props: StandardProps = schema['~standard'];
  const validate = (value: unknown): ReturnType<typeof props.validate> => props.validate(value);
  const toJson = (): Record<string, unknown> => json as Record<string, unknown>;
  return {
    '~standard': {
      version: 1,
      vendor: props.vendor,
      validate,
      jsonSchema: { input: toJson, output: toJson },
    },
  };
}

export type { JsonSchema };
