import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { decodeHeaderValue, encodeHeaderValue } from './header-value.js';

// Spec 2026-07-28, Streamable HTTP, Custom Headers from Tool Parameters: what something in front of the server
// may route by, and the check that it was not told otherwise than the server.

/** A parameter that is repeated in a header. */
export interface Mirror {
  /** As the schema has it. */
  readonly name: string;
  /** The whole header's name, in lower case: `mcp-param-region`. */
  readonly header: string;
  /** The keys that lead from the arguments to the value. */
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}

export interface Mirrors {
  readonly mirrors: readonly Mirror[];
  /** Why the tool's definition is invalid: a sentence for each reason. */
  readonly problems: readonly string[];
}

const ANNOTATION = 'x-mcp-header';
/** Levels of schemas that are searched. Deeper ones make the definition invalid, as what they hold is unknown. */
const MAX_DEPTH = 64;

// Keywords that hold schemas where the value's place cannot be told from the schema alone. Other keywords hold
// data (`default`, `examples`), in which the annotation is a word like any other.
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

/** Finds the parameters that a tool's schema wants in headers, and what is wrong with how it says so. */
export function findMirrors(inputSchema: object): Mirrors {
  const mirrors: Mirror[] = [];
  const problems: string[] = [];
  const owners = new Map<string, string>();
  visit(inputSchema as JsonObject, [], { reachable: true, depth: 0, at: 'The schema' });
  return { mirrors, problems };

  function visit(schema: unknown, path: readonly string[], place: Place): void {
    if (!isObject(schema)) return;
    if (place.depth > MAX_DEPTH) {
      problems.push(
        `${place.at} nests deeper than ${MAX_DEPTH} levels and cannot be searched for ${ANNOTATION}.`,
      );
      return;
    }
    if (Object.hasOwn(schema, ANNOTATION)) annotate(schema, path, place);
    const below = { reachable: false, depth: place.depth + 1 };
    const properties = own(schema, 'properties');
    if (isObject(properties)) {
      for (const key of Object.keys(properties)) {
        const inner = [...path, key];
        const at = place.reachable ? `Property ${printPath(inner)}` : `${place.at}.properties.${key}`;
        visit(properties[key], inner, { reachable: place.reachable, depth: place.depth + 1, at });
      }
    }
    for (const keyword of singles)
      visit(own(schema, keyword), path, { ...below, at: `${place.at}.${keyword}` });
    for (const keyword of lists) {
      const list = own(schema, keyword);
      if (!Array.isArray(list)) continue;
      for (const [index, item] of list.entries()) {
        visit(item, path, { ...below, at: `${place.at}.${keyword}[${index}]` });
      }
    }
    for (const keyword of maps) {
      const map = own(schema, keyword);
      if (!isObject(map)) continue;
      for (const key of Object.keys(map))
        visit(map[key], path, { ...below, at: `${place.at}.${keyword}.${key}` });
    }
  }

  function annotate(schema: JsonObject, path: readonly string[], { reachable, at }: Place): void {
    const name = schema[ANNOTATION];
    const type = primitive(own(schema, 'type'));
    const problem =
      !reachable || path.length === 0
        ? 'must stand on a property that is reached from the root through "properties" alone'
        : (nameProblem(name) ?? typeProblem(own(schema, 'type')));
    if (problem !== undefined) problems.push(`${at}: ${ANNOTATION} ${problem}.`);
    if (problem !== undefined || typeof name !== 'string' || type === undefined) return;
    const header = `mcp-param-${name.toLowerCase()}`;
    const owner = owners.get(header);
    if (owner === undefined) {
      owners.set(header, printPath(path));
      mirrors.push({ name, header, path, type });
    } else {
      problems.push(
        `${at}: ${ANNOTATION} '${name}' is taken by property ${owner}; case makes no difference.`,
      );
    }
  }
}

interface Place {
  readonly reachable: boolean;
  readonly depth: number;
  readonly at: string;
}

function own(object: JsonObject, key: string): unknown {
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
  if (primitive(type) !== undefined) return undefined;
  if (type === 'number') return 'is not permitted on type "number": use "integer" or "string"';
  return 'needs a property whose "type" is "string", "integer" or "boolean"';
}

/** A type that may also be null still is one: a null is not mirrored. */
function primitive(type: unknown): Mirror['type'] | undefined {
  if (Array.isArray(type) && type.length === 2 && type.includes('null')) {
    return primitive(type.find((item) => item !== 'null'));
  }
  return type === 'string' || type === 'integer' || type === 'boolean' ? type : undefined;
}

/** The value that belongs into a mirror's header; `undefined` where the arguments have none, or null. */
export function mirroredValue(mirror: Mirror, args: unknown): unknown {
  let value = args;
  for (const key of mirror.path) value = isObject(value) ? own(value, key) : undefined;
  return value ?? undefined;
}

/** Compares the headers with the arguments. Gives the first problem as a sentence, or `undefined`. */
export function checkMirrors(
  mirrors: readonly Mirror[],
  args: unknown,
  header: (name: string) => string | undefined,
): string | undefined {
  for (const mirror of mirrors) {
    const problem = checkMirror(
      `Mcp-Param-${mirror.name}`,
      mirroredValue(mirror, args),
      header(mirror.header),
    );
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkMirror(name: string, value: unknown, sent: string | undefined): string | undefined {
  if (value === undefined) {
    // The server cannot tell what was decided by a header that the body says nothing about.
    return sent === undefined ? undefined : `${name} header value ${quote(sent)} has no value in the body`;
  }
  if (sent === undefined) return `${name} header is missing but the body has a value for it`;
  const text = decodeHeaderValue(sent);
  if (text === undefined) return `${name} header value ${quote(sent)} is malformed`;
  if (matches(text, value)) return undefined;
  return `${name} header value ${quote(text)} does not match body value ${quote(value)}`;
}

/** Compares with what the body has, whatever the schema wants there: that the body is wrong is said elsewhere. */
function matches(text: string, value: unknown): boolean {
  // Other decimals than zeros would be lost in the conversion, and so would digits outside of the safe range.
  if (Number.isSafeInteger(value)) return /^-?[0-9]+(?:\.0+)?$/.test(text) && Number(text) === value;
  return typeof value !== 'object' && text === String(value);
}

function quote(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `'${text.length > 128 ? `${text.slice(0, 128)}…` : text}'`;
}

export { decodeHeaderValue, encodeHeaderValue };
