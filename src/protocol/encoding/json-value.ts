import { jsonProblem } from './json-problem.js';

// Checks a handler's value before it is printed. JSON.stringify silently turns a Map, a promise or an Error into {} and leaves
// functions out; here such a value is an error that says where it is.

/** Beyond this many levels the careful search decides, which tells a cycle from a deep value. */
const LEVELS = 64;

/** Throws a TypeError that begins with `subject` and says which value JSON cannot carry, where it is, and what to do. */
export function assertJson(value: unknown, subject: string): void {
  if (isScalar(value) || (typeof value === 'object' && value !== null && isPlain(value, LEVELS))) return;
  const problem = jsonProblem(value);
  if (problem !== undefined) throw new TypeError(`${subject}: ${problem.sentence}`, { cause: problem.cause });
}

function isScalar(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return true;
    case 'number':
      return Number.isFinite(value);
    default:
      return value === null;
  }
}

// The fast path for nearly every value: object literals and arrays of JSON values. False means that a careful search is
// needed. The two loops have the same conditions, written out, because a call for each scalar takes a third more time.
function isPlain(value: object, levels: number): boolean {
  if (levels === 0) return false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      if (typeof item === 'string') continue;
      if (typeof item === 'number' && !Number.isFinite(item)) return false;
      if (typeof item === 'object' && item !== null && !isPlain(item, levels - 1)) return false;
      if (typeof item === 'function' || typeof item === 'symbol' || typeof item === 'bigint') return false;
    }
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Date.prototype) return !Number.isNaN((value as Date).getTime());
  if (prototype !== Object.prototype && prototype !== null) return false;
  let empty = true;
  for (const key in value) {
    empty = false;
    const item: unknown = (value as Record<string, unknown>)[key];
    if (typeof item === 'string') continue;
    if (typeof item === 'number' && !Number.isFinite(item)) return false;
    if (typeof item === 'object' && item !== null && !isPlain(item, levels - 1)) return false;
    if (typeof item === 'function' || typeof item === 'symbol' || typeof item === 'bigint') return false;
  }
  // An iterable written as a literal has only symbols as keys.
  return !empty || Object.getOwnPropertySymbols(value).length === 0;
}
