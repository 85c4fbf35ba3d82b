// Copies values without their secrets: one walk for logs, audit, tapes and the inspector, each with a policy of its own.

import { isObject } from '../../jsonrpc/message.js';
import { type IsSecretName, isCredential } from './is-secret-name.js';
import { hideInUrl } from './url.js';

/** Decides which secrets a copy leaves out, what takes their place, and how large the copy may be. */
export interface CopyPolicy {
  readonly isSecretName: IsSecretName;
  /** The mask that stands for a secret, which is any value but null. */
  readonly hide: (secret: unknown) => unknown;
  /** The mask that stands for a secret inside of a URL. Default: the same. */
  readonly hidePart?: ((secret: string) => string) | undefined;
  /** A string that is not a secret as a whole, without those that are in it. `field` is the name of its field. */
  readonly text: (text: string, field: string | undefined) => string;
  /** The name of a field. Default: as it is. */
  readonly name?: ((name: string) => string) | undefined;
  /** A field that has a rule of its own: returns what takes the place of its value, or undefined. */
  readonly field?:
    | ((name: string, value: unknown, object: Readonly<Record<string, unknown>>) => unknown)
    | undefined;
  /** Places that are secrets whatever their names. Default: none. */
  readonly paths?: SecretPaths | undefined;
  /**
   * A schema that describes a secret is not a secret. Returns the schema that is copied in its place. Default: schemas are not told from
   * other objects.
   */
  readonly schema?: ((name: string, schema: Readonly<Record<string, unknown>>) => unknown) | undefined;
  /** Whether strings that are JSON are copied by their fields, and written anew if one is a secret. Default: true. */
  readonly readsJson?: boolean | undefined;
  /** Default: no limits. */
  readonly limits?: CopyLimits | undefined;
}

/** The limits of a copy. A peer chooses how large the value is. */
interface CopyLimits {
  /** The longest string. */
  readonly maxString: number;
  /** The deepest nesting of objects and arrays. */
  readonly maxDepth: number;
  /** The characters of the whole copy. */
  readonly maxChars: number;
}

/** Places in a value, as a tree of names; `*` is any name. A leaf is a secret. */
export interface SecretPaths {
  isSecret: boolean;
  readonly next: Map<string, SecretPaths>;
}

/** A place in the value that is copied. */
interface Place {
  readonly depth: number;
  /** The name of the field. */
  readonly field: string | undefined;
  /** The paths that lead through this place. */
  readonly paths: readonly SecretPaths[];
  /** For all places: the number of characters that the copy may still have, and of secrets that were left out. */
  readonly budget: { left: number; hidden: number };
}

