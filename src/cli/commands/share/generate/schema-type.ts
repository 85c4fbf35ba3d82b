// JSON Schema as a type of TypeScript. Anything that has no such type is `unknown`.

import { isObject, type JsonObject } from '../../../../jsonrpc/message.js';
import { type Shape, shapeOf } from '../../../../schema/read/shape.js';
import { docComment, keyText, literal } from './source-text.js';

const MAX_DEPTH = 12;
/** The parts of one schema. A schema that refers to itself many times would have no end. */
const MAX_PARTS = 5000;

/** The type that a schema describes. */
export function schemaType(schema: unknown, indent = ''): string {
  const root: JsonObject = isObject(schema) ? schema : {};
  let parts = 0;

  function typeOf(part: unknown, place: Place): string {
    if (place.depth > MAX_DEPTH || ++parts > MAX_PARTS) return 'unknown';
    const shape = shapeOf(part, root);
    // A type that contains itself would need a name, and ends as unknown instead.
    if ([...shape.references].some((reference) => place.references.has(reference))) return 'unknown';
    const references = new Set([...place.references, ...shape.references]);
    const type = typeOfShape(shape, { ...place, references, depth: place.depth + 1 });
    return shape.isNullable ? union([type, 'null']) : type;
  }

  /** The type of a shape whose parts are at `inner`. */
  function typeOfShape(shape: Shape, inner: Place): string {
    switch (shape.kind) {
      case 'string':
      case 'boolean':
      case 'number':
      case 'null':
      case 'never':
        return shape.kind;
      case 'const':
        return valueType(shape.value);
      case 'choice':
        return shape.isCut ? 'unknown' : union(shape.options.map(({ value }) => valueType(value)));
      case 'union':
        return shape.isCut ? 'unknown' : union(shape.branches.map((branch) => typeOf(branch, inner)));
      case 'array':
        return arrayOf(typeOf(shape.items, inner));
      case 'tuple':
        return tupleType(shape, inner);
      case 'map':
        return `Record<string, ${typeOf(shape.values, inner)}>`;
      case 'object':
        return objectType(shape, inner);
      case 'any':
        return 'unknown';
      default:
        return shape satisfies never;
    }
  }

  function tupleType({ first, rest }: Shape & { kind: 'tuple' }, inner: Place): string {
    const types = first.map((item) => typeOf(item, inner));
    return `[${[...types, ...(rest === false ? [] : [`...${arrayOf(typeOf(rest, inner))}`])].join(', ')}]`;
  }

  function objectType({ fields, rest }: Shape & { kind: 'object' }, inner: Place): string {
    if (fields.length === 0) return 'Record<string, never>';
    const indent = `${inner.indent}  `;
    const lines = fields.map(({ name, schema: field, isRequired }) => {
      const comment = docComment(shapeOf(field, root).schema['description'], indent);
      const type = typeOf(field, { ...inner, indent });
      return `${comment}${indent}${keyText(name)}${isRequired ? '' : '?'}: ${type};\n`;
    });
    const more = rest === true || isObject(rest) ? `${indent}[name: string]: unknown;\n` : '';
    return `{\n${lines.join('')}${more}${inner.indent}}`;
  }

  return typeOf(schema, { depth: 0, indent, references: new Set() });
}

interface Place {
  readonly depth: number;
  readonly indent: string;
  /** The references that lead here. */
  readonly references: ReadonlySet<string>;
}

function valueType(value: unknown): string {
  const isPlain = value === null || ['string', 'number', 'boolean'].includes(typeof value);
  return isPlain ? literal(value) : 'unknown';
}

function union(types: readonly string[]): string {
  const all = [...new Set(types)];
  if (all.includes('unknown') || all.length === 0) return 'unknown';
  return all.length === 1 ? (all[0] as string) : `(${all.join(' | ')})`;
}

function arrayOf(item: string): string {
  return `readonly (${item})[]`;
}
