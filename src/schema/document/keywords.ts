import { isPlainObject } from './plain-json.js';

// Every keyword that the validator acts on, and the shape that its value must have. Other keywords (titles, `x-mcp-header`,
// those of OpenAPI) stay in the JSON that is sent and have no effect on validation.

/** The shape of a keyword's value. */
export type KeywordShape =
  | 'any'
  | 'boolean'
  | 'count'
  | 'list'
  | 'names'
  | 'namesMap'
  | 'number'
  | 'pattern'
  | 'format'
  | 'positive'
  | 'schema'
  | 'schemaList'
  | 'schemaMap'
  | 'schemaOrNamesMap'
  | 'schemaOrList'
  | 'types';

/** The keywords that validate, with the shapes of their values. */
export const keywords: ReadonlyMap<string, KeywordShape> = new Map<string, KeywordShape>([
  ['type', 'types'],
  ['const', 'any'],
  ['enum', 'list'],
  ['minimum', 'number'],
  ['maximum', 'number'],
  ['exclusiveMinimum', 'number'],
  ['exclusiveMaximum', 'number'],
  ['multipleOf', 'positive'],
  ['minLength', 'count'],
  ['maxLength', 'count'],
  ['pattern', 'pattern'],
  ['format', 'format'],
  ['minItems', 'count'],
  ['maxItems', 'count'],
  ['uniqueItems', 'boolean'],
  ['minContains', 'count'],
  ['maxContains', 'count'],
  ['minProperties', 'count'],
  ['maxProperties', 'count'],
  ['required', 'names'],
  ['dependentRequired', 'namesMap'],
  ['dependentSchemas', 'schemaMap'],
  ['dependencies', 'schemaOrNamesMap'],
  ['properties', 'schemaMap'],
  ['patternProperties', 'schemaMap'],
  ['additionalProperties', 'schema'],
  ['unevaluatedProperties', 'schema'],
  ['propertyNames', 'schema'],
  ['prefixItems', 'schemaList'],
  ['items', 'schemaOrList'],
  ['additionalItems', 'schema'],
  ['unevaluatedItems', 'schema'],
  ['contains', 'schema'],
  ['allOf', 'schemaList'],
  ['anyOf', 'schemaList'],
  ['oneOf', 'schemaList'],
  ['not', 'schema'],
  ['if', 'schema'],
  ['then', 'schema'],
  ['else', 'schema'],
  ['$defs', 'schemaMap'],
  ['definitions', 'schemaMap'],
]);

/** The formats that are checked, and the check that is used. Any other format is an annotation. */
export const formats: ReadonlyMap<string, string> = new Map([
  ['date', 'date'],
  ['time', 'time'],
  ['date-time', 'date-time'],
  ['duration', 'duration'],
  ['uri', 'uri'],
  ['uri-reference', 'uri-reference'],
  ['uri-template', 'uri-template'],
  // The validator's expression for "url" takes exponential time on strings that a peer may choose.
  ['url', 'uri'],
  ['email', 'email'],
  ['hostname', 'hostname'],
  ['ipv4', 'ipv4'],
  ['ipv6', 'ipv6'],
  ['regex', 'regex'],
  ['uuid', 'uuid'],
  ['json-pointer', 'json-pointer'],
  ['json-pointer-uri-fragment', 'json-pointer-uri-fragment'],
  ['relative-json-pointer', 'relative-json-pointer'],
]);

/** Says in words what the value of a keyword must be; undefined if the value is right. */
export function shapeProblem(shape: KeywordShape, value: unknown): string | undefined {
  switch (shape) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'true or false';
    case 'count':
      return Number.isInteger(value) && (value as number) >= 0 ? undefined : 'an integer of 0 or more';
    case 'number':
      return typeof value === 'number' ? undefined : 'a number';
    case 'positive':
      return typeof value === 'number' && value > 0 ? undefined : 'a number greater than 0';
    case 'list':
      return Array.isArray(value) ? undefined : 'an array';
    case 'names':
      return isNames(value) ? undefined : 'an array of strings';
    case 'namesMap':
      return isPlainObject(value) && Object.values(value).every(isNames)
        ? undefined
        : 'an object of arrays of strings';
    case 'pattern':
    case 'format':
      return typeof value === 'string' ? undefined : 'a string';
    case 'schemaList':
      return Array.isArray(value) ? undefined : 'an array of schemas';
    case 'schemaMap':
    case 'schemaOrNamesMap':
      return isPlainObject(value) ? undefined : 'an object';
    default:
      return undefined; // 'any', and the shapes that are checked when they are read as schemas or types
  }
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}
