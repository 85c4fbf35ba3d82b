// JSON Schema as a type of TypeScript. Anything that has no such type is `unknown`.

import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { docComment, keyText, literal } from './source-text.js';

const MAX_DEPTH = 12;
/** The parts of one schema. A schema that refers to itself many times would have no end. */
const MAX_PARTS = 5000;

/** The type that a schema describes. */
export function schemaType(schema: unknown, indent = ''): string {
  const root = isObject(schema) ? schema : {};
  let parts = 0;

  function typeOf(part: unknown, place: Place): string {
    if (part === false) return 'never';
    if (!isObject(part) || place.depth > MAX_DEPTH || ++parts > MAX_PARTS) return 'unknown';
    const type = plainType(part, { ...place, depth: place.depth + 1 });
    return part['nullable'] === true && type !== 'unknown' ? union([type, 'null']) : type;
  }

  function plainType(part: JsonObject, place: Place): string {
    const { $ref, const: constant, enum: values, anyOf, oneOf, allOf, type } = part;
    if (typeof $ref === 'string') return referenced($ref, place);
    if (constant !== undefined) return valueType(constant);
    if (Array.isArray(values)) return union(values.map(valueType));
    const choices = Array.isArray(anyOf) ? anyOf : oneOf;
    if (Array.isArray(choices)) return union(choices.map((one) => typeOf(one, place)));
    if (Array.isArray(allOf) && type === undefined)
      return intersection(allOf.map((one) => typeOf(one, place)));
    if (Array.isArray(type))
      return union(type.map((one) => typeOf({ ...part, type: one, nullable: false }, place)));
    return namedType(part, place);
  }

  function namedType(part: JsonObject, place: Place): string {
    switch (part['type']) {
      case 'string':
      case 'boolean':
      case 'null':
        return part['type'];
      case 'number':
      case 'integer':
        return 'number';
      case 'array':
        return arrayType(part, place);
      case 'object':
        return objectType(part, place);
      default:
        return isObject(part['properties']) ? objectType(part, place) : 'unknown';
    }
  }

  function arrayType({ items, prefixItems }: JsonObject, place: Place): string {
    const item = items === undefined ? 'unknown' : typeOf(items, place);
    if (!Array.isArray(prefixItems)) return arrayOf(item);
    const first = prefixItems.map((one) => typeOf(one, place));
    return `[${[...first, ...(items === false ? [] : [`...${arrayOf(item)}`])].join(', ')}]`;
  }

  function objectType(part: JsonObject, place: Place): string {
    const fields = Object.entries(isObject(part['properties']) ? part['properties'] : {});
    const more = part['additionalProperties'];
    if (fields.length === 0) {
      if (more === false) return 'Record<string, never>';
      return `Record<string, ${more === undefined ? 'unknown' : typeOf(more === true ? {} : more, place)}>`;
    }
    const required = new Set(Array.isArray(part['required']) ? part['required'] : []);
    const inner = `${place.indent}  `;
    const lines = fields.map(([name, field]) => {
      const comment = docComment(isObject(field) ? field['description'] : undefined, inner);
      const type = typeOf(field, { ...place, indent: inner });
      return `${comment}${inner}${keyText(name)}${required.has(name) ? '' : '?'}: ${type};\n`;
    });
    const rest = more === true || isObject(more) ? `${inner}[name: string]: unknown;\n` : '';
    return `{\n${lines.join('')}${rest}${place.indent}}`;
  }

  // A type that contains itself would need a name, and ends as unknown instead.
  function referenced(ref: string, place: Place): string {
    if (place.refs.includes(ref)) return 'unknown';
    return typeOf(resolve(root, ref), { ...place, refs: [...place.refs, ref] });
  }

  return typeOf(schema, { depth: 0, indent, refs: [] });
}

interface Place {
  readonly depth: number;
  readonly indent: string;
  /** The references that lead here. */
  readonly refs: readonly string[];
}

/** The part that a reference such as `#/$defs/item` means. Only the schema itself is searched. */
function resolve(root: JsonObject, ref: string): unknown {
  if (ref === '#') return root;
  if (!ref.startsWith('#/')) return undefined;
  let part: unknown = root;
  for (const step of ref.slice(2).split('/')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(part)) part = part[Number(name)];
    else part = isObject(part) && Object.hasOwn(part, name) ? part[name] : undefined;
  }
  return part;
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

function intersection(types: readonly string[]): string {
  const all = [...new Set(types)].filter((type) => type !== 'unknown');
  if (all.length === 0) return 'unknown';
  return all.length === 1 ? (all[0] as string) : `(${all.join(' & ')})`;
}

function arrayOf(item: string): string {
  return `readonly (${item})[]`;
}
