// Compares the arguments of a call with those that are expected.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { REMOVED } from '../../testing/recording/secrets.js';
import { cleanLine } from '../../tooling/clean.js';
import type { ExpectedToolCall } from './case.js';

const MAX_SHOWN = 80;
/** A pattern of the author is not matched against more of the words of a model. */
const MAX_MATCHED = 100_000;

/** The first difference between the arguments of a call and the expected ones, in a sentence; undefined if they fit. */
export async function misfitOf(
  { args: expected, exact }: ExpectedToolCall,
  actual: JsonObject,
): Promise<string | undefined> {
  return expected === undefined ? undefined : difference(expected, actual, { path: '', exact });
}

interface Place {
  readonly path: string;
  readonly exact: boolean;
}

async function difference(expected: unknown, actual: unknown, place: Place): Promise<string | undefined> {
  const at = place.path === '' ? 'The arguments' : place.path;
  // A secret that a tape leaves out may have been anything.
  if (actual === REMOVED) return undefined;
  if (expected instanceof RegExp) return ofPattern(expected, actual, at);
  if (isStandard(expected)) return ofSchema(expected, actual, at);
  if (typeof expected === 'function')
    return expected(actual)
      ? undefined
      : `${at} ${are(place)} ${quoted(actual)}, which the function of the case rejects.`;
  if (Array.isArray(expected)) return ofArray(expected, actual, place);
  if (isObject(expected)) return ofObject(expected, actual, place);
  return Object.is(expected, actual)
    ? undefined
    : `${at} is ${quoted(actual)}; ${quoted(expected)} was expected.`;
}

function are({ path }: Place): string {
  return path === '' ? 'are' : 'is';
}

function ofPattern(pattern: RegExp, actual: unknown, at: string): string | undefined {
  const text = typeof actual === 'string' || typeof actual === 'number' ? String(actual) : undefined;
  return text !== undefined && matches(pattern, text)
    ? undefined
    : `${at} is ${quoted(actual)}, which does not match ${cleanLine(String(pattern), MAX_SHOWN)}.`;
}

/** Whether a string matches, from its beginning, also if the pattern is one that remembers its last match. */
export function matches(pattern: RegExp, text: string): boolean {
  return text.slice(0, MAX_MATCHED).search(pattern) !== -1;
}

interface Standard {
  readonly '~standard': { readonly validate: (value: unknown) => unknown };
}

function isStandard(value: unknown): value is Standard {
  return (isObject(value) || typeof value === 'function') && '~standard' in value;
}

async function ofSchema(schema: Standard, actual: unknown, at: string): Promise<string | undefined> {
  const result = await schema['~standard'].validate(actual);
  const issues = isObject(result) ? result['issues'] : undefined;
  if (!Array.isArray(issues)) return undefined;
  const [first] = issues.filter(isObject);
  return `${at} is ${quoted(actual)}, which does not match the schema: ${cleanLine(String(first?.['message'] ?? 'it is rejected'), 200)}.`;
}

async function ofArray(
  expected: readonly unknown[],
  actual: unknown,
  { path, exact }: Place,
): Promise<string | undefined> {
  if (!Array.isArray(actual)) return `${path} is ${quoted(actual)}; an array was expected.`;
  if (actual.length !== expected.length)
    return `${path} has ${actual.length} items; ${expected.length} were expected.`;
  for (const [at, item] of expected.entries()) {
    const found = await difference(item, actual[at], { path: `${path}[${at}]`, exact });
    if (found !== undefined) return found;
  }
  return undefined;
}

async function ofObject(
  expected: Readonly<JsonObject>,
  actual: unknown,
  { path, exact }: Place,
): Promise<string | undefined> {
  if (!isObject(actual))
    return `${path === '' ? 'The arguments are' : `${path} is`} ${quoted(actual)}; an object was expected.`;
  const below = (name: string): string => cleanLine(path === '' ? name : `${path}.${name}`, 120);
  for (const [name, inner] of Object.entries(expected)) {
    if (inner === undefined) continue;
    const isThere = Object.hasOwn(actual, name);
    if (!isThere && !isOptional(inner)) return `${below(name)} is missing; ${quoted(inner)} was expected.`;
    const found = await difference(inner, isThere ? actual[name] : undefined, { path: below(name), exact });
    if (found !== undefined) return found;
  }
  const extra = exact ? Object.keys(actual).find((name) => !Object.hasOwn(expected, name)) : undefined;
  return extra === undefined
    ? undefined
    : `${below(extra)} is ${quoted(actual[extra])}, and was not expected.`;
}

/** Whether something may decide about a value that is missing. */
function isOptional(expected: unknown): boolean {
  return typeof expected === 'function' || isStandard(expected);
}

function quoted(value: unknown): string {
  if (value === undefined) return 'not set';
  if (value instanceof RegExp) return cleanLine(String(value), MAX_SHOWN);
  if (typeof value === 'function' || isStandard(value)) return 'another value';
  return cleanLine(JSON.stringify(value) ?? String(value), MAX_SHOWN);
}
