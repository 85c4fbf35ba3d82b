// The secrets that a recording leaves out: by the names of fields, by marks in schemas, by the form of a credential, and by their values.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { REDACTED as HIDDEN, hideInText, SECRET_ENDS } from '../../protocol/telemetry/secret-text.js';

/** Takes the place of a whole value. A secret inside a longer string becomes `[redacted]`. */
export const REMOVED = '***';

const USUAL = [
  'auth',
  'pin',
  'otp',
  'totp',
  'cvv',
  'cvc',
  'ssn',
  'sessionid',
  'clientassertion',
  'codeverifier',
];
/** They end like secrets, and are part of the protocol. */
const PUBLIC = new Set(['progresstoken', 'tokens', 'maxtokens']);
/** Fields that the protocol gives a few fixed values, none of which is a secret. */
const FIXED = new Set(['type', 'resultType', 'role', 'action', 'mimeType', 'jsonrpc']);
/** Maps from names to schemas. */
const SCHEMA_MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions']);
const SCHEMA_WORDS = ['type', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', 'description'];
const PUNCTUATION = /[\s!-/:-@[-`{-~]+/g;
/** Shorter values are words that appear everywhere. */
const MIN_VALUE = 6;
const MAX_VALUE = 10_000;
const MAX_VALUES = 500;
const MAX_NAMES = 1000;
/** A name that is a value must be long: fields of the protocol have short ones. */
const MIN_NAME_VALUE = 16;
const STATE = /^recorded-state-\d{1,9}$/;
const MAX_STATES = 10_000;

// Cookies and authorization have parts, so the whole line goes. Every repetition is bounded or ends where the next part begins.
const HEADER_LINE =
  /\b((?:set-)?cookie|(?:proxy-)?authorization)(\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?)[^\r\n"'\\]+/gi;
const SHAPES =
  /(?<![\w-])(?:eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){1,3}|sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|AKIA[A-Z0-9]{16}|AIza[\w-]{30,}|npm_\w{30,})|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,9000}/g;

const hidePairs = hideInText();

export class Secrets {
  readonly #names: Set<string>;
  readonly #given: readonly string[];
  // In the order in which they were seen: the oldest is forgotten first.
  readonly #seen = new Set<string>();
  readonly #states = new Map<string, string>();

  /** `names` are more names of fields, `values` are secrets wherever they appear. */
  constructor(names: readonly string[] = [], values: readonly string[] = []) {
    this.#names = new Set([...USUAL, ...names.map(plain)]);
    this.#given = values.filter((value) => value.length >= MIN_VALUE).flatMap(formsOf);
  }

  /** A copy without secrets. Values of secret fields are remembered, and removed wherever else they appear. */
  without<T>(value: T): T {
    this.#remember(value, undefined);
    return this.#copy(value, undefined) as T;
  }

  /** Adds names of fields. */
  addNames(names: readonly string[]): void {
    for (const name of names) if (this.#names.size < MAX_NAMES) this.#names.add(plain(name));
  }

  /** Finds the fields that schemas mark as secret, anywhere in a value. Returns the names that are new. */
  learnFrom(value: unknown): readonly string[] {
    const found = [...new Set(markedFields(value))].filter((name) => !this.#isSecretName(name));
    this.addNames(found);
    return found;
  }

  #isSecretName(name: string, value?: unknown): boolean {
    const bare = plain(name.length > 200 ? name.slice(-200) : name);
    if (PUBLIC.has(bare) || typeof value === 'boolean') return false;
    if (typeof value === 'number' && bare.endsWith('tokens')) return false;
    return this.#names.has(bare) || SECRET_ENDS.some((end) => bare.endsWith(end));
  }

  #remember(value: unknown, key: string | undefined): void {
    if (Array.isArray(value)) {
      if (this.#isPair(value)) this.#learn(value[1]);
      for (const item of value) this.#remember(item, undefined);
    } else if (isObject(value)) {
      for (const [name, inner] of Object.entries(value)) {
        const isSchema = SCHEMA_MAPS.has(key ?? '') && looksLikeSchema(inner);
        if (!isSchema && this.#isSecretField(value, name, inner)) this.#learn(inner);
        else this.#remember(inner, name);
      }
    }
  }

  #learn(value: unknown): void {
    if (isObject(value) || Array.isArray(value)) for (const inner of Object.values(value)) this.#learn(inner);
    const text = typeof value === 'number' ? String(value) : value;
    if (typeof text !== 'string' || text.length < MIN_VALUE || text.length > MAX_VALUE) return;
    // `Bearer abc` is the token `abc` elsewhere.
    const [, token = ''] = /^(?:bearer|basic|dpop) (\S+)$/i.exec(text) ?? [];
    for (const form of [text, ...(token.length >= MIN_VALUE ? [token] : [])].flatMap(formsOf)) {
      this.#seen.delete(form);
      this.#seen.add(form);
    }
    for (const oldest of this.#seen) {
      if (this.#seen.size <= MAX_VALUES) break;
      this.#seen.delete(oldest);
    }
  }

  #copy(value: unknown, key: string | undefined): unknown {
    if (typeof value === 'string') {
      const isFixed = FIXED.has(key ?? '') && value.length < MIN_NAME_VALUE;
      return isFixed ? value : this.#text(value);
    }
    if (Array.isArray(value)) {
      if (this.#isPair(value)) return [value[0], REMOVED];
      return value.map((item) => this.#copy(item, undefined));
    }
    if (!isObject(value)) return value;
    const isBytes = typeof value['mimeType'] === 'string';
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => {
        const own = this.#nameText(name);
        if (SCHEMA_MAPS.has(key ?? '') && looksLikeSchema(inner))
          return [own, this.#copy(this.#withoutValues(name, inner), undefined)];
        if (inner !== undefined && inner !== null && this.#isSecretField(value, name, inner))
          return [own, REMOVED];
        if (name === 'requestState' && typeof inner === 'string') return [own, this.#state(inner)];
        // Base64 has no words in it.
        if (isBytes && (name === 'data' || name === 'blob')) return [own, inner];
        return [own, this.#copy(inner, name)];
      }),
    );
  }

  #isSecretField(object: JsonObject, name: string, value: unknown): boolean {
    if (this.#isSecretName(name, value)) return true;
    // A header, a cookie or a variable in a list: { name: 'Authorization', value: '…' }.
    const named = object['name'] ?? object['key'];
    return name === 'value' && typeof named === 'string' && this.#isSecretName(named, value);
  }

  /** `['Authorization', '…']`, as headers are written in lists. */
  #isPair(array: readonly unknown[]): boolean {
    const [name, value] = array;
    return array.length === 2 && typeof name === 'string' && name.length <= 100 && typeof value === 'string'
      ? this.#isSecretName(name)
      : false;
  }

  #withoutValues(name: string, schema: JsonObject): JsonObject {
    if (!this.#isSecretName(name) && !isMarked(schema)) return schema;
    const { default: _default, examples: _examples, ...rest } = schema;
    return rest;
  }

  #text(text: string): string {
    const shown = this.#withoutKnown(text, MIN_VALUE);
    return hidePairs(shown.replace(HEADER_LINE, `$1$2${HIDDEN}`).replace(SHAPES, HIDDEN));
  }

  #nameText(name: string): string {
    return name.length < MIN_NAME_VALUE ? name : this.#withoutKnown(name, MIN_NAME_VALUE);
  }

  #withoutKnown(text: string, least: number): string {
    let shown = text;
    for (const values of [this.#given, this.#seen])
      for (const value of values)
        if (value.length >= least && shown.includes(value)) shown = shown.replaceAll(value, HIDDEN);
    return shown;
  }

  // The state of a server may hold everything that it was told, so a number takes its place.
  #state(state: string): string {
    if (STATE.test(state)) return state;
    const known = this.#states.get(state) ?? `recorded-state-${this.#states.size + 1}`;
    if (this.#states.size < MAX_STATES) this.#states.set(state, known);
    return known;
  }
}

/** Whether a secret was removed from a value. */
export function lacksSecret(value: unknown): boolean {
  if (typeof value === 'string') return value === REMOVED || value.includes(HIDDEN);
  if (Array.isArray(value)) return value.some(lacksSecret);
  return isObject(value) && Object.values(value).some(lacksSecret);
}

function* markedFields(value: unknown): Generator<string> {
  if (Array.isArray(value)) for (const item of value) yield* markedFields(item);
  if (!isObject(value)) return;
  const fields = value['properties'];
  if (isObject(fields))
    for (const [name, field] of Object.entries(fields)) if (isObject(field) && isMarked(field)) yield name;
  for (const inner of Object.values(value)) yield* markedFields(inner);
}

function isMarked(schema: JsonObject): boolean {
  return (
    schema['writeOnly'] === true ||
    schema['format'] === 'password' ||
    ['secret', 'x-secret', 'x-fullmcp-secret', 'isSecret'].some((mark) => schema[mark] === true)
  );
}

function looksLikeSchema(value: unknown): value is JsonObject {
  return isObject(value) && SCHEMA_WORDS.some((word) => Object.hasOwn(value, word));
}

// `apiKey`, `api_key` and `API-Key` are one name.
function plain(name: string): string {
  return name.toLowerCase().replace(PUNCTUATION, '');
}

/** A value as it is written in text, in a URL, and in JSON inside of text. */
function formsOf(value: string): readonly string[] {
  const query = new URLSearchParams([['', value]]).toString().slice(1);
  return [...new Set([value, query, query.replaceAll('+', '%20'), JSON.stringify(value).slice(1, -1)])];
}
