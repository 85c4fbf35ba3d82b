// The values that a form begins with: defaults, examples, the first of the choices. Only what is required is invented.

import type { JsonObject } from '../../src/jsonrpc/message.js';
import { type Shape, shapeOf } from '../../src/schema/read/shape.js';
import { fieldKind } from './field-kind.js';

const MAX_DEPTH = 8;
const MAX_FIELDS = 500;

/** A value for a schema; undefined where nothing is known. */
export function initialValue(schema: unknown, root: JsonObject): unknown {
  return begin(schema, true, { root, depth: 0, budget: { left: MAX_FIELDS } });
}

/** The arguments that the form of a tool begins with. */
export function initialArguments(schema: JsonObject): JsonObject {
  return (initialValue(schema, schema) ?? {}) as JsonObject;
}

interface Place {
  readonly root: JsonObject;
  readonly depth: number;
  readonly budget: { left: number };
}

function begin(given: unknown, isRequired: boolean, place: Place): unknown {
  if (place.depth > MAX_DEPTH || place.budget.left-- < 0) return undefined;
  const shape = shapeOf(given, place.root);
  const { schema } = shape;
  if (Object.hasOwn(schema, 'default')) return copied(schema['default']);
  const examples = schema['examples'];
  if (isRequired && Array.isArray(examples) && examples.length > 0) return copied(examples[0]);
  if (isRequired && Object.hasOwn(schema, 'example')) return copied(schema['example']);
  if (!isRequired && shape.kind !== 'object') return undefined;
  return invented(shape, isRequired, place);
}

function invented(shape: Shape, isRequired: boolean, place: Place): unknown {
  const kind = fieldKind(shape, place.root);
  if (kind === 'json') return undefined;
  if (kind === 'choices') return [];
  const inner = { ...place, depth: place.depth + 1 };
  switch (shape.kind) {
    case 'const':
      return shape.value;
    case 'choice':
      return shape.options[0]?.value;
    case 'object': {
      const fields = shape.fields
        .map((field) => [field.name, begin(field.schema, isRequired && field.isRequired, inner)] as const)
        .filter(([, value]) => value !== undefined);
      if (!isRequired && fields.length === 0) return undefined;
      return Object.fromEntries(fields);
    }
    case 'union':
      return begin(shape.branches[0], isRequired, inner);
    case 'array': {
      const least = Number(shape.schema['minItems'] ?? 0);
      const count = Math.min(Math.max(0, Number.isFinite(least) ? least : 0), 5);
      return Array.from({ length: count }, () => begin(shape.items, true, inner) ?? null);
    }
    case 'map':
      return {};
    default:
      return undefined;
  }
}

/** Defaults belong to the catalog, which nobody may change. */
function copied(value: unknown): unknown {
  return typeof value === 'object' ? structuredClone(value) : value;
}