/** Stands for values that are beyond a limit. */
const CUT = '[…]';
const MAX_NAME = 128;
/** Longer strings are not read as URIs. */
const MAX_URI = 10_000;
/** Longer strings are not read as JSON. */
const MAX_JSON = 65_536;
const NO_LIMITS: CopyLimits = { maxString: Infinity, maxDepth: Infinity, maxChars: Infinity };
/** Lists of names in schemas: two of them are not a name and its value. */
const NAME_LISTS = ['required', 'enum'];
/** Maps from names to schemas. */
const SCHEMA_MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions']);
const SCHEMA_WORDS = ['type', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', 'description'];

/** Makes a function that copies values without their secrets. A copy is plain JSON. */
export function copyWithoutSecrets(policy: CopyPolicy): (value: unknown) => unknown {
  const { isSecretName, readsJson = true, limits = NO_LIMITS } = policy;
  const { maxString, maxDepth, maxChars } = limits;

  function copy(value: unknown, place: Place): unknown {
    const { depth, budget } = place;
    if (typeof value === 'string') return copyString(withoutSecretFields(value, place), place);
    if (typeof value === 'bigint') return copyString(String(value), place);
    budget.left -= 6;
    if (typeof value !== 'object' || value === null) return isJson(value) ? value : undefined;
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
    if (depth >= maxDepth) return CUT;
    const { toJSON } = value as { readonly toJSON?: unknown };
    if (typeof toJSON === 'function') return copy(toJSON.call(value), { ...place, depth: depth + 1 });
    return Array.isArray(value)
      ? copyArray(value, place)
      : copyObject(value as Readonly<Record<string, unknown>>, place);
  }

  function hide(secret: unknown, { budget }: Place): unknown {
    budget.hidden++;
    return policy.hide(secret);
  }

  function copyString(text: string, place: Place): unknown {
    const { budget } = place;
    const most = Math.max(0, Math.min(maxString, budget.left));
    budget.left -= Math.min(text.length, most) + 3;
    if (isCredential(text)) return hide(text, place);
    const url = isUri(text) ? withoutSecretParameters(text, place) : text;
    const shown = url.length <= most ? url : url.slice(0, most);
    const clean = policy.text(shown, place.field);
    if (clean !== shown) budget.hidden++;
    return url.length <= most ? clean : `${clean}… (${text.length} characters)`;
  }

  function withoutSecretParameters(url: string, { budget }: Place): string {
    const { hidePart = policy.hide } = policy;
    const clean = hideInUrl(url, { mask: (secret) => String(hidePart(secret)), isSecret: isSecretName });
    if (clean !== url) budget.hidden++;
    return clean;
  }

  // The JSON of an object has fields, too: most results of tools are such strings.
  function withoutSecretFields(text: string, { depth, budget }: Place): string {
    if (!readsJson || !isJsonText(text) || depth >= maxDepth) return text;
    if (text.length > MAX_JSON)
      return maxChars === Infinity ? text : `[${text.length} characters, probably of JSON]`;
    try {
      const inner = { left: budget.left, hidden: 0 };
      const place = { depth: depth + 1, field: undefined, paths: [], budget: inner };
      const shown = JSON.stringify(copy(JSON.parse(text), place));
      budget.hidden += inner.hidden;
      return inner.hidden > 0 ? shown : text;
    } catch {
      return text;
    }
  }

  function copyArray(array: readonly unknown[], place: Place): unknown[] {
    if (isSecretList(array, place)) return [array[0], hide(array[1], place)];
    const copied: unknown[] = [];
    const nextPlace = placesIn(place);
    for (const [at, item] of array.entries()) {
      if (place.budget.left <= 0) {
        copied.push(CUT);
        break;
      }
      const inner = nextPlace(at);
      copied.push(inner.paths.some(isLeaf) ? hide(item, inner) : (copy(item, inner) ?? null));
    }
    return copied;
  }

  /** `['Authorization', '…']`, as headers are written in lists. */
  function isSecretList(array: readonly unknown[], { field = '' }: Place): boolean {
    const [name, value] = array;
    return array.length === 2 && typeof name === 'string' && typeof value === 'string'
      ? name.length <= MAX_NAME && !NAME_LISTS.includes(field) && isSecretName(name)
      : false;
  }

  function copyObject(object: Readonly<Record<string, unknown>>, place: Place): Record<string, unknown> {
    const copied: Record<string, unknown> = {};
    const nextPlace = placesIn(place);
    // A header, a cookie or a variable in a list: { name: 'Authorization', value: '…' }.
    const named = object['name'] ?? object['key'];
    const isSecretPair =
      typeof named === 'string' && 'value' in object && isSecretName(named, object['value']);
    for (const name in object) {
      if (!Object.hasOwn(object, name)) continue;
      if (place.budget.left <= 0) {
        copied[CUT] = CUT;
        break;
      }
      place.budget.left -= name.length + 3;
      const shown = copyField(object, name, {
        place: nextPlace(name),
        mayBeSchema: SCHEMA_MAPS.has(place.field ?? ''),
        isSecret: isSecretPair && name === 'value',
      });
      if (shown !== undefined) set(copied, shownName(name), shown);
    }
    return copied;
  }

  function copyField(
    object: Readonly<Record<string, unknown>>,
    name: string,
    { place, mayBeSchema, isSecret }: FieldFacts,
  ): unknown {
    const value = object[name];
    if (mayBeSchema && policy.schema !== undefined && isSchema(value))
      return copy(policy.schema(name, value), { ...place, field: undefined });
    const isHidden = isSecret || isSecretName(name, value) || place.paths.some(isLeaf);
    if (isHidden && value !== null && value !== undefined) return hide(value, place);
    return policy.field?.(name, value, object) ?? copy(value, place);
  }

  function shownName(name: string): string {
    const own = policy.name?.(name) ?? name;
    return limits !== NO_LIMITS && own.length > MAX_NAME ? `${own.slice(0, MAX_NAME)}…` : own;
  }

  const paths = policy.paths === undefined ? [] : [policy.paths];
  return (value) => copy(value, { depth: 0, field: undefined, paths, budget: { left: maxChars, hidden: 0 } });
}

interface FieldFacts {
  readonly place: Place;
  readonly mayBeSchema: boolean;
  /** Whether another field says that this one is a secret. */
  readonly isSecret: boolean;
}

/** Reads paths such as `arguments.card.number` and `['a.b', '*']`. A string without a dot is a name and not a path. */
export function readPaths(paths: readonly (string | readonly string[])[]): SecretPaths | undefined {
  const root = emptyPaths();
  for (const one of paths) {
    const names = typeof one === 'string' ? one.split('.') : one;
    if (typeof one === 'string' && names.length === 1) continue;
    let place = root;
    for (const name of names) {
      const next: SecretPaths = place.next.get(name) ?? emptyPaths();
      place.next.set(name, next);
      place = next;
    }
    place.isSecret = true;
  }
  return root.next.size === 0 ? undefined : root;
}

/** The places of the fields or items of an object or array. */
function placesIn({ depth, paths, budget }: Place): (name: string | number) => Place {
  return (name) => ({
    depth: depth + 1,
    field: typeof name === 'string' ? name : undefined,
    paths: paths.length === 0 ? paths : follow(paths, String(name)),
    budget,
  });
}

function emptyPaths(): SecretPaths {
  return { isSecret: false, next: new Map() };
}

function follow(paths: readonly SecretPaths[], name: string): readonly SecretPaths[] {
  return paths.flatMap(({ next }) => [next.get(name), next.get('*')].filter((one) => one !== undefined));
}

function isLeaf({ isSecret }: SecretPaths): boolean {
  return isSecret;
}

function isSchema(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && SCHEMA_WORDS.some((word) => Object.hasOwn(value, word));
}

function isJsonText(text: string): boolean {
  const [first] = text.slice(0, 100).trimStart();
  return first === '{' || first === '[';
}

function isUri(text: string): boolean {
  return text.length <= MAX_URI && text.lastIndexOf('://', 40) > 0 && !text.includes(' ');
}

function isJson(value: unknown): boolean {
  return (
    value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  );
}

// An assignment to `__proto__` would not create a field.
function set(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  else object[name] = value;
}
