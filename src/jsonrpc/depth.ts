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

// An exponent of three digits, or so many digits that an exponent of two is enough. `e-400` is harmless: it is 0.
const LARGE_EXPONENT = /[0-9][eE]\+?[0-9]{3}/;
const MANY_DIGITS = 200;

/**
 * Whether a text has a number that no double can hold: `JSON.parse` makes Infinity of `1e400`, which is not JSON, and which
 * a range in a schema lets through. Looks at the text first, since nearly none has such a number.
 */
export function hasInfinity(text: string, value: unknown): boolean {
  if (!LARGE_EXPONENT.test(text) && !hasManyDigits(text)) return false;
  return isInfinite(value);
}

// Each run of digits is met at least once where only every 200th character is looked at.
function hasManyDigits(text: string): boolean {
  for (let at = MANY_DIGITS - 1; at < text.length; at += MANY_DIGITS) {
    if (!isDigit(text, at)) continue;
    let from = at;
    let to = at;
    while (isDigit(text, from - 1)) from -= 1;
    while (isDigit(text, to + 1)) to += 1;
    if (to - from + 1 >= MANY_DIGITS) return true;
    at = to;
  }
  return false;
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
}

/** The depth has been checked before. */
function isInfinite(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some(isInfinite);
}
