// The differences between a value and that of the run before.

export type Difference =
  | { readonly kind: 'new'; readonly name: string }
  | { readonly kind: 'changed'; readonly name: string; readonly before: unknown };

/** More values than this are not compared: then nothing is marked. */
const MAX_COMPARED = 20_000;

/** Undefined if nothing is different, or nothing is known about the run before. */
export function differenceOf(
  value: unknown,
  previous: { readonly value: unknown; readonly name: string } | undefined,
): Difference | undefined {
  if (previous === undefined) return undefined;
  if (previous.value === undefined) return { kind: 'new', name: previous.name };
  if (isSame(value, previous.value, { left: MAX_COMPARED })) return undefined;
  return { kind: 'changed', name: previous.name, before: previous.value };
}

function isSame(a: unknown, b: unknown, budget: { left: number }): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  for (const key of keys) {
    if (budget.left-- < 0) return true;
    if (!Object.hasOwn(b, key)) return false;
    const before = (b as Record<string, unknown>)[key];
    if (!isSame((a as Record<string, unknown>)[key], before, budget)) return false;
  }
  return true;
}
