// Light checks while typing. The server has the last word: what is not checked here is not called wrong.

import type { JsonObject } from '../../src/jsonrpc/message.js';
import { matchesPattern, wrongFormat } from './check-text.js';
import { isObject, propertiesOf, requiredOf, type Shape, shapeOf } from './shape.js';

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
  if (value === null && (shape.isNullable || shape.schema['type'] === 'null')) return;
  const message = wrong(shape, value);
  if (message !== undefined) {
    place.found.set(place.path, { message, isMissing: false });
    return;
  }
  const at = (key: string | number): Place => ({
    ...place,
    path: pointer(place.path, key),
    depth: place.depth + 1,
  });
  if ((shape.kind === 'object' || shape.kind === 'map') && isObject(value)) {
    const properties = new Map(propertiesOf(shape.schema));
    for (const name of requiredOf(shape.schema))
      if (!Object.hasOwn(value, name) || value[name] === undefined)
        place.found.set(at(name).path, { message: 'Required.', isMissing: true });
    for (const [name, field] of Object.entries(value)) {
      const schema = properties.get(name) ?? shape.schema['additionalProperties'];
      if (schema === false)
        place.found.set(at(name).path, { message: `Unknown field ${name}.`, isMissing: false });
      else walk(schema, field, at(name));
    }
  } else if (Array.isArray(value) && shape.kind !== 'json') {
    value.forEach((item, index) => {
      walk(shape.schema['items'], item, at(index));
    });
  } else if (shape.kind === 'union') {
    const best = bestOf(shape, value, place);
    if (best !== undefined) walk(shape.branches[best], value, { ...place, depth: place.depth + 1 });
  }
}

/** The branch of a union that a value fits best: the one with the fewest problems. */
export function bestBranch(shape: Shape, value: unknown, root: JsonObject): number | undefined {
  return bestOf(shape, value, { path: '', depth: 0, root, found: new Map(), budget: { left: MAX_CHECKED } });
}

function bestOf(shape: Shape, value: unknown, place: Place): number | undefined {
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
      return JSON.stringify(value) === JSON.stringify(schema['const'])
        ? undefined
        : `Must be ${JSON.stringify(schema['const'])}.`;
    case 'choice': {
      const text = JSON.stringify(value);
      return shape.options.some((option) => JSON.stringify(option.value) === text)
        ? undefined
        : `Must be one of: ${shape.options
            .slice(0, 10)
            .map(({ label }) => label)
            .join(', ')}.`;
    }
    case 'text':
      return typeof value === 'string' ? wrongText(schema, value) : 'Must be a string.';
    case 'number':
      return typeof value === 'number'
        ? wrongNumber(shape, value)
        : `Must be ${shape.isInteger ? 'an integer' : 'a number'}.`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'Must be true or false.';
    case 'object':
    case 'map':
      return isObject(value) ? undefined : 'Must be an object.';
    case 'array':
    case 'choices':
      return Array.isArray(value) ? wrongCount(schema, value) : 'Must be an array.';
    case 'union':
    case 'json':
      return undefined;
    default:
      return shape.kind satisfies never;
  }
}

function wrongText(schema: JsonObject, value: string): string | undefined {
  const least = limit(schema, 'minLength');
  const most = limit(schema, 'maxLength');
  if (least !== undefined && value.length < least) return `At least ${least} characters.`;
  if (most !== undefined && value.length > most) return `At most ${most} characters.`;
  if (typeof schema['pattern'] === 'string' && matchesPattern(schema['pattern'], value) === false)
    return `Must match ${schema['pattern'].slice(0, 100)}`;
  return typeof schema['format'] === 'string' ? wrongFormat(schema['format'], value) : undefined;
}

function wrongNumber({ schema, isInteger }: Shape, value: number): string | undefined {
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

function wrongCount(schema: JsonObject, value: readonly unknown[]): string | undefined {
  const least = limit(schema, 'minItems');
  const most = limit(schema, 'maxItems');
  if (least !== undefined && value.length < least) return `At least ${least} items.`;
  if (most !== undefined && value.length > most) return `At most ${most} items.`;
  if (schema['uniqueItems'] !== true) return undefined;
  return new Set(value.map((item) => JSON.stringify(item))).size < value.length
    ? 'Each item only once.'
    : undefined;
}

function limit(schema: JsonObject, name: string): number | undefined {
  const value = schema[name];
  return typeof value === 'number' ? value : undefined;
}
