// Environment variables in the values of saved requests: replaced before a request is sent, and put back in everything that is shown or written.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { REDACTED } from '../../protocol/secrets/text.js';
import { formsOf, partsOf } from '../../protocol/secrets/values.js';
import { REMOVED, Secrets } from '../../testing/recording/secrets.js';
import { RequestsError, type SavedRequests } from './saved-request.js';

type Environment = Readonly<Record<string, string | undefined>>;

// `$${` is `${` itself. A name is checked apart, so that a mistake in it has its own sentence.
const VARIABLE = /\$\$\{|\$\{([^{}]*)\}/g;
const NAME = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;
const MAX_VALUE = 100_000;
/** A shorter value is a part of many words and numbers, and counts only where it is a word of its own. */
const MIN_INSIDE = 4;

/** A form in which a server may repeat the value of a variable. */
interface KnownForm {
  readonly form: string;
  readonly name: string;
}

/** The values of one run: variables that the file lists, and the secrets that neither a terminal nor a file may get. */
export class RequestValues {
  readonly #allowed: ReadonlySet<string>;
  readonly #env: Environment;
  /** The longest first: one may be a part of another. */
  readonly #forms: readonly KnownForm[];
  readonly #secrets: Secrets;

  constructor({ env: allowed = [] }: Pick<SavedRequests, 'env'>, env: Environment) {
    this.#allowed = new Set(allowed);
    this.#env = env;
    const forms = new Map<string, KnownForm>();
    for (const name of allowed) {
      const value = (Object.hasOwn(env, name) ? env[name] : undefined) ?? '';
      for (const form of [...partsOf(value), value].flatMap((part) => [...formsOf(part)]))
        if (form !== '') forms.set(form, { form, name });
    }
    this.#forms = [...forms.values()].sort((one, other) => other.form.length - one.form.length);
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
    return mapped(copy[field], {
      text: (text) => this.#named(text, this.#formsIn(text)),
      number: (number) => {
        const forms = this.#formsOf(number);
        return forms.length > 0 ? this.#named(String(number), forms) : number;
      },
    }) as T;
  }

  /** A value of a server, as it may be written into the file: reading the file again gives the same value, except for secrets. */
  written<T>(value: T): T {
    const copy = this.#secrets.without({ value }).value;
    return mapped(copy, {
      text: (text) => {
        // The rest of text that had a secret in it is never what comes back.
        if (text.includes(REDACTED)) return REMOVED;
        const kept = this.#named(text, this.#formsIn(text), { isRead: true });
        // A form of a value, or a value after a `$`, would be read as another text: only anything can be expected.
        return this.#text(kept, '') === text ? kept : REMOVED;
      },
      number: (number) => (this.#formsOf(number).length > 0 ? REMOVED : number),
    }) as T;
  }

  /** A definition of a server, as it may be written into the file: variables in it are not replaced when the file is read. */
  plain<T>(value: T): T {
    const isLong = ({ form }: KnownForm): boolean => form.length >= MIN_INSIDE;
    // The words of a definition are compared on other computers, too, whose variables have other values.
    return mapped(value, { text: (text) => this.#named(text, this.#formsIn(text).filter(isLong)) }) as T;
  }

  #formsIn(text: string): readonly KnownForm[] {
    return this.#forms.filter(
      ({ form }) => text.includes(form) && new RegExp(expressionFor(form), 'u').test(text),
    );
  }

  #formsOf(number: number): readonly KnownForm[] {
    const digits = String(number);
    return digits.length < MIN_INSIDE ? [] : this.#forms.filter(({ form }) => form === digits);
  }

  /**
   * The text with the names of variables. All at once: a name that takes the place of a value may have another value in it. Text that is
   * read again has `$$` + `{` in the place of `$` + `{`.
   */
  #named(text: string, forms: readonly KnownForm[], { isRead = false } = {}): string {
    const names = new Map(forms.map(({ form, name }) => [form, `$\{${name}}`]));
    const found = [...forms.map(({ form }) => expressionFor(form)), ...(isRead ? ['\\$\\{'] : [])];
    if (found.length === 0) return text;
    return text.replace(new RegExp(found.join('|'), 'gu'), (form) => names.get(form) ?? `$${form}`);
  }

  #expand(value: unknown, place: string): unknown {
    if (typeof value === 'string') return this.#text(value, place);
    if (Array.isArray(value)) return value.map((item, at) => this.#expand(item, `${place}[${at}]`));
    if (!isObject(value)) return value;
    return fromEntries(
      Object.entries(value).map(([name, inner]) => [
        this.#text(name, place),
        this.#expand(inner, `${place}.${name}`),
      ]),
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

/** Finds a form of a value: anywhere, or as a word of its own if it is short. */
function expressionFor(form: string): string {
  const literal = form.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return form.length < MIN_INSIDE ? `(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])` : literal;
}

interface Changes {
  readonly text: (text: string) => string;
  /** Default: numbers stay. */
  readonly number?: (number: number) => unknown;
}

/** A copy in which each string, also each name of a field, and each number is changed. */
function mapped(value: unknown, changes: Changes): unknown {
  const { text, number } = changes;
  if (typeof value === 'string') return text(value);
  if (typeof value === 'number') return number ? number(value) : value;
  if (Array.isArray(value)) return value.map((item) => mapped(item, changes));
  if (!isObject(value)) return value;
  return fromEntries(Object.entries(value).map(([name, inner]) => [text(name), mapped(inner, changes)]));
}

// A field may be called __proto__.
function fromEntries(entries: readonly (readonly [string, unknown])[]): JsonObject {
  return Object.fromEntries(entries);
}
