import { literalsOf, onlyCandidate } from '../check/branches.js';
import type { Issue } from '../check/issue.js';
import { allowedTypesOf } from '../document/json-types.js';
import type { SchemaDocument, SchemaNode } from '../document/nodes.js';
import { isPlainObject } from '../document/plain-json.js';
import { alternatives, choice, clip, expectation, shown } from './expectation.js';

type Branch = SchemaNode | boolean;

interface FailedUnion {
  readonly branches: readonly Branch[];
  /** How many branches accepted the value: none, or for a `oneOf` too many. */
  readonly matches: number;
  readonly failed: ReadonlySet<number>;
  readonly value: unknown;
}

/**
 * Says briefly why no alternative of a union fits. The answer is the index of the branch that was meant, when the
 * value shows it, so that its own problems are told; else one issue, its path relative to the union.
 */
export function unionProblems(document: SchemaDocument, union: FailedUnion): number | Issue {
  const { branches, matches, failed, value } = union;
  if (matches > 1) {
    return { path: [], message: `fits ${matches} of ${branches.length} alternatives, must fit exactly one` };
  }
  const allowed = allowedTypesOf(document);
  const meant = onlyCandidate(document, branches, { allowed, value });
  if (meant !== undefined && failed.has(meant)) return meant;
  const simple = alternatives(branches.map((branch) => expectation(document, branch)));
  if (!isPlainObject(value)) {
    const wanted = simple ?? `one of ${branches.length} alternatives`;
    return { path: [], message: `expected ${wanted}, got ${shown(value)}` };
  }
  return discriminatorProblem(document, branches, value) ?? { path: [], message: shapes(document, branches) };
}

/** The field that tells the branches apart, when each gives it constants of its own. */
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
      return { path: [name], message: `expected ${choice(values)}, got ${shown(value[name])}` };
    }
  }
  return undefined;
}

const MAX_SHAPES = 4;

/** `fits none of 2 alternatives: { city } or { latitude, longitude }`, by the fields each requires. */
function shapes(document: SchemaDocument, branches: readonly Branch[]): string {
  const described = branches.slice(0, MAX_SHAPES).map((branch) => {
    const names = requiredOf(document, branch);
    const words = expectation(document, branch) ?? 'another shape';
    return names.length === 0 ? words : clip(`{ ${names.join(', ')} }`);
  });
  if (branches.length > MAX_SHAPES) described.push(`${branches.length - MAX_SHAPES} more`);
  return `fits none of ${branches.length} alternatives: ${described.join(' or ')}`;
}

function fieldsOf(document: SchemaDocument, branch: Branch): ReadonlyMap<string, Branch> {
  const nodes = parts(document, branch);
  return new Map(nodes.flatMap((node) => Object.entries(node.properties ?? {})));
}

function requiredOf(document: SchemaDocument, branch: Branch): readonly string[] {
  return [...new Set(parts(document, branch).flatMap((node) => node.required ?? []))];
}

/** A branch with what it refers to and combines. */
function parts(document: SchemaDocument, branch: Branch): readonly SchemaNode[] {
  if (typeof branch === 'boolean') return [];
  const target = branch.$ref === undefined ? [] : parts(document, document.target(branch.$ref));
  return [branch, ...target, ...(branch.allOf ?? []).flatMap((part) => parts(document, part))];
}
