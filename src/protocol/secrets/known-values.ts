// Secrets whose values are remembered: hidden wherever else they appear.

import { BoundedMap } from '../../async/bounded-map.js';
import { REDACTED } from './text.js';
import { formsOf } from './values.js';

/** The options of `KnownValues`. */
export interface KnownValuesOptions {
  /** The mask that stands for a secret: a string, or a function of the secret. Default: `[redacted]`. */
  readonly mask?: string | ((secret: string) => string) | undefined;
  /** The shortest secret. A shorter string may be part of any word. Default: 6 characters. */
  readonly minLength?: number | undefined;
}

/** A longer value is not a secret, and is not looked for. */
const MAX_VALUE = 10_000;
const MAX_LEARNED = 500;

/** Hides values in strings: as they are, as part of a URL or a form, and in JSON. */
export class KnownValues {
  readonly #mask: string | ((secret: string) => string);
  readonly #minLength: number;
  readonly #given = new Map<string, string>();
  // In the order in which they were seen: the oldest is forgotten first.
  readonly #learned = new BoundedMap<string, string>(MAX_LEARNED);
  #longestFirst: readonly (readonly [string, string])[] | undefined;

  constructor(
    given: readonly (string | undefined)[] = [],
    { mask = REDACTED, minLength = 6 }: KnownValuesOptions = {},
  ) {
    this.#mask = mask;
    this.#minLength = minLength;
    for (const secret of given) this.#add(this.#given, secret ?? '');
  }

  /** Remembers a secret that was seen. */
  learn(secret: string): void {
    if (secret.length > MAX_VALUE) return;
    this.#add(this.#learned, secret);
  }

  /** A string without the values that have at least this many characters. To be called before the string is shortened. */
  hide(text: string, least = 0): string {
    // The longest first: one form may be a part of another.
    this.#longestFirst ??= [...this.#learned, ...this.#given].sort(
      ([one], [other]) => other.length - one.length,
    );
    let clean = text;
    for (const [form, mask] of this.#longestFirst)
      if (form.length >= least && clean.includes(form)) clean = clean.replaceAll(form, () => mask);
    return clean;
  }

  #add(to: Map<string, string>, secret: string): void {
    if (secret === '' || secret.length < this.#minLength) return;
    const mask = typeof this.#mask === 'string' ? this.#mask : this.#mask(secret);
    for (const form of formsOf(secret)) to.set(form, mask);
    this.#longestFirst = undefined;
  }
}
