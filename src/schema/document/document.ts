// Reads a JSON Schema into normal form and checks everything about it that could fail later.

import { dialectOf } from './dialect.js';
import { assertExpands } from './expansion.js';
import { typeBits } from './json-types.js';
import { formats, type KeywordShape, keywords, shapeProblem } from './keywords.js';
import type { SchemaDocument, SchemaNode } from './nodes.js';
import { unicodePattern } from './pattern.js';
import { assertPlainJson, type JsonSchema } from './plain-json.js';
import { followPointer, joinPointer } from './pointer.js';
import { createReferences, ROOT_BASE, unresolvedReference } from './references.js';
import { SchemaError } from './schema-error.js';
import { isSlowPattern } from './slow-pattern.js';

const MAX_SCHEMA_DEPTH = 64;
const MAX_SUBSCHEMAS = 10_000;

// The validator compares every item with every other, so a longer array of unique items is rejected without a comparison.
const MAX_UNIQUE_ITEMS = 2_000;

/** The options of `readDocument`. */
export interface ReadOptions {
  /** Leaves out patterns that can take exponential time, because a schema library matches them already. Default: false. */
  readonly withoutSlowPatterns?: boolean;
}

/** Reads a JSON Schema once, at definition. Throws `SchemaError` for anything that could fail or mislead later. */
export function readDocument(json: unknown, options: ReadOptions = {}): SchemaDocument {
  assertPlainJson(json);
  const reader = createReader(json, options);
  const root = reader.read(json, { pointer: '', base: ROOT_BASE, depth: 1 }) as SchemaNode;
  reader.resolveReferences();
  const targets = reader.nodes;
  const { slowPatterns } = reader;
  const document: SchemaDocument = { root, targets, target: (ref) => targets[ref] ?? true, slowPatterns };
  assertExpands(document, MAX_SCHEMA_DEPTH, MAX_SUBSCHEMAS);
  return document;
}

interface SchemaPosition {
  readonly pointer: string;
  readonly base: string;
  readonly depth: number;
}

interface Pending extends SchemaPosition {
  readonly node: Draft;
  readonly ref: string;
  readonly isDynamic: boolean;
}

type Draft = Record<string, unknown>;
type Nodes = Record<string, SchemaNode | boolean>;

interface Reader {
  readonly slowPatterns: readonly string[];
  readonly nodes: Nodes;
  read(raw: unknown, position: SchemaPosition): SchemaNode | boolean;
  resolveReferences(): void;
}

