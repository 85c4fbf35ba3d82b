// Finds the branch of a union that a value was meant for.

import { type AllowedTypes, bitOf } from '../document/json-types.js';
import type { SchemaDocument, SchemaNode } from '../document/nodes.js';
import { isPlainObject } from '../document/plain-json.js';

type Branch = SchemaNode | boolean;

/**
 * Returns the index of the only branch of an `anyOf` or `oneOf` that a value can be meant for, or undefined if there are
 * several. Types and constants (a discriminator) decide first, then required fields. A branch is ruled out only if it surely
 * rejects the value.
 */
export function onlyCandidate(
  document: SchemaDocument,
  branches: readonly Branch[],
  { allowedTypes, value }: { readonly allowedTypes: AllowedTypes; readonly value: unknown },
): number | undefined {
  const possible = [...branches.keys()].filter((i) => fits(branches[i] ?? true));
  if (possible.length === 1) return possible[0];
  const complete = possible.filter((i) => hasRequired(document, branches[i] ?? true, value));
  return complete.length === 1 ? complete[0] : undefined;

  function fits(branch: Branch): boolean {
    if (typeof branch === 'boolean') return true;
    if ((allowedTypes(branch) & bitOf(value)) === 0 || branch.not === true) return false;
    if (rejectsLiteral(document, branch, value)) return false;
    if (branch.$ref !== undefined && !fits(document.target(branch.$ref))) return false;
    if (branch.allOf !== undefined && !branch.allOf.every(fits)) return false;
    if (!isPlainObject(value)) return true;
    return Object.entries(branch.properties ?? {}).every(
      ([name, field]) => !Object.hasOwn(value, name) || !rejectsLiteral(document, field, value[name]),
    );
  }
}

/** The values that a `const` or `enum` allows, directly or through a `$ref`. */
export function literalsOf(document: SchemaDocument, schema: Branch): readonly unknown[] | undefined {
  if (typeof schema === 'boolean') return undefined;
  if (Object.hasOwn(schema, 'const')) return [schema.const];
  if (schema.enum !== undefined) return schema.enum;
  return schema.$ref === undefined ? undefined : literalsOf(document, document.target(schema.$ref));
}

function rejectsLiteral(document: SchemaDocument, schema: Branch, value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return false; // would need a deep comparison
  const literals = literalsOf(document, schema);
  return literals !== undefined && !literals.includes(value);
}

function hasRequired(document: SchemaDocument, schema: Branch, value: unknown): boolean {
  if (typeof schema === 'boolean' || !isPlainObject(value)) return true;
  if (schema.required?.some((name) => !Object.hasOwn(value, name))) return false;
  if (schema.$ref !== undefined && !hasRequired(document, document.target(schema.$ref), value)) return false;
  return (schema.allOf ?? []).every((part) => hasRequired(document, part, value));
}
