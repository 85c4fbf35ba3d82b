// Differences between the limits of two schemas at one place: types, values, ranges, patterns and the rest.

import { canonical } from '../../protocol/canonical.js';
import type { JsonSchema } from '../../schema/document/plain-json.js';
import { typesOf } from '../../schema/read/resolve.js';
import { cleanLine } from '../clean.js';

/** Whether the values of a schema go to the server, which must accept the old ones, or come from it, as the old ones did. */
export type Flow = 'input' | 'output';

/** One place in two schemas that are compared. */
export interface SchemaPlace {
  readonly path: string;
  readonly flow: Flow;
  readonly depth: number;
  readonly roots: readonly [before: JsonSchema, after: JsonSchema];
  /** Whether equal references mean equal schemas. */
  readonly sameDefinitions: boolean;
  /** The pairs of references that were compared: a schema may refer to itself. */
  readonly seen: Set<string>;
  /** Adds a change that allows fewer values than before, more values, or neither. */
  readonly add: (path: string, effect: 'fewer' | 'more' | 'other' | 'same', says: string) => void;
}

/** Keywords whose larger value allows fewer values, and those whose smaller value does. */
const LOWER = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties', 'minContains'];
const UPPER = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties', 'maxContains'];
/** Keywords that allow fewer values if they are there at all. */
const FILTERS = ['pattern', 'format', 'multipleOf', 'uniqueItems'];
/** Keywords that are too involved to say who they affect: any change of them counts as breaking. */
const INVOLVED = [
  'allOf',
  'not',
  'if',
  'then',
  'else',
  'prefixItems',
  'contains',
  'patternProperties',
  'propertyNames',
  'dependentRequired',
  'dependentSchemas',
  'unevaluatedProperties',
  'unevaluatedItems',
];
/** Keywords for readers. */
const WORDS = ['title', 'description', 'default', 'examples', 'deprecated'];
const ALL_TYPES = ['string', 'number', 'boolean', 'object', 'array', 'null'];

/** Adds the differences of everything but the fields, the items and the alternatives. */
export function compareLimits(before: JsonSchema, after: JsonSchema, place: SchemaPlace): void {
  compareTypes(before, after, place);
  compareValues(before, after, place);
  for (const keyword of LOWER) compareBound(keyword, { before, after, place, sign: 1 });
  for (const keyword of UPPER) compareBound(keyword, { before, after, place, sign: -1 });
  const { add, path } = place;
  for (const keyword of FILTERS) {
    const [was, is] = [before[keyword], after[keyword]];
    if (canonical(was ?? null) === canonical(is ?? null)) continue;
    const effect = was === undefined ? 'fewer' : is === undefined ? 'more' : 'other';
    add(path, effect, `${keyword} was ${shown(was)} and is ${shown(is)}`);
  }
  for (const keyword of INVOLVED)
    if (canonical(before[keyword] ?? null) !== canonical(after[keyword] ?? null))
      add(path, 'other', `${keyword} changed`);
  for (const keyword of WORDS)
    if (canonical(before[keyword] ?? null) !== canonical(after[keyword] ?? null))
      add(path, 'same', `its ${keyword} changed`);
}

function compareTypes(before: JsonSchema, after: JsonSchema, { add, path }: SchemaPlace): void {
  const [old, now] = [allowedTypes(before), allowedTypes(after)];
  const isFewer = old.some((type) => !accepts(now, type));
  const isMore = now.some((type) => !accepts(old, type));
  if (isFewer || isMore)
    add(
      path,
      isFewer && isMore ? 'other' : isFewer ? 'fewer' : 'more',
      `its type was ${typeShown(before)} and is ${typeShown(after)}`,
    );
}

function allowedTypes(schema: JsonSchema): readonly string[] {
  const { type, const: value, enum: values } = schema;
  if (type !== undefined) return typesOf(schema);
  if (Array.isArray(values)) return [...new Set(values.map(typeOfValue))];
  return value === undefined ? ALL_TYPES : [typeOfValue(value)];
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

function accepts(types: readonly string[], type: string): boolean {
  return types.includes(type) || (type === 'integer' && types.includes('number'));
}

function compareValues(before: JsonSchema, after: JsonSchema, { add, path }: SchemaPlace): void {
  const [old, now] = [valuesOf(before), valuesOf(after)];
  const gone = old && now ? [...old].filter((value) => !now.has(value)) : [];
  const fresh = old && now ? [...now].filter((value) => !old.has(value)) : [];
  if (old && gone.length > 0) add(path, 'fewer', `${listed(gone)} is not a choice any more`);
  if (now && fresh.length > 0) add(path, 'more', `${listed(fresh)} is a new choice`);
  if (!old && now) add(path, 'fewer', `only ${listed([...now])} is allowed now`);
  if (old && !now) add(path, 'more', 'every value is allowed now, not only some');
}

function valuesOf({ enum: values, const: value }: JsonSchema): ReadonlySet<string> | undefined {
  if (Array.isArray(values)) return new Set(values.map((one) => canonical(one)));
  return value === undefined ? undefined : new Set([canonical(value)]);
}

interface Bound {
  readonly before: JsonSchema;
  readonly after: JsonSchema;
  readonly place: SchemaPlace;
  /** 1 if a larger bound allows fewer values, -1 if a smaller one does. */
  readonly sign: 1 | -1;
}

function compareBound(keyword: string, { before, after, place: { add, path }, sign }: Bound): void {
  const [was, is] = [before[keyword], after[keyword]];
  if (was === is) return;
  const size = (bound: unknown): number =>
    typeof bound === 'number' ? bound * sign : Number.NEGATIVE_INFINITY;
  const effect = size(is) > size(was) ? 'fewer' : 'more';
  add(path, effect, `${keyword} was ${shown(was)} and is ${shown(is)}`);
}

function typeShown({ type }: JsonSchema): string {
  return type === undefined ? 'any' : cleanLine([type].flat().join(' or '), 60);
}

function listed(values: readonly string[]): string {
  const some = values.slice(0, 5).map((value) => cleanLine(value, 60));
  return [...some, ...(values.length > 5 ? [`${values.length - 5} more`] : [])].join(', ');
}

function shown(value: unknown): string {
  return value === undefined ? 'not set' : cleanLine(JSON.stringify(value), 80);
}
