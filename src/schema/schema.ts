import { readDocument } from './document.js';
import type { JsonSchema } from './plain-json.js';
import { findProblems } from './problems.js';
import type {
  InferInput,
  InferOutput,
  StandardJsonSchema,
  StandardProps,
  StandardResult,
  StandardSchema,
  StandardTyped,
} from './standard.js';
import { accepts } from './validator.js';

/** What a tool or prompt may be described with. */
export type Schema = StandardSchema | JsonSchema;

/**
 * The type a schema gives: a Standard Schema's output, a TypeBox schema's `static`, any object for plain JSON Schema,
 * and an empty object for no schema. One level of conditionals, so that hundreds of tools stay cheap to check.
 */
export type Infer<S> = [S] extends [undefined]
  ? Record<string, never>
  : S extends StandardTyped
    ? InferOutput<S>
    : S extends { readonly static: infer T }
      ? T
      : Record<string, unknown>;

/** Marks a plain JSON Schema with the TypeScript type its values have. The type is taken on trust. */
export function jsonSchema<T = Record<string, unknown>>(schema: JsonSchema): StandardJsonSchema<T> {
  const document = readDocument(schema);
  function validate(value: unknown): StandardResult<T> {
    if (accepts(document, value)) return { value: value as T };
    const issues = findProblems(document, value);
    return { issues: issues.length > 0 ? issues : [{ message: 'does not match the schema' }] };
  }
  const say = (): JsonSchema => schema;
  return {
    '~standard': { version: 1, vendor: 'json-schema', validate, jsonSchema: { input: say, output: say } },
  };
}

/**
 * Pairs a Standard Schema that cannot say itself as JSON Schema (zod 3, plain valibot) with one made elsewhere. The
 * library validates; the JSON Schema is what peers see.
 */
export function withJsonSchema<S extends StandardSchema>(
  schema: S,
  json: object,
): StandardJsonSchema<InferInput<S>, InferOutput<S>> {
  const props: StandardProps = schema['~standard'];
  const validate = (value: unknown): ReturnType<typeof props.validate> => props.validate(value);
  const say = (): Record<string, unknown> => json as Record<string, unknown>;
  return {
    '~standard': { version: 1, vendor: props.vendor, validate, jsonSchema: { input: say, output: say } },
  };
}

export type { JsonSchema };
