// Makes sure that the schema of an input describes an object.

import { allowedTypesOf, OBJECT } from './document/json-types.js';
import type { SchemaDocument, SchemaNode } from './document/nodes.js';
import type { JsonSchema } from './document/plain-json.js';
import { SchemaError } from './document/schema-error.js';
import { expectation } from './explain/expectation.js';

/**
 * Returns the schema with `type: "object"` at its root, which the protocol requires of a tool's input (Spec 2025-11-25,
 * Tools, `inputSchema`). Unions and intersections of objects have no `type` of their own, so it is added.
 */
export function withObjectRoot(json: JsonSchema, document: SchemaDocument): JsonSchema {
  if (json['type'] === 'object') return json;
  if (describesObject(document, document.root)) return { ...json, type: 'object' };
  const actual = expectation(document, document.root);
  throw new SchemaError(
    `The schema must describe an object ("type": "object" at its root)${actual === undefined ? '' : `, but it describes ${actual}`}; ` +
      'wrap it in an object with a named field.',
  );
}

const OBJECT_KEYWORDS = [
  'properties',
  'required',
  'additionalProperties',
  'patternProperties',
  'propertyNames',
];

function describesObject(document: SchemaDocument, root: SchemaNode): boolean {
  const allowedTypes = allowedTypesOf(document);

  function describes(schema: SchemaNode | boolean): boolean {
    if (typeof schema === 'boolean') return false;
    const types = allowedTypes(schema);
    if (types === OBJECT) return true;
    if ((types & OBJECT) === 0 || schema.type !== undefined) return false;
    if (OBJECT_KEYWORDS.some((keyword) => schema[keyword] !== undefined)) return true;
    if (schema.$ref !== undefined && describes(document.target(schema.$ref))) return true;
    if (schema.allOf?.some(describes)) return true;
    const branches = schema.anyOf ?? schema.oneOf;
    return branches !== undefined && branches.length > 0 && branches.every(describes);
  }
  return describes(root);
}
