// Limits the work that the references of a schema can cause.

import type { SchemaDocument, SchemaNode } from './nodes.js';
import { SchemaError } from './schema-error.js';

/**
 * Rejects schemas whose references loop without descending into the value (`{ $ref: "#" }` would never end) or multiply
 * exponentially: twenty definitions that each mention the next one twice are a million checks of one value.
 */
export function assertExpands(document: SchemaDocument, maxDepth: number, maxChecks: number): void {
  const checks = new Map<SchemaNode, number>();
  const open = new Set<SchemaNode>();

  function expand(schema: SchemaNode | boolean): number {
    if (typeof schema === 'boolean') return 1;
    const cached = checks.get(schema);
    if (cached !== undefined) return cached;
    if (open.has(schema)) {
      throw new SchemaError(
        'The schema refers to itself without going into a property or an item, so checking it would never end; correct the "$ref".',
      );
    }
    if (open.size >= maxDepth) {
      throw new SchemaError(
        `The schema has more than ${maxDepth} references or combinations in a row; simplify it.`,
      );
    }
    open.add(schema);
    let count = 1;
    for (const part of inPlace(document, schema)) count += expand(part);
    open.delete(schema);
    if (count > maxChecks) {
      throw new SchemaError(
        `The schema's references multiply to more than ${maxChecks} checks of one value; simplify them.`,
      );
    }
    checks.set(schema, count);
    return count;
  }

  expand(document.root);
  for (const node of Object.values(document.targets)) expand(node);
}

/** The subschemas that apply to the same value as the node itself. */
function inPlace(document: SchemaDocument, node: SchemaNode): readonly (SchemaNode | boolean)[] {
  const parts: (SchemaNode | boolean)[] = [
    ...(node.allOf ?? []),
    ...(node.anyOf ?? []),
    ...(node.oneOf ?? []),
  ];
  if (node.$ref !== undefined) parts.push(document.target(node.$ref));
  for (const keyword of ['not', 'if', 'then', 'else']) {
    if (node[keyword] !== undefined) parts.push(node[keyword] as SchemaNode | boolean);
  }
  for (const keyword of ['dependentSchemas', 'dependencies']) {
    for (const part of Object.values(node[keyword] ?? {})) if (!Array.isArray(part)) parts.push(part);
  }
  return parts;
}
