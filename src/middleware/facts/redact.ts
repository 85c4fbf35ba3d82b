import { hideInText, REDACTED, SECRET_ENDS } from '../../protocol/telemetry/secret-text.js';

// Copies values for logs: without secrets, and never larger than a limit, whatever a peer sends.

/** The options of `redactor`. */
export interface RedactOptions {
  /**
   * Secrets besides those with well-known names. A name (`'pin'`) stands for every field with that name, in any case, with or
   * without `_` and `-`. A path (`'arguments.card.number'`, `'items.*.code'`) stands for one place; `*` is any field or index. A field
   * whose name has a dot needs an array: `['a.b', 'c']`.
   */
  readonly redact?: readonly (string | readonly string[])[] | undefined;
  /** The longest string; the rest of a longer one is cut off. Default: 1000 characters. */
  readonly maxString?: number | undefined;
  /** The deepest nesting of objects and arrays. Default: 10. */
  readonly maxDepth?: number | undefined;
  /** The size of the whole copy, in characters. Default: 10,000. */
  readonly maxChars?: number | undefined;
}

/** Stands for values that are beyond a limit. */
const CUT = '[…]';

const SECRET_NAMES = [
  'auth',
  'pin',
  'otp',
  'totp',
  'cvv',
  'cvc',
  'ssn',
  'dsn',
  'sessionid',
  'clientassertion',
  'codeverifier',
];

