// The kind of field that the values of a schema get in a form.

import type { JsonObject } from '../../src/jsonrpc/message.js';
import { typesOf } from '../../src/schema/read/resolve.js';
import { type Shape, shapeOf } from '../../src/schema/read/shape.js';

export type FieldKind =
  | 'text'
  | 'number'
  | 'boolean'
  | 'choice'
  | 'choices'
  | 'const'
  | 'object'
  | 'array'
  | 'map'
  | 'union'
  | 'json';

const MAX_BRANCHES = 30;

/** The kind of field for a shape. An editor for JSON is for everything that a form cannot show better. */
export function fieldKind(shape: Shape, root: JsonObject): FieldKind {
  switch (shape.kind) {
    case 'string':
      return 'text';
    case 'array':
      if (shape.items === undefined) return 'json';
      return shapeOf(shape.items, root).kind === 'choice' ? 'choices' : 'array';
    case 'union': {
      const hasTypes = typesOf(shape.schema).filter((type) => type !== 'null').length > 1;
      return hasTypes || shape.branches.length > MAX_BRANCHES ? 'json' : 'union';
    }
    case 'any':
    case 'never':
    case 'null':
    case 'tuple':
      return 'json';
    default:
      return shape.kind;
  }
}
