// Explains why a value does not fit a union.

import { literalsOf, onlyCandidate } from '../check/branches.js';
import type { Issue } from '../check/issue.js';
import { allowedTypesOf } from '../document/json-types.js';
import type { SchemaDocument, SchemaNode } from '../document/nodes.js';
import { isPlainObject } from '../document/plain-json.js';
import { alternatives, choice, clip, describeValue, expectation } from './expectation.js';

type Branch = SchemaNode | boolean;

interface FailedUnion {
  readonly branches: readonly Branch[];
  /** The number of branches that accepted the value: none, or more than one for a `oneOf`. */
  readonly matches: number;
  /** The indexes of the branches that rejected the value. */
  readonly failures: ReadonlySet<number>;
  readonly value: unknown;
}

/**
 * Says briefly why a value does not fit a union. Returns the index of the branch that the value was meant for, if that is
 * clear, so that the caller reports the problems of that branch; otherwise one issue, with a path relative to the union.
 */
export function unionProblems(document: SchemaDocument, union: FailedUnion): number | Issue {
  const { branches, matches, failures, value } = union;
  if (matches > 1) {
    return { path: [], message: `fits ${matches} of ${branches.length} alternatives, must fit exactly one` };
  }
  const allowedTypes = allowedTypesOf(document);
  const candidate = onlyCandidate(document, branches, { allowedTypes, value });
  if (candidate !== undefined && failures.has(candidate)) return candidate;
  const simple = alternatives(branches.map((branch) => expectation(document, branch)));
  if (!isPlainObject(value)) {
    const expected = simple ?? `one of ${branches.length} alternatives`;
    return { path: [], message: `expected ${expected}, got ${describeValue(value)}` };
  }
  return (
    discriminatorProblem(document, branches, value) ?? {
      path: [],
      message: describeShapes(document, branches),
    }
  );
}

/** The problem with the field that tells the branches apart, if each branch has its own constants for it. */
function discriminatorProblem(
  document: SchemaDocument,
  branches: readonly Branch[],
  value: Readonly<Record<string, unknown>>,
): Issue | undefined {
  const fields = branches.map((branch) => fieldsOf(document, branch));
  for (const name of fields[0]?.keys() ?? []) {
    const literals = fields.map((own) => literalsOf(document, own.get(name) ?? true));
    if (literals.includes(undefined)) continue;
    const values = [...new Set(literals.flatMap((own) => own ?? []))];
    if (!Object.hasOwn(value, name))
      return { path: [name], message: `required (${choice(values)}), missing` };
    if (!values.includes(value[name])) {
      return { path: [name], message: `expected ${choice(values)}, got ${describeValue(value[name])}` };
    }
  }
  return undefined;
}

const MAX_SHAPES = 4;

/** Describes branches by the fields that each requires: `fits none of 2 alternatives: { city } or { latitude, longitude }`. */
function describeShapes(document: SchemaDocument, branches: readonly Branch[]): string {
  const descriptions = branches.slice(0, MAX_SHAPES).map((branch) => {
    const names = requiredOf(document, branch);
    const words = expectation(document, branch) ?? 'another shape';
    return names.length === 0 ? words : clip(`{ ${names.join(', ')} }`);
  });
  if (branches.length > MAX_SHAPES) descriptions.push(`${branches.length - MAX_SHAPES} more`);
  return `fits none of ${branches.length} alternatives: ${descriptions.join(' or ')}`;
}

function fieldsOf(document: SchemaDocument, branch: Branch): ReadonlyMap<string, Branch> {
  const nodes = parts(document, branch);
  return new Map(nodes.flatMap((node) => Object.entries(node.properties ?? {})));
}

function requiredOf(document: SchemaDocument, branch: Branch): readonly string[] {
  return [...new Set(parts(document, branch).flatMap((node) => node.required ?? []))];
}

/** A branch, the target of its reference, and the parts of its `allOf`. */
function parts(document: SchemaDocument, branch: Branch): readonly SchemaNode[] {
  if (typeof branch === 'boolean') return [];
  const target = branch.$ref === undefined ? [] : parts(document, document.target(branch.$ref));
  return [branch, ...target, ...(branch.allOf ?? []).flatMap((part) => parts(document, part))];
}
