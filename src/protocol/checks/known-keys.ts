import { closestName } from '../../schema/explain/closest-name.js';

// A key that nothing reads is a mistake. The compiler finds most of them; JavaScript and widened types need this check.

/** A table of all keys of an options type, for `satisfies`: the compiler reports a key that the table lacks. */
export type KeysOf<Options> = Readonly<Record<keyof Options, true>>;

/** Names that other libraries use, each with our key for the same thing or a sentence that says what to do instead. */
export type ForeignNames = Readonly<Record<string, string>>;

export interface UnknownKey {
  readonly key: string;
  /** The known key that was probably meant; undefined when none or several are close. */
  readonly suggestion: string | undefined;
  /** The known key with nearly the same spelling, or with this name elsewhere; undefined if there is none. */
  readonly closest: string | undefined;
  /** A sentence that says what to do. */
  readonly hint: string;
}

/** The keys of an object that nothing reads, each with a hint. */
export function unknownKeys(
  object: object,
  keys: Readonly<Record<string, unknown>>,
  foreign: ForeignNames = {},
): readonly UnknownKey[] {
  return Object.keys(object)
    .filter((key) => !Object.hasOwn(keys, key))
    .map((key) => {
      const foreignHint = Object.hasOwn(foreign, key) ? foreign[key] : undefined;
      if (foreignHint !== undefined && !Object.hasOwn(keys, foreignHint))
        return { key, suggestion: undefined, closest: undefined, hint: foreignHint };
      const names = Object.keys(keys);
      const closest = foreignHint ?? closestName(key, names);
      const suggestions = closest === undefined ? namesAround(key, names) : [closest];
      return {
        key,
        suggestion: suggestions.length === 1 ? suggestions[0] : undefined,
        closest,
        hint: hintFor(suggestions, names),
      };
    });
}

function hintFor(suggestions: readonly string[], names: readonly string[]): string {
  if (suggestions.length === 0 || suggestions.length > 3) return `Known: ${names.join(', ')}.`;
  return `Did you mean ${suggestions.map((name) => JSON.stringify(name)).join(' or ')}?`;
}

/** Names that contain the name, as `requestTimeoutMs` contains `timeout`, or that the name contains. */
function namesAround(name: string, names: readonly string[]): readonly string[] {
  if (name.length < 3) return [];
  const part = name.toLowerCase();
  return names.filter((candidate) => {
    const whole = candidate.toLowerCase();
    return whole.includes(part) || (whole.length >= 4 && part.includes(whole));
  });
}
