// A schema with its references followed and the parts of `allOf` joined. The schema comes from a peer: references stay inside the
// document, nothing is fetched, and only so many parts are read.

import type { JsonSchema } from '../document/plain-json.js';
import { followPointer } from '../document/pointer.js';

/** A schema that says by itself what its references and its `allOf` say. */
export interface ResolvedSchema {
  /** The keywords. Those that two parts say differently, and that cannot be joined, are left in `allOf`. */
  readonly schema: JsonSchema;
  /** The references that were followed on the way, with those that were followed before. */
  readonly references: ReadonlySet<string>;
}

/** The references and the parts of one schema. Real schemas have a dozen. */
const MAX_PARTS = 200;
const NO_REFERENCES: ReadonlySet<string> = new Set();

/**
 * Follows the references of a schema and joins the parts of its `allOf`; the schema's own keywords win. A reference that leads nowhere, or
 * back to one in `followed`, adds nothing. Properties keep their own references.
 */
export function resolveSchema(
  given: unknown,
  root: JsonSchema,
  followed: ReadonlySet<string> = NO_REFERENCES,
): ResolvedSchema {
  const references = new Set(followed);
  let left = MAX_PARTS;

  function read(part: unknown): JsonSchema {
    if (part === false) return NOTHING;
    if (!isSchema(part) || left-- <= 0) return {};
    const { $ref, allOf, ...own } = part;
    const parts = [...target($ref), ...(Array.isArray(allOf) ? allOf.slice(0, left).map(read) : [])];
    if (parts.length === 0) return $ref === undefined && allOf === undefined ? part : own;
    return [...parts, own].reduce(join);
  }

  function target(reference: unknown): readonly JsonSchema[] {
    if (typeof reference !== 'string') return [];
    const isNew = !references.has(reference);
    references.add(reference);
    return [isNew ? read(referenced(reference, root)) : {}];
  }

  return { schema: read(given), references };
}

/** The schema that no value fits, as an object. */
const NOTHING: JsonSchema = { not: {} };

/** Whether no value can fit. */
export function isNothing({ not }: JsonSchema): boolean {
  return not === true || (isSchema(not) && Object.keys(not).length === 0);
}

/** Whether a schema has keywords, and is not a boolean or something that is not a schema. */
export function isSchema(schema: unknown): schema is JsonSchema {
  return typeof schema === 'object' && schema !== null && !Array.isArray(schema);
}

/** The names of the types that a schema allows; empty if it does not say. */
export function typesOf({ type }: JsonSchema): readonly string[] {
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.filter((each) => typeof each === 'string');
}

/** The names of the fields that a schema requires. */
export function requiredOf({ required }: JsonSchema): ReadonlySet<string> {
  return new Set(Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []);
}

/** The part of the document that `#` or `#/$defs/item` names; undefined for references to elsewhere. */
export function referenced(reference: string, root: JsonSchema): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
  try {
    return followPointer(root, decodeURIComponent(reference.slice(1)));
  } catch {
    return undefined; // the percent signs do not encode anything
  }
}

/** Keywords for readers: the later part replaces them without a loss. */
const WORDS = new Set([
  ...['$schema', '$id', '$anchor', '$comment', '$defs', 'definitions'],
  ...['title', 'description', 'default', 'examples', 'example', 'deprecated', 'readOnly', 'writeOnly'],
]);

function join(one: JsonSchema, other: JsonSchema): JsonSchema {
  const joined: Record<string, unknown> = { ...one, ...other };
  const apart: (readonly [string, unknown])[] = [];
  for (const [keyword, value] of Object.entries(one)) {
    const theirs = other[keyword];
    if (theirs === undefined || WORDS.has(keyword)) continue;
    if (keyword === 'properties') joined[keyword] = joinFields(value, theirs);
    else if (keyword === 'required')
      joined[keyword] = [...new Set([...requiredOf(one), ...requiredOf(other)])];
    else if (keyword === 'type') joined[keyword] = commonTypes(typesOf(one), typesOf(other));
    else if (keyword === 'allOf') joined[keyword] = [...(value as unknown[]), ...(theirs as unknown[])];
    else if (!isSame(value, theirs)) apart.push([keyword, value]);
  }
  if (apart.length > 0)
    joined['allOf'] = [...((joined['allOf'] as unknown[] | undefined) ?? []), Object.fromEntries(apart)];
  return joined;
}

function joinFields(one: unknown, other: unknown): unknown {
  if (!isSchema(one) || !isSchema(other)) return isSchema(other) ? other : one;
  const fields = new Map(Object.entries(one));
  for (const [name, field] of Object.entries(other)) {
    const known = fields.get(name);
    fields.set(name, known === undefined || isSame(known, field) ? field : { allOf: [known, field] });
  }
  return Object.fromEntries(fields);
}

/** The types that both allow. If there are none, no value fits, and the later part says more. */
function commonTypes(one: readonly string[], other: readonly string[]): unknown {
  const common = [
    ...one.filter((type) => other.includes(type) || (type === 'integer' && other.includes('number'))),
    ...other.filter((type) => type === 'integer' && !one.includes(type) && one.includes('number')),
  ];
  const types = common.length > 0 ? common : other;
  return types.length === 1 ? types[0] : types;
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
