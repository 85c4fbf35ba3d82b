import { coerce } from './check/coerce.js';
import type { CompiledSchema, Direction } from './check/compiled-schema.js';
import type { Checked, Issue } from './check/issue.js';
import { accepts, judge } from './check/validator.js';
import { toJsonSchema } from './convert.js';
import { readDocument } from './document/document.js';
import type { SchemaDocument } from './document/nodes.js';
import { assertPlainJson } from './document/plain-json.js';
import { findProblems } from './explain/problems.js';
import { withObjectRoot } from './object-root.js';
import type { Infer, JsonSchema, Schema } from './schema.js';
import type { StandardIssue, StandardResult, StandardSchema } from './standard.js';

export interface CompileOptions {
  readonly io: Direction;
  /** Tool inputs: the root must be `type: "object"`. */
  readonly requireObject?: boolean;
}

/**
 * Prepares a schema once, at definition; throws `SchemaError` for anything that would only fail in a call. Inputs
 * that fail are tried again after coercion (see coerce.ts); outputs are our own and are held to their word.
 */
export function compileSchema<S extends Schema>(
  schema: S,
  options: CompileOptions,
): CompiledSchema<Infer<S>> {
  const { io, requireObject = false } = options;
  const standard = isStandard(schema) ? schema : undefined;
  let json = standard === undefined ? plain(schema) : toJsonSchema(standard, io);
  // A library matches its patterns itself; one that is slow is not matched again to explain the failure.
  const reading = { withoutSlowPatterns: standard !== undefined };
  let document = readDocument(json, reading);
  if (requireObject) {
    const given = json;
    json = withObjectRoot(given, document);
    if (json !== given) document = readDocument(json, reading);
  }
  const check = standard === undefined ? checkJson(document) : checkStandard(standard);
  const validate = io === 'input' ? withCoercion(document, check) : check;
  const plainSchema = standard === undefined;
  return { json, io, document, plain: plainSchema, validate: validate as Check<Infer<S>> };
}

type Check<T = unknown> = (value: unknown) => Checked<T> | Promise<Checked<T>>;

function plain(schema: Schema): JsonSchema {
  assertPlainJson(schema);
  return schema;
}

/** Arktype's schemas are functions. */
function isStandard(schema: unknown): schema is StandardSchema {
  const holds = (typeof schema === 'object' && schema !== null) || typeof schema === 'function';
  return holds && '~standard' in schema;
}

function checkStandard(schema: StandardSchema): Check {
  const props = schema['~standard'];
  return function validate(value) {
    const result = props.validate(value);
    return 'then' in result ? result.then(settled) : settled(result);
  };
}

// `Array.from`, because arktype's lists are subclasses of Array whose `map` makes more of themselves.
function settled(result: StandardResult<unknown>): Checked<unknown> {
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, issues: Array.from(result.issues, toIssue) };
}

function toIssue({ message, path = [] }: StandardIssue): Issue {
  return { message, path: Array.from(path, (part) => toKey(typeof part === 'object' ? part.key : part)) };
}

function toKey(key: PropertyKey): string | number {
  return typeof key === 'symbol' ? String(key) : key;
}

// Where nothing in the schema may fail without failing the value, one pass both judges and finds. Elsewhere the pass that
// only judges is cheaper for what is accepted.
function checkJson(document: SchemaDocument): Check {
  const onePass = !hasAlternatives(document);
  return function validate(value) {
    const judged = onePass ? judge(document, value) : undefined;
    if (judged?.valid ?? accepts(document, value)) return { ok: true, value };
    const issues = findProblems(document, value, judged?.findings);
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
  function again(value: unknown, failed: Checked<unknown>): ReturnType<Check> {
    if (failed.ok) return failed;
    const coerced = coerce(document, value);
    return coerced.changed ? check(coerced.value) : failed;
  }
  return function validate(value) {
    const first = check(value);
    if ('then' in first) return first.then((checked) => again(value, checked));
    return first.ok ? first : again(value, first);
  };
}