function createReader(json: JsonSchema, { withoutSlowPatterns = false }: ReadOptions): Reader {
  const dialect = dialectOf(json['$schema']);
  const references = createReferences();
  const nodes: Nodes = Object.create(null) as Nodes;
  const pending: Pending[] = [];
  const slowPatterns: string[] = [];
  let count = 0;

  function read(raw: unknown, position: SchemaPosition): SchemaNode | boolean {
    const { pointer, depth } = position;
    if (depth > MAX_SCHEMA_DEPTH) {
      throw new SchemaError(
        `The schema is nested more than ${MAX_SCHEMA_DEPTH} levels deep at #${pointer}; flatten it with "$defs" and "$ref".`,
      );
    }
    if (++count > MAX_SUBSCHEMAS) {
      throw new SchemaError(`The schema has more than ${MAX_SUBSCHEMAS} subschemas; make it smaller.`);
    }
    if (typeof raw === 'boolean') {
      nodes[pointer] = raw || { not: true };
      return nodes[pointer];
    }
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
      throw new SchemaError(`A schema must be an object or a boolean; #${pointer} is neither.`);
    }
    return readObject(raw as JsonSchema, position);
  }

  function readObject(raw: JsonSchema, position: SchemaPosition): SchemaNode {
    const { pointer, depth } = position;
    if (dialectOf(raw['$schema'] ?? json['$schema']) !== dialect) {
      throw new SchemaError(`"$schema" at #${pointer} differs from the root's; use one dialect.`);
    }
    // In draft-07 the keywords beside a `$ref` have no effect. They are still read, because they may contain definitions.
    const isRefAlone = dialect === '7' && typeof raw['$ref'] === 'string';
    const base = isRefAlone ? position.base : references.declare(raw, pointer, position.base);
    const here: SchemaPosition = { pointer, depth, base };
    const node: Draft = {};
    nodes[pointer] = node;
    for (const [keyword, value] of Object.entries(raw)) {
      const shape = keywords.get(keyword);
      if (shape === undefined || value === undefined) continue;
      const own = readKeyword(shape, keyword, value, here);
      if (own !== undefined) node[keyword] = own;
    }
    normalize(node);
    addReference(node, raw, '$ref', here);
    if (isRefAlone) keepOnly(node, '$ref');
    if (dialect === '2020-12') addReference(node, raw, '$dynamicRef', here);
    return node;
  }

  function addReference(
    node: Draft,
    raw: JsonSchema,
    keyword: '$ref' | '$dynamicRef',
    here: SchemaPosition,
  ): void {
    const ref = raw[keyword];
    if (ref === undefined) return;
    if (typeof ref !== 'string') throw new SchemaError(`"${keyword}" at #${here.pointer} must be a string.`);
    const isDynamic = keyword === '$dynamicRef';
    let holder = node;
    if (node['$ref'] !== undefined) {
      holder = {};
      node['allOf'] = [...((node['allOf'] as readonly unknown[] | undefined) ?? []), holder];
    }
    holder['$ref'] = ref;
    pending.push({ ...here, node: holder, ref, isDynamic });
  }

  function readKeyword(shape: KeywordShape, keyword: string, value: unknown, here: SchemaPosition): unknown {
    const problem = shapeProblem(shape, value);
    const where = joinPointer(`#${here.pointer}`, keyword);
    if (problem !== undefined) throw new SchemaError(`The value at ${where} must be ${problem}.`);
    const inside: SchemaPosition = {
      ...here,
      pointer: joinPointer(here.pointer, keyword),
      depth: here.depth + 1,
    };
    switch (shape) {
      case 'types':
        return readTypes(value, where);
      case 'pattern':
        return readPattern(value as string, where);
      case 'format':
        return formats.get(value as string);
      case 'schema':
        return read(value, inside);
      case 'schemaOrList':
        return Array.isArray(value) ? readList(value, inside) : read(value, inside);
      case 'schemaList':
        return readList(value as readonly unknown[], inside);
      case 'schemaMap':
      case 'schemaOrNamesMap':
        return readMap(value as JsonSchema, keyword, inside);
      default:
        return value;
    }
  }

  function readPattern(source: string, where: string): string | undefined {
    const pattern = unicodePattern(source, where);
    if (!isSlowPattern(pattern)) return pattern;
    slowPatterns.push(`${JSON.stringify(source.slice(0, 100))} at ${where}`);
    return withoutSlowPatterns ? undefined : pattern;
  }

  function readList(list: readonly unknown[], inside: SchemaPosition): readonly (SchemaNode | boolean)[] {
    return list.map((item, i) => read(item, { ...inside, pointer: joinPointer(inside.pointer, i) }));
  }

  function readMap(map: JsonSchema, keyword: string, inside: SchemaPosition): Draft {
    const result = Object.create(null) as Draft; // a field may be called `__proto__`
    for (const [key, value] of Object.entries(map)) {
      if (value === undefined) continue;
      const pointer = joinPointer(inside.pointer, key);
      const name = keyword === 'patternProperties' ? unicodePattern(key, `#${pointer}`) : key;
      const listsNames = keyword === 'dependencies' && Array.isArray(value);
      if (listsNames && shapeProblem('names', value) !== undefined) {
        throw new SchemaError(`The value at #${pointer} must be a schema or an array of strings.`);
      }
      result[name] = listsNames ? value : read(value, { ...inside, pointer });
    }
    return result;
  }

  /** Resolves every reference to a node. A target may be outside the known keywords, and may contain further references. */
  function resolveReferences(): void {
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const where = `#${next.pointer}`;
      const resolve = next.isDynamic ? references.resolveDynamic : references.resolve;
      const { pointer, base } = resolve(next.ref, next.base, where);
      if (nodes[pointer] === undefined) {
        const raw = followPointer(json, pointer);
        if (raw === undefined) throw unresolvedReference(next.ref, where);
        read(raw, { pointer, base, depth: 1 });
      }
      next.node['$ref'] = pointer;
    }
  }

  return { nodes, read, resolveReferences, slowPatterns };
}

function readTypes(value: unknown, where: string): readonly string[] {
  const types: readonly unknown[] = Array.isArray(value) ? value : [value];
  for (const type of types) {
    if (typeof type === 'string' && typeBits.has(type)) continue;
    throw new SchemaError(
      `The type ${JSON.stringify(type)} at ${where} is not a JSON type; use one of ${[...typeBits.keys()].join(', ')}.`,
    );
  }
  return types as readonly string[];
}

/** Rewrites the tuples of draft-07 in the form of 2020-12, and limits the work that grows with the square of a peer's input. */
function normalize(node: Draft): void {
  if (Array.isArray(node['items'])) {
    node['prefixItems'] = node['items'];
    node['items'] = node['additionalItems'] ?? true;
  }
  delete node['additionalItems'];
  if (node['uniqueItems'] === true) {
    delete node['uniqueItems'];
    const few = { maxItems: MAX_UNIQUE_ITEMS };
    const limitedCheck = Object.fromEntries([
      ['if', few],
      ['then', { uniqueItems: true }],
      ['else', few],
    ]);
    node['allOf'] = [...((node['allOf'] as readonly unknown[] | undefined) ?? []), limitedCheck];
  }
}

function keepOnly(node: Draft, keyword: string): void {
  for (const key of Object.keys(node)) if (key !== keyword) delete node[key];
}
