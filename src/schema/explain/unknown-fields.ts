// Finds the fields of a value that a JSON Schema does not mention, although it accepts them: most schemas do not forbid other fields.

import type { Issue } from '../check/issue.js';
import { isSchema, referenced } from '../read/resolve.js';
import { closestName } from './closest-name.js';

/** Schemas that are applied to the same value, or to a part of it under a condition. */
const APPLIED_LISTS = ['allOf', 'anyOf', 'oneOf'] as const;
const APPLIED = ['if', 'then', 'else'] as const;
/** Keywords that this does not follow. A schema with one of them may mention any field. */
const UNFOLLOWED = ['$dynamicRef', '$recursiveRef', '$id', '$anchor', 'extends'] as const;
/** A pattern that only begins a name, or is the whole of it. Others of a peer are not run: they may take forever. */
const PLAIN_PATTERN = /^\^([\w-]{1,64})(\$?)$/;
const MAX_ISSUES = 20;
const MAX_SCHEMAS = 10_000;

type Fields = Readonly<Record<string, unknown>>;

/** The schemas of a place: the fields that they mention, and whether they are open to others. */
interface Place {
  readonly fields: Map<string, unknown[]>;
  readonly patterns: (readonly [start: string, schema: unknown])[];
  readonly items: unknown[];
  isOpen: boolean;
  /** Whether any schema has fields. An object without them may have any. */
  hasFields: boolean;
}

/**
 * Finds the fields of a value that no part of its schema mentions, unless the schema is open to others in so many words:
 * `additionalProperties`, `unevaluatedProperties` or a pattern that is not plain, or an object without any `properties`. A schema that this
 * cannot follow counts as open, so that a field that is allowed is never found.
 */
export function unknownFields(schema: unknown, value: unknown): readonly Issue[] {
  const issues: Issue[] = [];
  let left = MAX_SCHEMAS;

  function visit(schemas: readonly unknown[], part: unknown, path: Issue['path']): void {
    if (typeof part !== 'object' || part === null || issues.length >= MAX_ISSUES) return;
    const place: Place = { fields: new Map(), patterns: [], items: [], isOpen: false, hasFields: false };
    const seen = new Set<unknown>();
    for (const one of schemas) collect(one, place, seen);
    if (Array.isArray(part)) {
      for (const [at, item] of part.entries()) visit(place.items, item, [...path, at]);
      return;
    }
    for (const [name, field] of Object.entries(part)) {
      const known = place.fields.get(name) ?? matching(place, name);
      if (known !== undefined) visit(known, field, [...path, name]);
      else if (!place.isOpen && place.hasFields)
        issues.push(issueOf([...path, name], [...place.fields.keys()]));
    }
  }

  function collect(one: unknown, place: Place, seen: Set<unknown>): void {
    if (typeof one !== 'object' || one === null || left-- <= 0) {
      // `false` allows nothing, so that only the other schemas say what is there.
      if (one !== false) place.isOpen = true;
      return;
    }
    if (seen.has(one)) return;
    seen.add(one);
    const now = one as Fields;
    const { properties, required, additionalProperties: more, unevaluatedProperties: rest } = now;
    if (UNFOLLOWED.some((keyword) => isNested(keyword, now))) place.isOpen = true;
    if ((more !== undefined && more !== false) || (rest !== undefined && rest !== false)) place.isOpen = true;
    for (const [name, field] of entriesOf(properties)) add(place, name, field);
    for (const [pattern, field] of entriesOf(now['patternProperties'])) addPattern(place, pattern, field);
    for (const name of arrayOf(required)) if (typeof name === 'string') add(place, name);
    if (properties !== undefined) place.hasFields = true;
    place.items.push(...arrayOf(now['prefixItems']), ...[now['items'] ?? []].flat());
    const inner = [
      ...APPLIED_LISTS.flatMap((keyword) => arrayOf(now[keyword])),
      ...APPLIED.filter((keyword) => now[keyword] !== undefined).map((keyword) => now[keyword]),
      ...['dependentSchemas', 'dependencies'].flatMap((keyword) =>
        entriesOf(now[keyword]).flatMap(([, dependent]) => (Array.isArray(dependent) ? [] : [dependent])),
      ),
    ];
    for (const each of inner) if (mayBeObject(each)) collect(each, place, seen);
    if ([...arrayOf(now['anyOf']), ...arrayOf(now['oneOf'])].some(isAnyObject)) place.isOpen = true;
    const { $ref } = now;
    if ($ref !== undefined) collect(follow($ref), place, seen);
  }

  /** The schema at a pointer of the same document. Others cannot be followed. */
  function follow(ref: unknown): unknown {
    return typeof ref === 'string' && isSchema(schema) ? referenced(ref, schema) : undefined;
  }

  // The root of a document may have an id: its pointers are those of the document.
  function isNested(keyword: string, one: Fields): boolean {
    return Object.hasOwn(one, keyword) && !(one === schema && (keyword === '$id' || keyword === '$anchor'));
  }

  visit([schema], value, []);
  return issues;
}

function issueOf(path: Issue['path'], names: readonly string[]): Issue {
  const close = closestName(String(path.at(-1)), names);
  return {
    path,
    message: close === undefined ? 'unknown field' : `unknown field, did you mean ${JSON.stringify(close)}?`,
  };
}

function add(place: Place, name: string, schema?: unknown): void {
  const known = place.fields.get(name) ?? [];
  if (schema !== undefined) known.push(schema);
  place.fields.set(name, known);
}

function addPattern(place: Place, pattern: string, schema: unknown): void {
  const [, start = '', end] = PLAIN_PATTERN.exec(pattern) ?? [];
  if (start === '') place.isOpen = true;
  else if (end) add(place, start, schema);
  else place.patterns.push([start, schema]);
}

/** The schemas of the patterns that a name matches; undefined if there is none. */
function matching({ patterns }: Place, name: string): readonly unknown[] | undefined {
  const found = patterns.filter(([start]) => name.startsWith(start));
  return found.length > 0 ? found.map(([, schema]) => schema) : undefined;
}

/** Whether a branch of a union can be an object. Those that cannot say nothing about fields. */
function mayBeObject(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return schema !== false;
  const { type, enum: values } = schema as Fields;
  if (type !== undefined) return [type].flat().some((one) => one === 'object' || one === 'array');
  return !('const' in schema) && values === undefined;
}

/** Whether a branch of a union is an object with any fields. */
function isAnyObject(schema: unknown): boolean {
  if (schema === true) return true;
  if (typeof schema !== 'object' || schema === null) return false;
  const { type, ...rest } = schema as Fields;
  const isObject = [type].flat().includes('object');
  return isObject && !['properties', 'required', '$ref', ...APPLIED_LISTS].some((name) => name in rest);
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}
