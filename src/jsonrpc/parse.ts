// A small text can nest very deep, and whatever walks it by recursion then falls over. This walk cannot.

/** Levels that any stack bears. A value beyond them is too deep whatever the limit says. */
const MOST_LEVELS = 2000;

/**
 * Whether a value that `JSON.parse` made nests deeper than `limit`. A scalar has depth 0, `[]` has 1, `[[]]` 2.
 * Runs on every message: no copies of keys or values.
 */
export function isDeeperThan(value: unknown, limit: number): boolean {
  return typeof value === 'object' && value !== null && exceeds(value, Math.min(limit, MOST_LEVELS));
}

function exceeds(container: object, levels: number): boolean {
  if (levels < 1) return true;
  if (Array.isArray(container)) {
    for (let at = 0; at < container.length; at++) {
      const item: unknown = container[at];
      if (typeof item === 'object' && item !== null && exceeds(item, levels - 1)) return true;
    }
    return false;
  }
  const object = container as { readonly [key: string]: unknown };
  for (const key in object) {
    const item = object[key];
    if (typeof item === 'object' && item !== null && exceeds(item, levels - 1)) return true;
  }
  return false;
}

/** The fault of a value that `JSON.parse` made. */
export type JsonFault = 'deep' | 'infinite';

/**
 * Whether a value that `JSON.parse` made nests deeper than `limit`, or has a number that no double can hold: `JSON.parse` makes
 * Infinity of `1e400`, which is not JSON, and which a range in a schema lets through. One walk for both, on every message.
 */
export function faultOf(value: unknown, limit: number): JsonFault | undefined {
  if (typeof value === 'object' && value !== null) return search(value, Math.min(limit, MOST_LEVELS));
  return isInfinite(value) ? 'infinite' : undefined;
}

function search(container: object, levels: number): JsonFault | undefined {
  if (levels < 1) return 'deep';
  if (Array.isArray(container)) {
    for (let at = 0; at < container.length; at++) {
      const fault = inItem(container[at], levels);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
  const object = container as { readonly [key: string]: unknown };
  for (const key in object) {
    const fault = inItem(object[key], levels);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function inItem(item: unknown, levels: number): JsonFault | undefined {
  if (typeof item === 'object' && item !== null) return search(item, levels - 1);
  return isInfinite(item) ? 'infinite' : undefined;
}

function isInfinite(value: unknown): boolean {
  return typeof value === 'number' && !Number.isFinite(value);
}
