// The secrets that a recording leaves out: by the names of fields, by marks in schemas, by the form of a credential, and by their values.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { type CopyPolicy, copyWithoutSecrets } from '../../protocol/secrets/copy.js';
import { type IsSecretName, plainName, secretNames } from '../../protocol/secrets/is-secret-name.js';
import { KnownValues } from '../../protocol/secrets/known-values.js';
import { hideRecognized } from '../../protocol/secrets/recognized.js';
import { REDACTED as HIDDEN } from '../../protocol/secrets/text.js';
import { partsOf } from '../../protocol/secrets/values.js';

/** Takes the place of a whole value. A secret inside a longer string becomes `[redacted]`. */
export const REMOVED = '***';

/** Fields that the protocol gives a few fixed values, none of which is a secret. */
const FIXED = new Set(['type', 'resultType', 'role', 'action', 'mimeType', 'jsonrpc']);
const MAX_NAMES = 1000;
/** A name that is a value must be long: fields of the protocol have short ones. */
const MIN_NAME_VALUE = 16;
const STATE = /^recorded-state-\d{1,9}$/;
const MAX_STATES = 10_000;

const hideInText = hideRecognized();

export class Secrets {
  readonly #names: Set<string>;
  readonly #values: KnownValues;
  readonly #states = new Map<string, string>();
  #isSecretName: IsSecretName;
  readonly #copy: (value: unknown) => unknown;
  readonly #remember: (value: unknown) => unknown;

  /** `names` are more names of fields, `values` are secrets wherever they appear. */
  constructor(names: readonly string[] = [], values: readonly string[] = []) {
    this.#names = new Set(names.map(plainName));
    this.#isSecretName = secretNames(this.#names);
    this.#values = new KnownValues(values);
    const isSecretName: IsSecretName = (name, value) => this.#isSecretName(name, value);
    this.#copy = copyWithoutSecrets(this.#copyPolicy(isSecretName));
    this.#remember = copyWithoutSecrets({
      isSecretName,
      hide: (secret) => this.#learn(secret),
      text: (text) => text,
      schema: (_, schema) => schema,
    });
  }

  /** A copy without secrets. Values of secret fields are remembered, and removed wherever else they appear. */
  without<T>(value: T): T {
    this.#remember(value);
    return this.#copy(value) as T;
  }

  /** Adds names of fields. */
  addNames(names: readonly string[]): void {
    for (const name of names) if (this.#names.size < MAX_NAMES) this.#names.add(plainName(name));
    this.#isSecretName = secretNames(this.#names);
  }

  /** Adds a value that is a secret wherever it appears, and what is in it. */
  addValue(value: string): void {
    this.#learn(value);
  }

  /** Finds the fields that schemas mark as secret, anywhere in a value. Returns the names that are new. */
  learnFrom(value: unknown): readonly string[] {
    const found = [...new Set(markedFields(value))].filter((name) => !this.#isSecretName(name));
    if (found.length > 0) this.addNames(found);
    return found;
  }

  #copyPolicy(isSecretName: IsSecretName): CopyPolicy {
    return {
      isSecretName,
      hide: () => REMOVED,
      hidePart: () => HIDDEN,
      text: (text, field = '') =>
        FIXED.has(field) && text.length < MIN_NAME_VALUE ? text : hideInText(this.#values.hide(text)),
      name: (name) => (name.length < MIN_NAME_VALUE ? name : this.#values.hide(name, MIN_NAME_VALUE)),
      field: (name, value, object) => this.#field(name, value, object),
      schema: (name, schema) => (isSecretName(name) || isMarked(schema) ? withoutValues(schema) : schema),
      // JSON keeps its white space. Its secrets have been remembered.
      readsJson: false,
    };
  }

  #field(name: string, value: unknown, { mimeType }: Readonly<JsonObject>): unknown {
    if (typeof value !== 'string') return undefined;
    if (name === 'requestState') return this.#state(value);
    // Base64 has no words in it.
    return typeof mimeType === 'string' && (name === 'data' || name === 'blob') ? value : undefined;
  }

  #learn(secret: unknown): void {
    if (isObject(secret) || Array.isArray(secret))
      for (const inner of Object.values(secret)) this.#learn(inner);
    const text = typeof secret === 'number' ? String(secret) : secret;
    if (typeof text !== 'string') return;
    // `Bearer abc` is the token `abc` elsewhere.
    for (const part of [...partsOf(text), text]) this.#values.learn(part);
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

function isMarked(schema: Readonly<JsonObject>): boolean {
  return (
    schema['writeOnly'] === true ||
    schema['format'] === 'password' ||
    ['secret', 'x-secret', 'x-fullmcp-secret', 'isSecret'].some((mark) => schema[mark] === true)
  );
}

function withoutValues({
  default: _default,
  examples: _examples,
  ...rest
}: Readonly<JsonObject>): JsonObject {
  return rest;
}
