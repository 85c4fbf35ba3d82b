// Environment variables in the values of saved requests: replaced before a request is sent, and put back in everything that is shown or written.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { KnownValues } from '../../protocol/secrets/known-values.js';
import { partsOf } from '../../protocol/secrets/values.js';
import { Secrets } from '../../testing/recording/secrets.js';
import { RequestsError, type SavedRequests } from './saved-request.js';

type Environment = Readonly<Record<string, string | undefined>>;

// `$${` is `${` itself. A name is checked apart, so that a mistake in it has its own sentence.
const VARIABLE = /\$\$\{|\$\{([^{}]*)\}/g;
const NAME = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;
const MAX_VALUE = 100_000;
/** A shorter value is a part of many words. */
const MIN_HIDDEN = 4;

/** The values of one run: variables that the file lists, and the secrets that neither a terminal nor a file may get. */
export class RequestValues {
  readonly #allowed: ReadonlySet<string>;
  readonly #env: Environment;
  /** The values that may be written back, with the name of the variable that each came from. */
  readonly #variables: KnownValues;
  readonly #secrets: Secrets;

  constructor({ env: allowed = [] }: Pick<SavedRequests, 'env'>, env: Environment) {
    this.#allowed = new Set(allowed);
    this.#env = env;
    const names = new Map<string, string>();
    for (const name of allowed) {
      const value = Object.hasOwn(env, name) ? env[name] : undefined;
      for (const part of value === undefined ? [] : [...partsOf(value), value]) names.set(part, name);
    }
    const mask = (secret: string): string => `\${${names.get(secret) ?? ''}}`;
    this.#variables = new KnownValues([...names.keys()], { mask, minLength: MIN_HIDDEN });
    this.#secrets = new Secrets();
  }

  /** Learns from schemas which fields are secrets. */
  learnFrom(definitions: readonly unknown[]): void {
    this.#secrets.learnFrom(definitions);
  }

  /** A value with its variables replaced. `place` is for the error if one is not set, or is not listed in the file. */
  expand<T>(value: T, place: string): T {
    return this.#expand(value, place) as T;
  }

  /** A value of a server, as it may be shown: without secrets, and with the names of variables in the place of their values. */
  shown<T>(value: T, field = ''): T {
    const copy = this.#secrets.without({ [field]: value });
    return mapped(copy[field], (text) => this.#variables.hide(text)) as T;
  }

  /** A value of a server, as it may be written into the file: reading the file again gives the same value, except for secrets. */
  written<T>(value: T): T {
    const copy = this.#secrets.without({ value }).value;
    return mapped(copy, (text) => this.#variables.hide(text.replaceAll('${', () => '$${'))) as T;
  }

  /** A definition of a server, as it may be written into the file: variables in it are not replaced when the file is read. */
  plain<T>(value: T): T {
    return mapped(value, (text) => this.#variables.hide(text)) as T;
  }

  #expand(value: unknown, place: string): unknown {
    if (typeof value === 'string') return this.#text(value, place);
    if (Array.isArray(value)) return value.map((item, at) => this.#expand(item, `${place}[${at}]`));
    if (!isObject(value)) return value;
    return fromEntries(
      Object.entries(value).map(([name, inner]) => [name, this.#expand(inner, `${place}.${name}`)]),
    );
  }

  #text(text: string, place: string): string {
    return text.replace(VARIABLE, (whole, inner: string | undefined) =>
      inner === undefined ? '${' : this.#variable(inner, whole, place),
    );
  }

  #variable(inner: string, whole: string, place: string): string {
    const [, name, fallback] = NAME.exec(inner) ?? [];
    if (name === undefined)
      throw new RequestsError(
        `${place} has ${JSON.stringify(whole.slice(0, 60))}, which is not a variable. Write $\${ for the characters themselves.`,
      );
    if (!this.#allowed.has(name))
      throw new RequestsError(
        `${place} uses the variable ${name}, which "env" of the file does not list. Add it there if the server may see its value.`,
      );
    const value = Object.hasOwn(this.#env, name) ? this.#env[name] : undefined;
    // As in a shell, an empty variable counts as unset when there is a default.
    const found = fallback === undefined ? value : value || fallback;
    if (found === undefined)
      throw new RequestsError(`${place} needs the environment variable ${name}, which is not set.`);
    if (found.length > MAX_VALUE)
      throw new RequestsError(`The variable ${name} is longer than ${MAX_VALUE} characters.`);
    return found;
  }
}

/** A copy in which each string, also each name of a field, is changed. */
function mapped(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapped(item, change));
  if (!isObject(value)) return value;
  return fromEntries(Object.entries(value).map(([name, inner]) => [change(name), mapped(inner, change)]));
}

// A field may be called __proto__.
function fromEntries(entries: readonly (readonly [string, unknown])[]): JsonObject {
  return Object.fromEntries(entries);
}
