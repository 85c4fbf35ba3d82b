import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { compileSchema } from '../../schema/compile.js';
import { explain } from '../../schema/explain/explain.js';

/** Checks values against a server's schema. Throws where the schema cannot be read. */
export function outputCheck(schema: JsonObject): OutputCheck {
  const compiled = compileSchema(withoutPatterns(schema) as JsonObject, { io: 'output' });
  return function check(value) {
    if (value === undefined) return 'It has no structured content.';
    const checked = compiled.validate(value);
    // A plain JSON Schema never makes anybody wait.
    if (checked instanceof Promise || checked.ok) return undefined;
    return explain(checked.issues, compiled, value);
  };
}

/** Checks what a handler filled in as the server will, which takes "5" for 5. Undefined where the form cannot be read. */
export function formCheck(schema: JsonObject): OutputCheck | undefined {
  try {
    const compiled = compileSchema(withoutPatterns(schema) as JsonObject, { io: 'input' });
    return function check(value) {
      const checked = compiled.validate(value);
      return checked instanceof Promise || checked.ok ? undefined : explain(checked.issues, compiled, value);
    };
  } catch {
    return undefined;
  }
}

// Keywords whose values are data, or names that lead to schemas: what they hold is not itself a keyword.
const dataKeywords = new Set(['const', 'enum', 'default', 'examples']);
const mapKeywords = new Set(['properties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);

/**
 * The schema without regular expressions. A server that chooses both the expression and the text could keep the client busy
 * for ever. Where patterns name properties, nothing is said of the properties that are left.
 */
function withoutPatterns(schema: unknown, depth = 0): unknown {
  if (depth > 200) throw new RangeError('The schema is nested too deeply');
  if (Array.isArray(schema)) return schema.map((item) => withoutPatterns(item, depth + 1));
  if (!isObject(schema)) return schema;
  const open = 'patternProperties' in schema;
  const copy: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'pattern' || key === 'patternProperties') continue;
    if (open && (key === 'additionalProperties' || key === 'unevaluatedProperties')) continue;
    if (dataKeywords.has(key)) copy[key] = value;
    else if (mapKeywords.has(key) && isObject(value)) {
      copy[key] = Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [name, withoutPatterns(inner, depth + 1)]),
      );
    } else copy[key] = withoutPatterns(value, depth + 1);
  }
  return copy;
}

/** Says what is wrong with a value, or undefined. */
export type OutputCheck = (value: unknown) => string | undefined;
