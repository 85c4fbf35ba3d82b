// Light checks while typing. The server has the last word: what is not checked here is not called wrong.

import { isObject, type JsonObject } from '../../src/jsonrpc/message.js';
import { requiredOf } from '../../src/schema/read/resolve.js';
import { type Shape, shapeOf } from '../../src/schema/read/shape.js';
import { matchesPattern, wrongFormat } from './check-text.js';

interface Problem {
  readonly message: string;
  /** Nothing is there yet: not worth a word before the user wants to run. */
  readonly isMissing: boolean;
}

/** By JSON pointer, as in `/customer/name`. */
export type Problems = ReadonlyMap<string, Problem>;

const MAX_DEPTH = 20;
const MAX_CHECKED = 3000;

export function check(schema: JsonObject, value: unknown, root: JsonObject = schema): Problems {
  const found = new Map<string, Problem>();
  walk(schema, value, { path: '', depth: 0, root, found, budget: { left: MAX_CHECKED } });
  return found;
}

/** The pointer of a member. */
export function pointer(path: string, key: string | number): string {
  return `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

interface Place {
  readonly path: string;
  readonly depth: number;
  readonly root: JsonObject;
  readonly found: Map<string, Problem>;
  readonly budget: { left: number };
}

function walk(given: unknown, value: unknown, place: Place): void {
  if (place.depth > MAX_DEPTH || place.budget.left-- < 0 || value === undefined) return;
  const shape = shapeOf(given, place.root);
  if (value === null && shape.isNullable) return;
  const message = wrong(shape, value);
  if (message !== undefined) {
    place.found.set(place.path, { message, isMissing: false });
    return;
  }
  switch (shape.kind) {
    case 'object':
    case 'map':
      return walkFields(shape, value as JsonObject, place);
    case 'array':
      return walkItems(value as readonly unknown[], () => shape.items, place);
    case 'tuple':
      return walkItems(value as readonly unknown[], (at) => shape.first[at] ?? shape.rest, place);
    case 'union': {
      const best = shape.isCut ? undefined : bestOf(shape, value, place);
      if (best !== undefined) walk(shape.branches[best], value, { ...place, depth: place.depth + 1 });
      return;
    }
    default:
  }
}

function walkFields(shape: Shape & { kind: 'object' | 'map' }, value: JsonObject, place: Place): void {
  const fields = new Map(shape.kind === 'map' ? [] : shape.fields.map(({ name, schema }) => [name, schema]));
  const rest = shape.kind === 'map' ? shape.values : shape.rest;
  // Which names a pattern means is for the server to say.
  const others = isObject(shape.schema['patternProperties']) ? true : rest;
  for (const name of requiredOf(shape.schema))
    if (!Object.hasOwn(value, name) || value[name] === undefined)
      place.found.set(pointer(place.path, name), { message: 'Required.', isMissing: true });
  for (const [name, field] of Object.entries(value)) {
    const path = pointer(place.path, name);
    const schema = fields.get(name) ?? others;
    if (schema === false) place.found.set(path, { message: `Unknown field ${name}.`, isMissing: false });
    else walk(schema, field, { ...place, path, depth: place.depth + 1 });
  }
}

function walkItems(items: readonly unknown[], schemaAt: (at: number) => unknown, place: Place): void {
  items.forEach((item, at) => {
    walk(schemaAt(at), item, { ...place, path: pointer(place.path, at), depth: place.depth + 1 });
  });
}

/** The branch of a union that a value fits best: the one with the fewest problems. */
export function bestBranch(shape: UnionShape, value: unknown, root: JsonObject): number | undefined {
  return bestOf(shape, value, { path: '', depth: 0, root, found: new Map(), budget: { left: MAX_CHECKED } });
}

type UnionShape = Shape & { readonly kind: 'union' };

function bestOf(shape: UnionShape, value: unknown, place: Place): number | undefined {
  let best: number | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  shape.branches.forEach((branch, at) => {
    const found = new Map<string, Problem>();
    walk(branch, value, { ...place, path: '', depth: place.depth + 1, found });
    let weight = 0;
    // Another kind of value, or another constant, is worse than a field that is missing.
    for (const [path, { isMissing }] of found) weight += isMissing ? 1 : path === '' ? 1000 : 10;
    if (weight < fewest) {
      fewest = weight;
      best = at;
    }
  });
  return best;
}

function wrong(shape: Shape, value: unknown): string | undefined {
  const { schema } = shape;
  switch (shape.kind) {
    case 'const':
      return isSame(value, shape.value) ? undefined : `Must be ${JSON.stringify(shape.value)}.`;
    case 'choice': {
      if (shape.isCut || shape.options.some((option) => isSame(value, option.value))) return undefined;
      const labels = shape.options.slice(0, 10).map(({ label }) => label);
      return `Must be one of: ${labels.join(', ')}.`;
    }
    case 'string':
      return typeof value === 'string' ? wrongText(schema, value) : 'Must be a string.';
    case 'number':
      return typeof value === 'number'
        ? wrongNumber(shape, value)
        : `Must be ${shape.isInteger ? 'an integer' : 'a number'}.`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'Must be true or false.';
    case 'null':
      return value === null ? undefined : 'Must be null.';
    case 'never':
      return 'Must be left out.';
    case 'object':
    case 'map':
      return isObject(value) ? undefined : 'Must be an object.';
    case 'array':
    case 'tuple':
      return Array.isArray(value) ? wrongCount(schema, value) : 'Must be an array.';
    case 'union':
    case 'any':
      return undefined;
    default:
      return shape satisfies never;
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

type Keywords = Shape['schema'];

function wrongText(schema: Keywords, value: string): string | undefined {
  const least = limit(schema, 'minLength');
  const most = limit(schema, 'maxLength');
  if (least !== undefined && value.length < least) return `At least ${least} characters.`;
  if (most !== undefined && value.length > most) return `At most ${most} characters.`;
  const { format, pattern } = schema;
  const wrong = typeof format === 'string' ? wrongFormat(format, value) : undefined;
  if (wrong !== undefined || typeof pattern !== 'string' || matchesPattern(pattern, value) !== false)
    return wrong;
  // The name of a format says more than the pattern that stands for it.
  return typeof format === 'string'
    ? `Must have the format ${format}.`
    : `Must match ${pattern.slice(0, 100)}`;
}

function wrongNumber({ schema, isInteger }: Shape & { kind: 'number' }, value: number): string | undefined {
  if (isInteger && !Number.isInteger(value)) return 'Must be an integer.';
  const least = limit(schema, 'minimum');
  const most = limit(schema, 'maximum');
  const above = limit(schema, 'exclusiveMinimum');
  const below = limit(schema, 'exclusiveMaximum');
  if (least !== undefined && value < least) return `Must be ${least} or more.`;
  if (most !== undefined && value > most) return `Must be ${most} or less.`;
  if (above !== undefined && value <= above) return `Must be more than ${above}.`;
  if (below !== undefined && value >= below) return `Must be less than ${below}.`;
  const step = limit(schema, 'multipleOf');
  if (step === undefined || step <= 0) return undefined;
  const times = value / step;
  return Math.abs(times - Math.round(times)) < 1e-9 ? undefined : `Must be a multiple of ${step}.`;
}

function wrongCount(schema: Keywords, value: readonly unknown[]): string | undefined {
  const least = limit(schema, 'minItems');
  const most = limit(schema, 'maxItems');
  if (least !== undefined && value.length < least) return `At least ${least} items.`;
  if (most !== undefined && value.length > most) return `At most ${most} items.`;
  if (schema['uniqueItems'] !== true) return undefined;
  return new Set(value.map((item) => JSON.stringify(item))).size < value.length
    ? 'Each item only once.'
    : undefined;
}

function limit(schema: Keywords, name: string): number | undefined {
  const value = schema[name];
  return typeof value === 'number' ? value : undefined;
}
