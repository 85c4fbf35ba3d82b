import { MAX_URI_LENGTH } from '../tables/limits.js';
import { classOf, RESERVED, SEGMENT, unitLength } from './characters.js';
import type { Part, Variable } from './grammar.js';
import { type CharSpan, literalForms, type MatchTarget, partMatcher, type Table } from './positions.js';

// Matches a URI against a template and reads the values. A URI whose values could escape the template's path (path traversal)
// does not match: values are decoded once, and then checked.

/** Decoded values by name, in an object without a prototype. A variable that the URI omits has no entry. */
export type TemplateMatch = Readonly<Record<string, string | readonly string[]>>;

/** Prepares the parts once, for many URIs. */
export function createMatcher(parts: readonly Part[]): (uri: string) => TemplateMatch | undefined {
  const matchers = parts.map(partMatcher);
  const rightToLeft = matchers.toReversed();
  const heads = parts[0]?.kind === 'literal' ? literalForms(parts[0].text) : undefined;

  return function match(uri) {
    // A longer URI matches nothing.
    if (uri.length > MAX_URI_LENGTH) return undefined;
    // Most URIs belong to another template and are rejected here, before a table is made.
    if (heads !== undefined && !heads.some((head) => uri.startsWith(head))) return undefined;
    const target = prepare(uri);
    const tables: Table[] = [];
    let after: Uint8Array = new Uint8Array(uri.length + 1);
    after[uri.length] = 1;
    for (const matcher of rightToLeft) {
      const rows = matcher.reachable(target, after);
      tables.push({ rows, after });
      after = rows[0];
    }
    if (after[0] !== 1) return undefined;
    const spans: CharSpan[] = [];
    let at = 0;
    for (const matcher of matchers) at = matcher.consume(target, at, tables.pop() as Table, spans);
    return readValues(uri, spans);
  };
}

function prepare(uri: string): MatchTarget {
  const segmentSteps = new Uint8Array(uri.length + 1);
  const reservedSteps = new Uint8Array(uri.length + 1);
  for (let at = 0; at < uri.length; at++) {
    const classes = classOf(uri, at);
    if ((classes & RESERVED) !== 0) reservedSteps[at] = unitLength(uri, at);
    if ((classes & SEGMENT) !== 0) segmentSteps[at] = reservedSteps[at] as number;
  }
  return { uri, segmentSteps, reservedSteps };
}

function readValues(uri: string, spans: readonly CharSpan[]): TemplateMatch | undefined {
  const byVariable = new Map<Variable, string | string[]>();
  for (const { variable, reserved, from, to } of spans) {
    const value = decode(uri.slice(from, to));
    if (!(reserved ? hasNoDotSegment(value) : isPlain(value))) return undefined;
    const earlier = byVariable.get(variable);
    if (Array.isArray(earlier)) earlier.push(value);
    else if (earlier !== undefined) return undefined;
    else byVariable.set(variable, variable.explode ? [value] : value);
  }
  return mergeByName(byVariable);
}

/** The spans hold only whole, well-formed sequences, so this cannot throw. */
function decode(text: string): string {
  return text.includes('%') ? decodeURIComponent(text) : text;
}

function isPlain(value: string): boolean {
  if (value === '.' || value === '..') return false;
  return !value.includes('/') && !value.includes('\\') && !hasControl(value);
}

// A line break in a value could end a header, a log line or a command that the handler writes.
function hasControl(value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;
  }
  return false;
}

function hasNoDotSegment(value: string): boolean {
  if (hasControl(value)) return false;
  return value
    .replaceAll('\\', '/')
    .split('/')
    .every((segment) => segment !== '.' && segment !== '..');
}

/** A variable that occurs in the template more than once must have one value, or prefixes of it. */
function mergeByName(byVariable: ReadonlyMap<Variable, string | string[]>): TemplateMatch | undefined {
  const values: Record<string, string | string[]> = Object.create(null);
  const prefixes: [name: string, value: string][] = [];
  for (const [{ name, prefix }, value] of byVariable) {
    if (prefix !== undefined && typeof value === 'string') {
      if (codePoints(value) > prefix) return undefined;
      prefixes.push([name, value]);
    } else if (values[name] === undefined) {
      values[name] = value;
    } else if (!sameValue(values[name], value)) {
      return undefined;
    }
  }
  prefixes.sort(([, one], [, other]) => other.length - one.length);
  for (const [name, prefix] of prefixes) {
    const whole = values[name] ?? prefix;
    if (typeof whole !== 'string' || !whole.startsWith(prefix)) return undefined;
    values[name] = whole;
  }
  return values;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function sameValue(one: string | readonly string[], other: string | readonly string[]): boolean {
  if (typeof one === 'string' || typeof other === 'string') return one === other;
  return one.length === other.length && one.every((item, at) => item === other[at]);
}
