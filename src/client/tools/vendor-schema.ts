// Input schemas that the APIs of models accept: the root is an object with properties, and is not combined of several schemas.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';

const COMBINED = ['anyOf', 'oneOf', 'allOf'] as const;
const MAX_BRANCHES = 64;

/** A schema whose root describes an object. */
export interface ObjectSchema extends JsonObject {
  /** Always `object`. */
  type: 'object';
  /** The schemas of the arguments, by name. */
  properties: JsonObject;
}

/**
 * The input schema of a tool for an API. If the root combines schemas, the properties of all of them are offered; only those that every
 * branch needs are required. The server still checks the arguments by its own schema.
 */
export function vendorSchema(schema: unknown): ObjectSchema {
  const root = isObject(schema) ? schema : {};
  const { $schema, $id, $ref, anyOf, oneOf, allOf, not, enum: _, ...rest } = root;
  const gathered = gather(root, root, 0);
  const properties = Object.fromEntries(
    [...gathered.properties].map(([name, [first, ...others]]) => [
      name,
      others.length === 0 ? first : { anyOf: [first, ...others] },
    ]),
  ) as JsonObject;
  const { required: __, ...kept } = rest;
  return {
    ...kept,
    type: 'object',
    properties,
    ...(gathered.required.size > 0 && { required: [...gathered.required] }),
  };
}

interface Gathered {
  /** The different schemas of each property. */
  readonly properties: Map<string, unknown[]>;
  readonly required: Set<string>;
}

function gather(node: unknown, root: JsonObject, depth: number): Gathered {
  const result: Gathered = { properties: new Map(), required: new Set() };
  if (!isObject(node) || depth > 8) return result;
  const { properties, required, $ref } = node;
  if (isObject(properties))
    for (const [name, property] of Object.entries(properties)) addProperty(result.properties, name, property);
  if (Array.isArray(required))
    for (const name of required) if (typeof name === 'string') result.required.add(name);
  if (typeof $ref === 'string') merge(result, gather(targetOf($ref, root), root, depth + 1), true);
  for (const keyword of COMBINED) {
    const branches = node[keyword];
    if (!Array.isArray(branches)) continue;
    const parts = branches.slice(0, MAX_BRANCHES).map((branch) => gather(branch, root, depth + 1));
    const [first] = parts;
    const needed = [...(first?.required ?? [])].filter((name) =>
      parts.every((part) => part.required.has(name)),
    );
    for (const part of parts) merge(result, part, keyword === 'allOf');
    for (const name of needed) result.required.add(name);
  }
  return result;
}

function merge(into: Gathered, part: Gathered, withRequired: boolean): void {
  for (const [name, schemas] of part.properties)
    for (const schema of schemas) addProperty(into.properties, name, schema);
  if (withRequired) for (const name of part.required) into.required.add(name);
}

function addProperty(properties: Map<string, unknown[]>, name: string, schema: unknown): void {
  const known = properties.get(name) ?? [];
  const print = JSON.stringify(schema);
  if (!known.some((other) => JSON.stringify(other) === print)) known.push(schema);
  properties.set(name, known);
}

/** The part of a schema that a local reference names. */
function targetOf(reference: string, root: JsonObject): unknown {
  if (!reference.startsWith('#/')) return undefined;
  let node: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (!isObject(node) || !Object.hasOwn(node, key)) return undefined;
    node = node[key];
  }
  return node;
}