/** Peers choose names, so that only so many are remembered, and only short ones. */
const MAX_KNOWN_NAMES = 1000;
const MAX_NAME = 128;
/** Longer strings are not read as URIs. */
const MAX_URI = 10_000;
/** Longer strings are not read as JSON. */
const MAX_JSON = 65_536;
const PUNCTUATION = /[\s!-/:-@[-`{-~]+/g;

/** Copies a value without its secrets, within the limits. The copy is plain JSON. */
export type Redactor = (value: unknown) => unknown;

/** A place in the value that is copied. */
interface Place {
  readonly depth: number;
  /** The paths that lead through this place. */
  readonly paths: readonly Paths[];
  /** The number of characters that the copy may still have, for all places. */
  readonly budget: { left: number };
}

/** The paths that lead on from a place: by name, or by `*`. A leaf is a secret. */
interface Paths {
  isSecret: boolean;
  readonly next: Map<string, Paths>;
}

/** Makes a function that copies values without their secrets. */
export function redactor({
  redact = [],
  maxString = 1000,
  maxDepth = 10,
  maxChars = 10_000,
}: RedactOptions = {}): Redactor {
  const own = redact.filter((one) => typeof one === 'string' && !one.includes('.'));
  const isSecret = secretNames(own);
  const hide = hideInText(own.map((name) => plain(String(name))));
  const root = readPaths(redact);

  function copy(value: unknown, place: Place): unknown {
    const { depth, budget } = place;
    if (typeof value === 'string') return copyString(withoutSecretFields(value, place), budget);
    if (typeof value === 'bigint') return copyString(String(value), budget);
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

  function copyString(text: string, budget: Place['budget']): string {
    const most = Math.max(0, Math.min(maxString, budget.left));
    budget.left -= Math.min(text.length, most) + 3;
    if (isCredential(text)) return REDACTED;
    const shown = isUri(text) ? redactUri(text) : text;
    return shown.length <= most ? hide(shown) : `${hide(shown.slice(0, most))}… (${text.length} characters)`;
  }

  // The JSON of an object has fields, too: most results of tools are such strings.
  function withoutSecretFields(text: string, { depth, budget }: Place): string {
    if (!isJsonText(text) || depth >= maxDepth) return text;
    if (text.length > MAX_JSON) return `[${text.length} characters, probably of JSON]`;
    try {
      const place = { depth: depth + 1, paths: [], budget: { left: budget.left } };
      const shown = JSON.stringify(copy(JSON.parse(text), place));
      return shown.includes(REDACTED) ? shown : text;
    } catch {
      return text;
    }
  }

  function copyArray(array: readonly unknown[], place: Place): unknown[] {
    const copied: unknown[] = [];
    const nextPlace = placesIn(place);
    for (const [at, item] of array.entries()) {
      if (place.budget.left <= 0) {
        copied.push(CUT);
        break;
      }
      const inner = nextPlace(at);
      copied.push(inner.paths.some(isLeaf) ? REDACTED : (copy(item, inner) ?? null));
    }
    return copied;
  }

  function copyObject(object: Readonly<Record<string, unknown>>, place: Place): Record<string, unknown> {
    const copied: Record<string, unknown> = {};
    const nextPlace = placesIn(place);
    // A header, a cookie or a variable in a list: { name: 'Authorization', value: '…' }.
    const named = object['name'] ?? object['key'];
    const isSecretPair = typeof named === 'string' && 'value' in object && isSecret(named, object['value']);
    for (const name in object) {
      if (!Object.hasOwn(object, name)) continue;
      if (place.budget.left <= 0) {
        copied[CUT] = CUT;
        break;
      }
      place.budget.left -= name.length + 3;
      const value = object[name];
      const inner = nextPlace(name);
      const isHidden =
        isSecret(name, value) || inner.paths.some(isLeaf) || (isSecretPair && name === 'value');
      const shown = isHidden && value !== null ? REDACTED : copy(value, inner);
      const shownName = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name;
      if (shown !== undefined) set(copied, shownName, shown);
    }
    return copied;
  }

  return (value) => copy(value, { depth: 0, paths: root, budget: { left: maxChars } });
}

/** The places of the fields or items of an object or array. Without paths, all of them are one. */
function placesIn({ depth, paths, budget }: Place): (name: string | number) => Place {
  const plainPlace = { depth: depth + 1, paths, budget };
  if (paths.length === 0) return () => plainPlace;
  return (name) => ({ ...plainPlace, paths: follow(paths, String(name)) });
}

/** Tells by its name whether a field is a secret. Names in `own` are secrets, too. */
export function secretNames(own: readonly unknown[] = []): (name: string, value?: unknown) => boolean {
  const exact = new Set([...SECRET_NAMES, ...own.map((name) => plain(String(name)))]);
  const known = new Map<string, boolean>();

  function decide(name: string): boolean {
    const bare = plain(name);
    return exact.has(bare) || SECRET_ENDS.some((end) => bare.endsWith(end));
  }

  return (name, value) => {
    let isSecret = known.get(name);
    if (isSecret === undefined) {
      isSecret = decide(name.length > MAX_NAME ? name.slice(-MAX_NAME) : name);
      if (known.size >= MAX_KNOWN_NAMES) known.clear();
      if (name.length <= MAX_NAME) known.set(name, isSecret);
    }
    if (!isSecret || typeof value === 'boolean') return false;
    // A number of tokens (`maxTokens`) is not a secret; a list of them is.
    return typeof value !== 'number' || !plain(name).endsWith('tokens');
  };
}

const isSecretParameter = secretNames();
const PARAMETER = /([?&#;]([^=?&#;]*)=)[^&#;]*/g;

/** A URI without its password and without the parameters that have names of secrets. */
export function redactUri(uri: string): string {
  const start = uri.indexOf('://') + 3;
  if (start < 3) return uri;
  const end = uri.slice(start).search(/[/?#]/);
  const userEnd = uri.lastIndexOf('@', end < 0 ? undefined : start + end);
  const colon = uri.indexOf(':', start);
  const hidden =
    colon > 0 && colon < userEnd ? `${uri.slice(0, colon + 1)}${REDACTED}${uri.slice(userEnd)}` : uri;
  return hidden.replace(PARAMETER, (pair: string, start: string, name: string) =>
    isSecretParameter(name) ? `${start}${REDACTED}` : pair,
  );
}

function readPaths(redact: readonly (string | readonly string[])[]): readonly Paths[] {
  const root = emptyPaths();
  for (const one of redact) {
    const names = typeof one === 'string' ? one.split('.') : one;
    if (typeof one === 'string' && names.length === 1) continue;
    let place = root;
    for (const name of names) {
      const next: Paths = place.next.get(name) ?? emptyPaths();
      place.next.set(name, next);
      place = next;
    }
    place.isSecret = true;
  }
  return root.next.size === 0 ? [] : [root];
}

function emptyPaths(): Paths {
  return { isSecret: false, next: new Map() };
}

function follow(paths: readonly Paths[], name: string): readonly Paths[] {
  return paths.flatMap(({ next }) => [next.get(name), next.get('*')].filter((one) => one !== undefined));
}

function isLeaf({ isSecret }: Paths): boolean {
  return isSecret;
}

function plain(name: string): string {
  return name.toLowerCase().replace(PUNCTUATION, '');
}

// "Bearer of bad news" is not a credential.
function isCredential(text: string): boolean {
  return text.length > 7 && text.slice(0, 7).toLowerCase() === 'bearer ' && !text.includes(' ', 7);
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
