import { closestName } from '../../schema/explain/closest-name.js';

// A key that nothing reads is a mistake. The compiler finds most of them; JavaScript and widened types need this check.

/** A table of all keys of an options type, for `satisfies`: the compiler reports a key that the table lacks. */
export type KeysOf<Options> = Readonly<Record<keyof Options, true>>;

/** What other libraries call a key: the key that is meant, or a sentence about what to do instead. */
export type ForeignNames = Readonly<Record<string, string>>;

export interface UnknownKey {
  readonly key: string;
  /** The known key that was probably meant. */
  readonly meant: string | undefined;
  /** What to do, as a sentence. */
  readonly hint: string;
}

/** The keys of an object that nothing reads, each with a hint. */
export function unknownKeys(
  given: object,
  known: Readonly<Record<string, true>>,
  foreign: ForeignNames = {},
): readonly UnknownKey[] {
  return Object.keys(given)
    .filter((key) => !Object.hasOwn(known, key))
    .map((key) => {
      const told = Object.hasOwn(foreign, key) ? foreign[key] : undefined;
      if (told !== undefined && !Object.hasOwn(known, told)) return { key, meant: undefined, hint: told };
      const names = Object.keys(known);
      const near = told ?? closestName(key, names);
      const meant = near === undefined ? namesAround(key, names) : [near];
      return { key, meant: meant.length === 1 ? meant[0] : undefined, hint: hintFor(meant, names) };
    });
}

/** Throws a TypeError that names every unknown option of `what`, the function that takes them. */
export function checkOptions(
  what: string,
  given: unknown,
  known: Readonly<Record<string, true>>,
  foreign?: ForeignNames,
): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new TypeError(`${what}: the options must be an object, not ${nameOf(given)}.`);
  }
  const unknown = unknownKeys(given, known, foreign);
  if (unknown.length === 0) return;
  throw new TypeError(
    unknown.map(({ key, hint }) => `${what} has no option ${JSON.stringify(key)}. ${hint}`).join('\n'),
  );
}

function hintFor(meant: readonly string[], known: readonly string[]): string {
  if (meant.length === 0 || meant.length > 3) return `Known: ${known.join(', ')}.`;
  return `Did you mean ${meant.map((name) => JSON.stringify(name)).join(' or ')}?`;
}

/** Names that the name is only a part of, as `timeout` is of `requestTimeoutMs`, or that are a part of it. */
function namesAround(name: string, known: readonly string[]): readonly string[] {
  if (name.length < 3) return [];
  const part = name.toLowerCase();
  return known.filter((candidate) => {
    const whole = candidate.toLowerCase();
    return whole.includes(part) || (whole.length >= 4 && part.includes(whole));
  });
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
