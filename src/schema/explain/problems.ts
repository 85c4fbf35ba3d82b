// Turns the validator's findings into problems that a person or a model can read.

import type { Issue } from '../check/issue.js';
import { fieldNames, placesAt, typedPath, valueAt } from '../check/places.js';
import { type Finding, findings } from '../check/validator.js';
import type { SchemaDocument, SchemaNode } from '../document/nodes.js';
import { closestName } from './closest-name.js';
import { expectation } from './expectation.js';
import { sentence } from './sentences.js';
import { unionProblems } from './unions.js';

/** The most problems that are found. Each costs a search for similar names, and the explanation shows only five. */
export const MAX_ISSUES = 25;

/** Finds the problems of a value, one for each cause, at most `MAX_ISSUES`. Empty if the JSON Schema accepts the value. */
export function findProblems(
  document: SchemaDocument,
  value: unknown,
  all: readonly Finding[] = findings(document, value),
): readonly Issue[] {
  const problems = new Map<string, Issue>();

  function add(path: readonly (string | number)[], message: string): void {
    problems.set(`${JSON.stringify(path)} ${message}`, { path, message });
  }

  function collect(list: readonly Finding[]): void {
    for (let i = 0; i < list.length && problems.size < MAX_ISSUES; i++) {
      const finding = list[i] as Finding;
      if (finding.keyword !== 'anyOf' && finding.keyword !== 'oneOf') {
        describe(finding);
        continue;
      }
      const inside = insideOf(list, i);
      i += inside.length;
      const path = typedPath(value, finding.path);
      const { node } = locate(document, finding);
      const branches = (node[finding.keyword] ?? []) as readonly (SchemaNode | boolean)[];
      const failures = failedBranches(finding, inside);
      const union = unionProblems(document, {
        branches,
        matches: finding.keyword === 'anyOf' ? 0 : branches.length - failures.size,
        failures,
        value: valueAt(value, path),
      });
      if (typeof union === 'number') collect(inside.filter((one) => branchOf(finding, one) === union));
      else add([...path, ...union.path], union.message);
    }
  }

  function describe(finding: Finding): void {
    const { node, via } = locate(document, finding);
    if (via === 'contains') return;
    const path = typedPath(value, finding.path);
    const current = valueAt(value, path);
    if (via === 'propertyNames') {
      const name = path.at(-1);
      const words = sentence(document, node, { keyword: finding.keyword, value: name });
      if (words !== undefined) add(path, `the field's name ${words}`);
    } else if (finding.keyword === 'required') {
      const names = missingNames(node.required, current).slice(0, MAX_ISSUES);
      for (const name of names) add([...path, name], requiredMessage([...path, name]));
    } else if (finding.keyword === 'dependentRequired' || finding.keyword === 'dependencies') {
      for (const [name, dependents] of Object.entries(node[finding.keyword] ?? {})) {
        if (!Array.isArray(dependents) || missingNames([name], current).length > 0) continue;
        for (const other of missingNames(dependents, current)) {
          add([...path, other], `required when ${JSON.stringify(name)} is given, missing`);
        }
      }
    } else if (finding.keyword === 'not' && isNever(node)) {
      add(path, unexpectedMessage(path));
    } else {
      const words = sentence(document, node, { keyword: finding.keyword, value: current });
      if (words !== undefined) add(path, words);
    }
  }

  function requiredMessage(path: readonly (string | number)[]): string {
    const words = placesAt(document, path, value).map((place) => expectation(document, place));
    const expected = words.find((word) => word !== undefined);
    return expected === undefined ? 'required, missing' : `required (${expected}), missing`;
  }

  function unexpectedMessage(path: readonly (string | number)[]): string {
    const name = path.at(-1);
    if (typeof name !== 'string') return name === undefined ? 'no value is allowed' : 'one item too many';
    const names = fieldNames(placesAt(document, path.slice(0, -1), value));
    if (names.includes(name)) return 'this field is not allowed here';
    const close = closestName(name, names);
    return close === undefined ? 'unknown field' : `unknown field, did you mean ${JSON.stringify(close)}?`;
  }

  collect(all);
  return [...problems.values()];
}

function missingNames(names: readonly string[] | undefined, value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return (names ?? []).filter((name) => !Object.hasOwn(value, name));
}

/** Whether a node rejects every value: `false` in normal form, or `{ not: {} }`, which libraries write instead. */
function isNever(node: SchemaNode): boolean {
  return node.not === true || (typeof node.not === 'object' && Object.keys(node.not).length === 0);
}

/** The findings inside the branches of the union at an index. They directly follow the finding of the union. */
function insideOf(list: readonly Finding[], index: number): readonly Finding[] {
  const union = list[index] as Finding;
  const outside = list.findIndex((finding, i) => i > index && branchOf(union, finding) === undefined);
  return list.slice(index + 1, outside === -1 ? list.length : outside);
}

function failedBranches(union: Finding, inside: readonly Finding[]): ReadonlySet<number> {
  return new Set(inside.map((finding) => branchOf(union, finding) ?? -1));
}

function branchOf(union: Finding, finding: Finding): number | undefined {
  const index = finding.schemaPath[union.schemaPath.length];
  if (index === undefined || !startsWith(finding.schemaPath, union.schemaPath)) return undefined;
  return startsWith(finding.path, union.path) ? Number(index) : undefined;
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
  return start.every((token, i) => path[i] === token);
}

const MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  'dependencies',
]);

/** Follows the path of a finding through the schema, to the node that has the keyword. */
function locate(document: SchemaDocument, finding: Finding): { node: SchemaNode; via: string } {
  let node: unknown = document.root;
  let via = '';
  const steps = finding.schemaPath.slice(0, -1);
  for (let i = 0; i < steps.length; i++) {
    const keyword = steps[i] ?? '';
    const next: unknown = (node as SchemaNode)[keyword];
    if (keyword === '$ref') node = document.target(String(next));
    else if (Array.isArray(next) || MAPS.has(keyword))
      node = (next as Record<string, unknown>)[steps[++i] ?? ''];
    else node = next;
    if (keyword === 'contains' || keyword === 'propertyNames') via = keyword;
  }
  return { node: node as SchemaNode, via };
}
