import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { compileSchema } from '../../schema/compile.js';
import { explain } from '../../schema/explain/explain.js';

// Checks of values against a server's JSON Schemas: results of tools, and answers to forms.

/** Checks values against a tool's output schema. Throws if the schema cannot be read. */
export function outputCheck(schema: JsonObject): OutputCheck {
  const compiled = compileSchema(withoutPatterns(schema) as JsonObject, { io: 'output' });
  return function check(value) {
    if (value === undefined) return 'It has no structured content.';
    const result = compiled.validate(value);
    // A plain JSON Schema is always checked synchronously.
    if (result instanceof Promise || result.ok) return undefined;
    return explain(result.issues, compiled, value);
  };
}

/** The first place at which a value does not fit a schema. */
export interface Difference {
  /** As in `items[0].price`; empty for the whole value. */
  readonly path: string;
  readonly message: string;
}

/** Finds the first place at which a value does not fit a tool's output schema. Throws if the schema cannot be read. */
export function outputDifference(schema: JsonObject, value: unknown): Difference | undefined {
  const compiled = compileSchema(withoutPatterns(schema) as JsonObject, { io: 'output' });
  if (value === undefined) return { path: '', message: 'It has no structured content.' };
  const result = compiled.validate(value);
  if (result instanceof Promise || result.ok) return undefined;
  const [first] = result.issues;
  return { path: pathOf(first?.path ?? []), message: explain(result.issues, compiled, value) };
}

function pathOf(path: readonly (string | number)[]): string {
  return path.reduce<string>((printed, part) => {
    if (typeof part === 'number') return `${printed}[${part}]`;
    return printed === '' ? part : `${printed}.${part}`;
  }, '');
}

/** Checks an answer to a form as the server will, which accepts "5" for 5. Undefined if the form's schema cannot be read. */
export function formCheck(schema: JsonObject): OutputCheck | undefined {
  try {
    const compiled = compileSchema(withoutPatterns(schema) as JsonObject, { io: 'input' });
    return function check(value) {
      const result = compiled.validate(value);
      return result instanceof Promise || result.ok ? undefined : explain(result.issues, compiled, value);
    };
  } catch {
    return undefined;
  }
}

// Keywords whose values are data, and keywords whose values map names to schemas: the keys in them are not keywords.
const dataKeywords = new Set(['const', 'enum', 'default', 'examples']);
const mapKeywords = new Set(['properties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);

/**
 * The schema without regular expressions. A server that chooses both the expression and the text could keep the client busy
 * forever. Without `patternProperties`, additional properties cannot be recognized, so they are not checked.
 */
function withoutPatterns(schema: unknown, depth = 0): unknown {
  if (depth > 200) throw new RangeError('The schema is nested too deeply');
  if (Array.isArray(schema)) return schema.map((item) => withoutPatterns(item, depth + 1));
  if (!isObject(schema)) return schema;
  const isOpen = 'patternProperties' in schema;
  const copy: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'pattern' || key === 'patternProperties') continue;
    if (isOpen && (key === 'additionalProperties' || key === 'unevaluatedProperties')) continue;
    if (dataKeywords.has(key)) copy[key] = value;
    else if (mapKeywords.has(key) && isObject(value)) {
      copy[key] = Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [name, withoutPatterns(inner, depth + 1)]),
      );
    } else copy[key] = withoutPatterns(value, depth + 1);
  }
  return copy;
}

/** Returns a sentence that says what is wrong with a value, or undefined. */
export type OutputCheck = (value: unknown) => string | undefined;
