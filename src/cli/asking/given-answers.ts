// The answers that were typed before the questions came: `--answer name=value`.

import { usageError } from '../command/failures.js';
import type { FormField } from './form-fields.js';

export class GivenAnswers {
  /** The options as they were typed, to show them again. */
  readonly typed: readonly string[];
  readonly #texts: ReadonlyMap<string, string>;
  readonly #used = new Set<string>();

  constructor(typed: readonly string[]) {
    this.typed = typed;
    this.#texts = new Map(typed.map(split));
  }

  /** The text for a field: `--answer key.name=value` of the question with this key, or `--answer name=value` of any. */
  for(key: string | undefined, { name }: FormField): string | undefined {
    const names = key === undefined ? [name] : [`${key}.${name}`, name];
    const found = names.find((one) => this.#texts.has(one));
    if (found === undefined) return undefined;
    this.#used.add(found);
    return this.#texts.get(found);
  }

  /** The names that no question had. */
  unused(): readonly string[] {
    return [...this.#texts.keys()].filter((name) => !this.#used.has(name));
  }
}

function split(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw usageError(`--answer needs name=value or key.name=value, not ${JSON.stringify(text)}.`);
}
