// The size of a value as JSON, without printing small values.

/** The longest JSON of a number. */
const NUMBER_CHARS = 25;
const MAX_DEPTH = 64;

/**
 * The number of characters of a value's JSON if there are more than `max`; otherwise undefined. A value that cannot be printed, for
 * example because it is nested too deeply, has infinitely many.
 */
export function charsBeyond(max: number, value: unknown): number | undefined {
  if (max === Number.POSITIVE_INFINITY || atMost(max, value, 0) >= 0) return undefined;
  try {
    const { length } = JSON.stringify(value) ?? '';
    return length > max ? length : undefined;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** The characters that are left of `max` if every character of a string were escaped; negative if the value may have more. */
function atMost(max: number, value: unknown, depth: number): number {
  if (typeof value === 'string') return max - 6 * value.length - 2;
  if (typeof value !== 'object' || value === null) return max - NUMBER_CHARS;
  if (depth === MAX_DEPTH || typeof (value as { toJSON?: unknown }).toJSON === 'function') return -1;
  let left = max - 2;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at++) left = atMost(left - 1, value[at], depth + 1);
    return left;
  }
  for (const name in value) {
    if (left < 0) break;
    left = atMost(left - 6 * name.length - 4, (value as Record<string, unknown>)[name], depth + 1);
  }
  return left;
}
