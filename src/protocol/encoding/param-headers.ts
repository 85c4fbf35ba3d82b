import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { decodeHeaderValue, encodeHeaderValue } from './header-value.js';
import { shorten } from './shorten.js';

// Parameter headers: copies of tool arguments in HTTP headers, for proxies that route by them, and the check that headers and
// body agree. Spec 2026-07-28, Streamable HTTP, Custom Headers from Tool Parameters.

/** A parameter that is repeated in a header. */
export interface ParamHeader {
  /** The name as the schema has it. */
  readonly name: string;
  /** The whole header's name, in lower case: `mcp-param-region`. */
  readonly header: string;
  /** The keys that lead from the arguments to the value. */
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}

export interface ParamHeaders {
  readonly paramHeaders: readonly ParamHeader[];
  /** Why the tool's definition is invalid: a sentence for each reason. */
  readonly problems: readonly string[];
}

const ANNOTATION = 'x-mcp-header';
/** The number of schema levels that are searched. A deeper schema makes the definition invalid: it might hold annotations. */
const MAX_DEPTH = 64;

// Keywords whose subschemas apply to values that cannot be located from the schema alone. Other keywords hold data
// (`default`, `examples`), in which the annotation has no meaning.
const singles = [
  'items',
  'additionalItems',
  'unevaluatedItems',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'contentSchema',
];
const lists = ['prefixItems', 'items', 'oneOf', 'anyOf', 'allOf'];
const maps = ['patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions'];

/** Finds the parameters that a tool's schema wants in headers, and the mistakes in its annotations. */
export function findParamHeaders(inputSchema: object): ParamHeaders {
  const paramHeaders: ParamHeader[] = [];
  const problems: string[] = [];
  const owners = new Map<string, string>();
  visit(inputSchema as JsonObject, [], { reachable: true, depth: 0, at: 'The schema' });
  return { paramHeaders, problems };

  function visit(schema: unknown, path: readonly string[], position: HeaderPosition): void {
    if (!isObject(schema)) return;
    if (position.depth > MAX_DEPTH) {
      problems.push(
        `${position.at} nests deeper than ${MAX_DEPTH} levels and cannot be searched for ${ANNOTATION}.`,
      );
      return;
    }
    if (Object.hasOwn(schema, ANNOTATION)) annotate(schema, path, position);
    const below = { reachable: false, depth: position.depth + 1 };
    const properties = ownValue(schema, 'properties');
    if (isObject(properties)) {
      for (const key of Object.keys(properties)) {
        const inner = [...path, key];
        const at = position.reachable ? `Property ${printPath(inner)}` : `${position.at}.properties.${key}`;
        visit(properties[key], inner, { reachable: position.reachable, depth: position.depth + 1, at });
      }
    }
    for (const keyword of singles) {
      const inner = ownValue(schema, keyword);
      if (isObject(inner)) visit(inner, path, { ...below, at: `${position.at}.${keyword}` });
    }
    for (const keyword of lists) {
      const list = ownValue(schema, keyword);
      if (!Array.isArray(list)) continue;
      for (const [index, item] of list.entries()) {
        visit(item, path, { ...below, at: `${position.at}.${keyword}[${index}]` });
      }
    }
    for (const keyword of maps) {
      const map = ownValue(schema, keyword);
      if (!isObject(map)) continue;
      for (const key of Object.keys(map))
        visit(map[key], path, { ...below, at: `${position.at}.${keyword}.${key}` });
    }
  }

  function annotate(schema: JsonObject, path: readonly string[], { reachable, at }: HeaderPosition): void {
    const name = schema[ANNOTATION];
    const type = primitiveOf(ownValue(schema, 'type'));
    const problem =
      !reachable || path.length === 0
        ? 'must be on a property that is reached from the root through "properties" alone'
        : (nameProblem(name) ?? typeProblem(ownValue(schema, 'type')));
    if (problem !== undefined) problems.push(`${at}: ${ANNOTATION} ${problem}.`);
    if (problem !== undefined || typeof name !== 'string' || type === undefined) return;
    const header = `mcp-param-${name.toLowerCase()}`;
    const owner = owners.get(header);
    if (owner === undefined) {
      owners.set(header, printPath(path));
      paramHeaders.push({ name, header, path, type });
    } else {
      problems.push(
        `${at}: ${ANNOTATION} '${name}' is taken by property ${owner}; case makes no difference.`,
      );
    }
  }
}

interface HeaderPosition {
  readonly reachable: boolean;
  readonly depth: number;
  readonly at: string;
}

function ownValue(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function printPath(path: readonly string[]): string {
  return `'${path.join('.')}'`;
}

function nameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string') return 'must be a string';
  if (name === '') return 'must not be empty';
  if (/^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/.test(name)) return undefined;
  return `${JSON.stringify(name)} is not a header name: letters, digits and !#$%&'*+-.^_\`|~ only`;
}

function typeProblem(type: unknown): string | undefined {
  if (primitiveOf(type) !== undefined) return undefined;
  if (type === 'number') return 'is not permitted on type "number": use "integer" or "string"';
  return 'needs a property whose "type" is "string", "integer" or "boolean"';
}

/** The type, also when null is allowed beside it: null is not copied into a header. */
function primitiveOf(type: unknown): ParamHeader['type'] | undefined {
  if (Array.isArray(type) && type.length === 2 && type.includes('null')) {
    return primitiveOf(type.find((item) => item !== 'null'));
  }
  return type === 'string' || type === 'integer' || type === 'boolean' ? type : undefined;
}

/** The value that belongs in a parameter's header; `undefined` if the arguments have none, or have null. */
export function paramHeaderValue(paramHeader: ParamHeader, args: unknown): unknown {
  let value = args;
  for (const key of paramHeader.path) value = isObject(value) ? ownValue(value, key) : undefined;
  return value ?? undefined;
}

/** Compares the headers with the arguments. Returns the first problem as a sentence, or `undefined`. */
export function checkParamHeaders(
  paramHeaders: readonly ParamHeader[],
  args: unknown,
  header: (name: string) => string | undefined,
): string | undefined {
  for (const paramHeader of paramHeaders) {
    const problem = checkParamHeader(
      `Mcp-Param-${paramHeader.name}`,
      paramHeaderValue(paramHeader, args),
      header(paramHeader.header),
    );
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkParamHeader(name: string, value: unknown, header: string | undefined): string | undefined {
  if (value === undefined) {
    // A proxy may have routed by this header, and the body does not confirm it.
    return header === undefined
      ? undefined
      : `${name} header value '${shorten(header, 128)}' is not in the body`;
  }
  if (header === undefined) return `${name} header is missing but the body has a value for it`;
  const text = decodeHeaderValue(header);
  if (text === undefined) return `${name} header value '${shorten(header, 128)}' is malformed`;
  if (matches(text, value)) return undefined;
  return `${name} header value '${shorten(text, 128)}' does not match body value '${shorten(value, 128)}'`;
}

/** Compares with the value in the body, even if that does not fit the schema: the schema is checked elsewhere. */
function matches(text: string, value: unknown): boolean {
  // `Number` would round other decimals, and integers outside the safe range.
  if (Number.isSafeInteger(value)) return /^-?[0-9]+(?:\.0+)?$/.test(text) && Number(text) === value;
  return typeof value !== 'object' && text === String(value);
}

export { decodeHeaderValue, encodeHeaderValue };
