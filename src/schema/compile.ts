// Compiles a schema of any kind into its JSON Schema and one function that validates values.

import { coerce } from './check/coerce.js';
import type { CompiledSchema, SchemaDirection } from './check/compiled-schema.js';
import type { Issue, ValidationResult } from './check/issue.js';
import { accepts, judge } from './check/validator.js';
import { toJsonSchema } from './convert.js';
import { readDocument } from './document/document.js';
import type { SchemaDocument } from './document/nodes.js';
import { assertPlainJson } from './document/plain-json.js';
import { findProblems } from './explain/problems.js';
import { withObjectRoot } from './object-root.js';
import type { Infer, JsonSchema, Schema } from './schema.js';
import type { StandardIssue, StandardResult, StandardSchema } from './standard.js';

/** The purpose of a schema. */
export interface CompileOptions {
  readonly io: SchemaDirection;
  /** Whether the root must describe an object, as that of a tool's input. Default: false. */
  readonly requireObject?: boolean;
}

/**
 * Compiles a schema once, at definition. Throws `SchemaError` for anything that would otherwise fail only in a call. An input
 * that is not valid is coerced and validated again (see coerce.ts); an output comes from the server's own handler and is never coerced.
 */
export function compileSchema<S extends Schema>(
  schema: S,
  options: CompileOptions,
): CompiledSchema<Infer<S>> {
  const { io, requireObject = false } = options;
  const standard = isStandard(schema) ? schema : undefined;
  let json = standard === undefined ? assertPlain(schema) : toJsonSchema(standard, io);
  // A library matches its own patterns. A slow pattern is not matched a second time to explain the failure.
  const readOptions = { withoutSlowPatterns: standard !== undefined };
  let document = readDocument(json, readOptions);
  if (requireObject) {
    const original = json;
    json = withObjectRoot(original, document);
    if (json !== original) document = readDocument(json, readOptions);
  }
  const check = standard === undefined ? checkJson(document) : checkStandard(standard);
  const validate = io === 'input' ? withCoercion(document, check) : check;
  return { json, io, document, plain: standard === undefined, validate: validate as Check<Infer<S>> };
}

type Check<T = unknown> = (value: unknown) => ValidationResult<T> | Promise<ValidationResult<T>>;

function assertPlain(schema: Schema): JsonSchema {
  assertPlainJson(schema);
  return schema;
}

/** A Standard Schema is an object or, in arktype, a function. */
function isStandard(schema: unknown): schema is StandardSchema {
  const mayHaveIt = (typeof schema === 'object' && schema !== null) || typeof schema === 'function';
  return mayHaveIt && '~standard' in schema;
}

function checkStandard(schema: StandardSchema): Check {
  const props = schema['~standard'];
  return function validate(value) {
    const result = props.validate(value);
    return 'then' in result ? result.then(toValidationResult) : toValidationResult(result);
  };
}

// `Array.from`, because arktype's arrays are instances of a subclass of Array, and their `map` returns another instance of it.
function toValidationResult(result: StandardResult<unknown>): ValidationResult<unknown> {
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, issues: Array.from(result.issues, toIssue) };
}

function toIssue({ message, path = [] }: StandardIssue): Issue {
  return { message, path: Array.from(path, (part) => toKey(typeof part === 'object' ? part.key : part)) };
}

function toKey(key: PropertyKey): string | number {
  return typeof key === 'symbol' ? String(key) : key;
}

// If no part of the schema can fail without the whole value failing, one pass both validates and collects the findings.
// Otherwise a pass that only validates is cheaper for values that are accepted.
function checkJson(document: SchemaDocument): Check {
  const onePass = !hasAlternatives(document);
  return function validate(value) {
    const judgement = onePass ? judge(document, value) : undefined;
    if (judgement?.valid ?? accepts(document, value)) return { ok: true, value };
    const issues = findProblems(document, value, judgement?.findings);
    return {
      ok: false,
      issues: issues.length > 0 ? issues : [{ path: [], message: 'does not match the schema' }],
    };
  };
}

const ALTERNATIVES = ['anyOf', 'oneOf', 'not', 'if', 'contains', 'propertyNames', 'dependencies'];

function hasAlternatives({ root, targets }: SchemaDocument): boolean {
  const text = JSON.stringify([root, targets]);
  return ALTERNATIVES.some((keyword) => text.includes(`"${keyword}":`));
}

function withCoercion(document: SchemaDocument, check: Check): Check {
  function retryCoerced(value: unknown, result: ValidationResult<unknown>): ReturnType<Check> {
    if (result.ok) return result;
    const coercion = coerce(document, value);
    return coercion.changed ? check(coercion.value) : result;
  }
  return function validate(value) {
    const first = check(value);
    if ('then' in first) return first.then((result) => retryCoerced(value, result));
    return first.ok ? first : retryCoerced(value, first);
  };
}
