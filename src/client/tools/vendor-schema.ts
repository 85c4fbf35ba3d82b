// Input schemas that the APIs of models accept: the root is an object with properties, and is not combined of several schemas.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { fieldsOf } from '../../schema/read/across-branches.js';

/** A schema whose root describes an object. */
export interface ObjectSchema extends JsonObject {
  /** Always `object`. */
  type: 'object';
  /** The schemas of the arguments, by name. */
  properties: JsonObject;
}

/**
 * The input schema of a tool for an API. If the root combines schemas, the properties of all of them are offered; only those that every
 * branch needs are required. The server still checks the arguments by its own schema.
 */
export function vendorSchema(schema: unknown): ObjectSchema {
  const root = isObject(schema) ? schema : {};
  const { $schema, $id, $ref, anyOf, oneOf, allOf, not, enum: _, required: __, ...kept } = root;
  const fields = fieldsOf(root, root);
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    ...kept,
    type: 'object',
    properties: Object.fromEntries(fields.map(({ name, schema: field }) => [name, field])),
    ...(required.length > 0 && { required }),
  };
}
