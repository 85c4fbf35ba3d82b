// Explains a failed validation to a model.

import { coerce } from '../check/coerce.js';
import type { CompiledSchema } from '../check/compiled-schema.js';
import type { Issue } from '../check/issue.js';
import { fieldNames, placesAt, valueAt } from '../check/places.js';
import type { SchemaDocument } from '../document/nodes.js';
import { closestName } from './closest-name.js';
import { clip } from './expectation.js';
import { findProblems, MAX_ISSUES } from './problems.js';

const MAX_PROBLEMS = 5;
// A peer may send a million fields; only the first ones are searched for typos.
const MAX_UNKNOWN = 50;
const MAX_PROBLEM_TEXT = 220;
const MAX_PROBLEMS_TEXT = 430;
const MAX_FIELDS_TEXT = 130;

type Path = Issue['path'];

/**
 * Explains a failed validation in a line or two that a model can act on: the field, what was expected, what came instead, and
 * the fields that exist. The JSON Schema explains most problems; a problem that only the library finds (a refinement) is
 * reported in the library's words.
 */
export function explain(issues: readonly Issue[], compiled: CompiledSchema, value: unknown): string {
  return explanationOf(issues, compiled, value).text;
}

/** The explanation of a failed validation. */
export interface Explanation {
  /** The problems, in a line or two. */
  readonly text: string;
  /** The path to the field of the first problem, such as `address.city`; undefined if the problem is the whole value. */
  readonly field: string | undefined;
}

/** Explains a failed validation, and names the field that the explanation begins with. */
export function explanationOf(
  issues: readonly Issue[],
  compiled: CompiledSchema,
  value: unknown,
): Explanation {
  const { document, io } = compiled;
  // A value that coercion has made valid is not a problem.
  const coercedValue = io === 'input' ? coerce(document, value).value : value;
  // A plain schema has already found its problems. Validating again could match a slow pattern a second time.
  const schemaIssues = compiled.plain ? issues : findProblems(document, coercedValue);
  const libraryIssues = issues.filter(
    (issue) => !schemaIssues.some((problem) => isRelated(problem.path, issue.path)),
  );
  const problems = inFieldOrder(
    [...schemaIssues, ...libraryIssues, ...findMisspelledFields(document, coercedValue, schemaIssues)],
    fieldNames(placesAt(document, [], coercedValue)),
  );
  const [first] = problems;
  if (first === undefined) return { text: 'The value does not match the schema.', field: undefined };
  const parent = first.path.slice(0, -1);
  const names = fieldNames(placesAt(document, parent, coercedValue));
  return {
    text: `${listProblems(problems)}${listFields(parent, names)}`,
    field: first.path.length === 0 ? undefined : pathText(first.path),
  };
}

/**
 * Finds fields that the schema accepts, although their names are close to those of missing required fields. Libraries that drop
 * unknown fields would otherwise report a field as missing that is there, but misspelled.
 */
function findMisspelledFields(
  document: SchemaDocument,
  value: unknown,
  schemaIssues: readonly Issue[],
): readonly Issue[] {
  const reportedPaths = new Set(schemaIssues.map(({ path }) => JSON.stringify(path)));
  const issues: Issue[] = [];
  for (const { path, message } of schemaIssues) {
    const name = path.at(-1);
    if (typeof name !== 'string' || !message.startsWith('required')) continue;
    const parent = path.slice(0, -1);
    const holder = valueAt(value, parent);
    if (typeof holder !== 'object' || holder === null) continue;
    const names = fieldNames(placesAt(document, parent, value));
    const others = Object.keys(holder)
      .filter((key) => !names.includes(key))
      .slice(0, MAX_UNKNOWN);
    for (const other of others) {
      const at = [...parent, other];
      if (reportedPaths.has(JSON.stringify(at)) || closestName(other, [name]) === undefined) continue;
      reportedPaths.add(JSON.stringify(at));
      issues.push({ path: at, message: `unknown field, did you mean ${JSON.stringify(name)}?` });
    }
  }
  return issues;
}

/** Lists problems in one sentence, as many as fit. */
export function listProblems(problems: readonly Issue[]): string {
  const texts: string[] = [];
  let length = 0;
  for (const problem of problems.slice(0, MAX_PROBLEMS)) {
    const text = clip(problemText(problem), MAX_PROBLEM_TEXT);
    if (length > 0 && length + text.length > MAX_PROBLEMS_TEXT) break;
    texts.push(text);
    length += text.length + 2;
  }
  const rest = problems.length - texts.length;
  const atLeast = problems.length >= MAX_ISSUES ? 'at least ' : '';
  if (rest > 0) texts.push(`and ${atLeast}${rest} more problem${rest === 1 ? '' : 's'}`);
  const text = texts.join('; ');
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

function listFields(parent: Path, names: readonly string[]): string {
  if (names.length === 0) return '';
  let text = '';
  let count = 0;
  for (const name of names) {
    const next = `${count === 0 ? '' : ', '}${fieldText(name)}`;
    if (text.length + next.length > MAX_FIELDS_TEXT) break;
    text += next;
    count++;
  }
  const rest = names.length - count;
  const more = rest === 0 ? '' : ` (and ${rest} more)`;
  const owner = parent.length === 0 ? '' : ` of ${pathText(parent)}`;
  return ` Valid fields${owner}: ${text}${more}.`;
}

function problemText({ path, message }: Issue): string {
  const words = message.replaceAll(/\s+/g, ' ').trim();
  return path.length === 0 ? words : `${pathText(path)}: ${words}`;
}

/** Writes a path like `address.lines[0]`, with `["odd name"]` for names that do not work after a dot. */
function pathText(path: Path): string {
  let text = '';
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`;
    else if (isSimple(key)) text += text === '' ? key : `.${key}`;
    else text += `[${JSON.stringify(clip(key, 40))}]`;
  }
  return clip(text);
}

function fieldText(name: string): string {
  return isSimple(name) ? name : JSON.stringify(clip(name, 40));
}

function isSimple(name: string): boolean {
  return name.length <= 60 && /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(name);
}

function isRelated(a: Path, b: Path): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.every((key, i) => key === long[i]);
}

/** Sorts problems by the order of the fields in the schema; the validator reports missing fields first. */
function inFieldOrder(problems: readonly Issue[], names: readonly string[]): readonly Issue[] {
  const order = new Map(names.map((name, i) => [name as string | number, i]));
  const rank = ({ path: [first] }: Issue): number =>
    first === undefined ? -1 : (order.get(first) ?? names.length);
  return [...problems].sort((a, b) => rank(a) - rank(b));
}
