// Rules about input schemas: the parts that some vendors of models reject or ignore.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { isSlowPattern } from '../../schema/document/slow-pattern.js';
import { clean, cleanLine } from '../clean.js';
import type { Found } from './rules.js';
import { invisibleIn } from './text-rules.js';

/** Keywords that a vendor rejects: Gemini in `parameters`, OpenAI in strict mode. */
const REJECTED: Readonly<Record<string, NonNullable<Found['vendors']>>> = {
  oneOf: ['OpenAI', 'Gemini'],
  allOf: ['OpenAI', 'Gemini'],
  not: ['OpenAI', 'Gemini'],
  if: ['OpenAI', 'Gemini'],
  dependentRequired: ['OpenAI', 'Gemini'],
  dependentSchemas: ['OpenAI', 'Gemini'],
  patternProperties: ['OpenAI', 'Gemini'],
  prefixItems: ['Gemini'],
  const: ['Gemini'],
  $ref: ['Gemini'],
};
/** Keywords that a vendor leaves out or ignores. */
const IGNORED: Readonly<Record<string, NonNullable<Found['vendors']>>> = {
  propertyNames: ['OpenAI', 'Gemini'],
  unevaluatedProperties: ['OpenAI', 'Gemini'],
  unevaluatedItems: ['OpenAI', 'Gemini'],
  contains: ['OpenAI', 'Gemini'],
  uniqueItems: ['OpenAI', 'Gemini'],
  exclusiveMinimum: ['Gemini'],
  exclusiveMaximum: ['Gemini'],
  multipleOf: ['Gemini'],
};
const UNIONS = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'if'];
const PROPERTY_NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const MAX_LEVELS = 5;
const MAX_PROPERTIES = 100;
/** A schema of a hostile server is read so far and no further. */
const MAX_NODES = 20_000;

interface Walk {
  readonly found: Found[];
  /** The keywords that were reported: once for each tool is enough. */
  readonly reported: Set<string>;
  nodes: number;
  properties: number;
  levels: number;
  deepest: string;
}

/** Everything that the input schema of a tool does which some vendor rejects or ignores. */
export function checkSchema(schema: JsonObject): readonly Found[] {
  const walk: Walk = { found: [], reported: new Set(), nodes: 0, properties: 0, levels: 0, deepest: '' };
  const union = UNIONS.find((keyword) => schema[keyword] !== undefined);
  if (union !== undefined || schema['type'] !== 'object')
    walk.found.push({
      rule: 'root-not-object',
      says: union
        ? `the root of its input has "${union}"`
        : 'the root of its input does not have the type "object"',
    });
  visit(schema, walk, { path: '', level: 0, isRoot: true });
  if (isRecursive(schema)) walk.found.push({ rule: 'recursive-schema', says: 'its input refers to itself' });
  if (walk.levels > MAX_LEVELS)
    walk.found.push({
      rule: 'deep-nesting',
      path: walk.deepest,
      says: `its input has ${walk.levels} levels`,
    });
  if (walk.properties > MAX_PROPERTIES)
    walk.found.push({ rule: 'many-properties', says: `its input has ${walk.properties} properties` });
  return walk.found;
}

interface At {
  readonly path: string;
  readonly level: number;
  readonly isRoot?: boolean;
}

function visit(schema: unknown, walk: Walk, at: At): void {
  if (typeof schema === 'boolean')
    once(walk, { rule: 'boolean-schema', path: at.path, says: `a schema is only ${schema}` }, at.path);
  if (!isObject(schema) || ++walk.nodes > MAX_NODES) return;
  const { path, level, isRoot = false } = at;
  if (level > walk.levels) Object.assign(walk, { levels: level, deepest: path });
  checkKeywords(schema, walk, at);
  checkProperties(schema, walk, at);
  const { items, additionalProperties, $defs, definitions, ...rest } = schema;
  if (schema['type'] === 'array' && items === undefined && rest['prefixItems'] === undefined)
    once(walk, { rule: 'array-without-items', path, says: 'an array has no "items"' }, path);
  visit(items, walk, { path: `${path}[]`, level: level + 1 });
  // Every vendor knows these as true and false.
  if (typeof additionalProperties !== 'boolean')
    visit(additionalProperties, walk, { path: `${path}.*`, level: level + 1 });
  for (const keyword of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) {
    const branches = rest[keyword];
    if (Array.isArray(branches)) for (const branch of branches) visit(branch, walk, { path, level, isRoot });
  }
  for (const named of [$defs, definitions])
    if (isObject(named))
      for (const [name, one] of Object.entries(named)) visit(one, walk, { path: `$defs.${name}`, level: 1 });
}

