import { coerce } from '../check/coerce.js';
import type { CompiledSchema } from '../check/compiled-schema.js';
import type { Issue } from '../check/issue.js';
import { fieldNames, placesAt, valueAt } from '../check/places.js';
import type { SchemaDocument } from '../document/nodes.js';
import { closestName } from './closest-name.js';
import { clip } from './expectation.js';
import { findProblems, MAX_ISSUES } from './problems.js';

const MAX_PROBLEMS = 5;
// A peer may send a million fields; a typo is among the first.
const MAX_UNKNOWN = 50;
const MAX_PROBLEM_TEXT = 220;
const MAX_PROBLEMS_TEXT = 430;
const MAX_FIELDS_TEXT = 130;

type Path = Issue['path'];

/**
 * A failed validation in a line or two that a model can act on: which field, what was expected, what came, and which
 * fields exist. The JSON Schema says what is wrong; what only the library sees (a refinement) is told in its words.
 */
export function explain(issues: readonly Issue[], compiled: CompiledSchema, value: unknown): string {
  const { document, io } = compiled;
  // What coercion has already made right is not a problem to report.
  const seen = io === 'input' ? coerce(document, value).value : value;
  // A plain schema has found its problems already; matching a slow pattern once more would double the harm.
  const found = compiled.plain ? issues : findProblems(document, seen);
  const unseen = issues.filter((issue) => !found.some((problem) => related(problem.path, issue.path)));
  const problems = inFieldOrder(
    [...found, ...unseen, ...misspelt(document, seen, found)],
    fieldNames(placesAt(document, [], seen)),
  );
  if (problems.length === 0) return 'The value does not match the schema.';
  const parent = problems[0]?.path.slice(0, -1) ?? [];
  const names = fieldNames(placesAt(document, parent, seen));
  return `${listProblems(problems)}${listFields(parent, names)}`;
}

/**
 * Fields that the schema lets pass, although their names are nearly those of required fields that are missing. Libraries
 * that drop unknown fields would otherwise only say that something is missing that is there, misspelt.
 */
function misspelt(document: SchemaDocument, value: unknown, found: readonly Issue[]): readonly Issue[] {
  const reported = new Set(found.map(({ path }) => JSON.stringify(path)));
  const told: Issue[] = [];
  for (const { path, message } of found) {
    const name = path.at(-1);
    if (typeof name !== 'string' || !message.startsWith('required')) continue;
    const parent = path.slice(0, -1);
    const holder = valueAt(value, parent);
    if (typeof holder !== 'object' || holder === null) continue;
    const known = fieldNames(placesAt(document, parent, value));
    const others = Object.keys(holder)
      .filter((key) => !known.includes(key))
      .slice(0, MAX_UNKNOWN);
    for (const other of others) {
      const at = [...parent, other];
      if (reported.has(JSON.stringify(at)) || closestName(other, [name]) === undefined) continue;
      reported.add(JSON.stringify(at));
      told.push({ path: at, message: `unknown field, did you mean ${JSON.stringify(name)}?` });
    }
  }
  return told;
}

function listProblems(problems: readonly Issue[]): string {
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
  const joined = texts.join('; ');
  return /[.?!]$/.test(joined) ? joined : `${joined}.`;
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

/** `address.lines[0]`, and `["odd name"]` where a dot would mislead. */
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

function related(a: Path, b: Path): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.every((key, i) => key === long[i]);
}

/** The validator reports missing fields first; people and models read in the order of the schema. */
function inFieldOrder(problems: readonly Issue[], names: readonly string[]): readonly Issue[] {
  const order = new Map(names.map((name, i) => [name as string | number, i]));
  const rank = ({ path: [first] }: Issue): number =>
    first === undefined ? -1 : (order.get(first) ?? names.length);
  return [...problems].sort((a, b) => rank(a) - rank(b));
}
