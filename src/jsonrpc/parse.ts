// Parses JSON from a peer. A short text can nest very deep, and code that walks a value by recursion then overflows the stack. So
// the depth is checked before anything else reads the value; this check itself cannot overflow.

/** The default limit of nesting: for messages that a server reads, and for those that a client reads from a pipe or a socket. */
export const MAX_DEPTH = 128;
/** The limit of nesting for messages that a client reads over HTTP. */
export const MAX_HTTP_REPLY_DEPTH = 512;

/** The reason that a message or its value is refused. `infinite`: a number in it is too large for a double. */
export type JsonFault = 'syntax' | 'deep' | 'infinite';

/** A message that is refused, with its value if it is JSON, and otherwise with the error of `JSON.parse`. */
export class RefusedJson {
  readonly fault: JsonFault;
  readonly value: unknown;
  readonly cause: unknown;

  constructor(fault: JsonFault, value: unknown, cause?: unknown) {
    this.fault = fault;
    this.value = value;
    this.cause = cause;
  }
}

/** Parses the JSON that a client sent. Returns the value, or a `RefusedJson`. */
export function parseStrictly(text: string, maxDepth: number): unknown {
  const value = parse(text);
  if (value instanceof RefusedJson) return value;
  const fault = findFault(value, maxDepth);
  return fault === undefined ? value : new RefusedJson(fault, value);
}

/** Parses the JSON that a server sent, and tolerates numbers that are too large. Returns the value, or a `RefusedJson`. */
export function parseJson(text: string, maxDepth: number): unknown {
  const value = parse(text);
  // Each level takes at least two characters.
  return text.length > 2 * maxDepth && isDeeperThan(value, maxDepth) ? new RefusedJson('deep', value) : value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    return new RefusedJson('syntax', undefined, cause);
  }
}

/** The depth that fits on every stack. A deeper value is refused, whatever the limit is. */
const MAX_LEVELS = 2000;

/**
 * Whether a value of `JSON.parse` nests deeper than `limit`. A scalar has depth 0, `[]` has 1, `[[]]` has 2. Runs on every
 * message, so it makes no copies of keys or values.
 */
export function isDeeperThan(value: unknown, limit: number): boolean {
  return typeof value === 'object' && value !== null && exceeds(value, Math.min(limit, MAX_LEVELS));
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

/**
 * Finds out whether a value of `JSON.parse` nests deeper than `limit`, or has a number that is too large for a double:
 * `JSON.parse` turns `1e400` into Infinity, which is not JSON, and which the range of a schema may accept. Both are checked in
 * one pass, because this runs on every message.
 */
export function findFault(value: unknown, limit: number): JsonFault | undefined {
  if (typeof value === 'object' && value !== null) return search(value, Math.min(limit, MAX_LEVELS));
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