function checkKeywords(schema: JsonObject, walk: Walk, { path, isRoot }: At): void {
  for (const [keyword, vendors] of Object.entries(REJECTED)) {
    if (schema[keyword] === undefined || (isRoot && UNIONS.includes(keyword))) continue;
    once(walk, { rule: 'unsupported-keyword', path, vendors, says: `its input uses "${keyword}"` }, keyword);
  }
  for (const [keyword, vendors] of Object.entries(IGNORED))
    if (schema[keyword] !== undefined)
      once(walk, { rule: 'ignored-keyword', path, vendors, says: `its input uses "${keyword}"` }, keyword);
  const { $ref, enum: values, pattern, type } = schema;
  if (typeof $ref === 'string' && !$ref.startsWith('#'))
    once(walk, { rule: 'external-ref', path, says: `it refers to ${cleanLine($ref, 100)}` }, $ref);
  if (Array.isArray(type))
    once(
      walk,
      { rule: 'type-array', path, says: `its type is an array: ${cleanLine(JSON.stringify(type), 100)}` },
      path,
    );
  if (Array.isArray(values) && !values.every((value) => typeof value === 'string'))
    once(walk, { rule: 'enum-not-strings', path, says: 'a choice is not a string' }, path);
  if (typeof pattern === 'string' && pattern.length <= 1000 && isSlowPattern(pattern))
    once(
      walk,
      { rule: 'slow-pattern', path, says: `${cleanLine(pattern, 80)} can take exponential time` },
      pattern,
    );
}

function checkProperties(schema: JsonObject, walk: Walk, { path, level }: At): void {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const undescribed: string[] = [];
  for (const [name, property] of Object.entries(properties)) {
    const at = path === '' ? name : `${path}.${name}`;
    walk.properties++;
    if (!PROPERTY_NAME.test(name))
      once(walk, { rule: 'property-name', path: at, says: propertyProblem(name) }, at);
    const description = isObject(property) ? property['description'] : undefined;
    const invisible = invisibleIn(`${name}${typeof description === 'string' ? description : ''}`);
    if (invisible !== undefined)
      once(walk, { rule: 'invisible-characters', path: at, says: `${invisible} in an argument` }, at);
    if (level === 0 && description === undefined) undescribed.push(name);
    visit(property, walk, { path: at, level: level + 1 });
  }
  const { required } = schema;
  const unknown = (Array.isArray(required) ? required : []).find(
    (name) => !Object.hasOwn(properties, String(name)),
  );
  if (unknown !== undefined && isObject(schema['properties']))
    once(
      walk,
      { rule: 'required-unknown', path, says: `"required" names ${cleanLine(String(unknown), 64)}` },
      path,
    );
  if (undescribed.length > 0)
    walk.found.push({
      rule: 'argument-description-missing',
      says: `without a description: ${undescribed
        .slice(0, 8)
        .map((name) => cleanLine(name, 64))
        .join(', ')}${undescribed.length > 8 ? ', …' : ''}`,
    });
}

function propertyProblem(name: string): string {
  const shown = cleanLine(name, 64);
  return name.length > 64
    ? `the name ${shown} has ${name.length} characters`
    : `the name ${JSON.stringify(clean(shown))} has other characters`;
}

function once(walk: Walk, found: Found, key: string): void {
  const print = `${found.rule} ${key}`;
  if (walk.reported.has(print)) return;
  walk.reported.add(print);
  walk.found.push({ ...found, path: cleanLine(found.path ?? '', 128) });
}

/** Whether a definition reaches itself by references. */
function isRecursive(root: JsonObject): boolean {
  const text = (node: unknown): readonly string[] => referencesIn(node, { left: MAX_NODES });
  const named = new Map<string, readonly string[]>([['#', text(root)]]);
  for (const place of ['$defs', 'definitions'])
    if (isObject(root[place]))
      for (const [name, one] of Object.entries(root[place])) named.set(`#/${place}/${name}`, text(one));
  const reaches = (from: string, to: string, seen: Set<string>): boolean =>
    (named.get(from) ?? []).some((next) => {
      if (next === to) return true;
      if (seen.has(next) || seen.size > 1000) return false;
      seen.add(next);
      return reaches(next, to, seen);
    });
  return [...named.keys()].slice(0, 1000).some((name) => reaches(name, name, new Set()));
}

function referencesIn(node: unknown, budget: { left: number }): readonly string[] {
  if (typeof node !== 'object' || node === null || --budget.left < 0) return [];
  const own = isObject(node) && typeof node['$ref'] === 'string' ? [node['$ref']] : [];
  return [...own, ...Object.values(node).flatMap((inner) => referencesIn(inner, budget))];
}
