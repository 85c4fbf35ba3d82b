// Tools as lines of TypeScript, for models that write programs: the arguments, the result, and what the tool does.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { ListedTool } from '../../protocol/model/model.js';
import type { FoundTools } from '../../protocol/model/search/search-tools.js';
import { RETURNS_HANDLE } from '../../protocol/tables/meta-keys.js';
import { type Shape, type ShapeField, shapeOf } from '../../schema/read/shape.js';

/** Deeper objects are `object`. */
const MAX_DEPTH = 4;
/** The types of one schema. A schema that refers to itself many times would have no end. */
const MAX_PARTS = 400;
const MAX_FIELDS = 60;
const MAX_CHOICES = 20;
const MAX_DESCRIPTION = 300;
const MAX_FIELD_COMMENT = 80;
/** An object type that occurs twice gets a name if that is shorter. */
const LEAST_NAMED = 40;
const IDENTIFIER = /^[A-Za-z_$][\w$]{0,127}$/;

/** The result of a search as declarations: one line for each tool, below the types that several of them use. */
export function declarationsOf({ tools, hint }: FoundTools): string {
  const objects = new Map<string, { readonly title: unknown; count: number }>();
  const note: NoteObject = (text, title) => {
    const known = objects.get(text);
    if (known === undefined) objects.set(text, { title, count: 1 });
    else known.count++;
  };
  const lines = tools.map((tool) => declarationOf(tool, note)).join('\n');
  return [...namedTypes(lines, objects), ...(hint === undefined ? [] : [hint])].join('\n');
}

type NoteObject = (text: string, title: unknown) => void;

/** Gives names to the object types that occur more than once, the longest first: shorter ones may be inside of them. */
function namedTypes(
  lines: string,
  objects: ReadonlyMap<string, { readonly title: unknown; readonly count: number }>,
): readonly string[] {
  const repeated = [...objects]
    .filter(([text, { count }]) => count > 1 && text.length >= LEAST_NAMED)
    .sort(([one], [other]) => other.length - one.length);
  const types: string[] = [];
  const taken = new Set<string>();
  let rest = lines;
  for (const [text, { title }] of repeated) {
    if (rest.split(text).length < 3) continue;
    const name = nameOf(title, taken);
    taken.add(name);
    rest = rest.replaceAll(text, name);
    types.push(`type ${name} = ${text};`);
  }
  return [...types, rest];
}

function nameOf(title: unknown, taken: ReadonlySet<string>): string {
  const wish = typeof title === 'string' && /^[A-Z]\w{1,39}$/.test(title) ? title : 'T';
  let name = wish;
  for (let at = 1; taken.has(name) || name === 'T'; at++) name = `${wish}${at}`;
  return name;
}

/** A tool as a line: `tools.remind({ id: string }): Promise<…>; // Sends a reminder`. */
function declarationOf(tool: ListedTool, note: NoteObject = () => undefined): string {
  const { name, description, inputSchema, annotations } = tool;
  const outputSchema = valueSchemaOf(tool);
  const place = IDENTIFIER.test(name) ? `tools.${name}` : `tools[${JSON.stringify(name)}]`;
  const input = typeOf(inputSchema, note);
  const args = input === '{}' || input === 'object' ? '' : input;
  const result = outputSchema === undefined ? 'unknown' : typeOf(outputSchema, note);
  const words = [
    ...(typeof description === 'string' ? [line(description, MAX_DESCRIPTION)] : []),
    ...(annotations?.readOnlyHint === true
      ? []
      : [annotations?.destructiveHint === false ? '[changes]' : '[may delete]']),
  ];
  return `${place}(${args}): ${result};${words.length > 0 ? ` // ${words.join(' ')}` : ''}`;
}

/** The schema of the value that a program gets. A handle is for models. */
function valueSchemaOf({ outputSchema, _meta }: ListedTool): JsonObject | undefined {
  const returned = _meta?.[RETURNS_HANDLE];
  if (!isObject(returned)) return outputSchema;
  return isObject(returned['value']) ? returned['value'] : undefined;
}

interface Place {
  readonly root: JsonObject;
  readonly depth: number;
  readonly parts: { left: number };
  /** The references that lead here. */
  readonly references: ReadonlySet<string>;
  readonly note: NoteObject;
}

function typeOf(schema: Readonly<JsonObject>, note: NoteObject): string {
  return typeAt(schema, { root: schema, depth: 0, parts: { left: MAX_PARTS }, references: new Set(), note });
}

function typeAt(schema: unknown, place: Place): string {
  const shape = shapeOf(schema, place.root);
  const repeats = [...shape.references].some((reference) => place.references.has(reference));
  if (place.parts.left-- <= 0 || repeats) return 'unknown';
  const references = new Set([...place.references, ...shape.references]);
  const type = typeOfShape(shape, { ...place, references, depth: place.depth + 1 });
  return shape.isNullable && shape.kind !== 'null' && type !== 'unknown' ? `${type} | null` : type;
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
    case 'any':
      return 'unknown';
    case 'const':
      return literal(shape.value);
    case 'choice':
      return shape.isCut || shape.options.length > MAX_CHOICES
        ? 'string'
        : union(shape.options.map(({ value }) => literal(value)));
    case 'union':
      return shape.isCut || inner.depth > MAX_DEPTH
        ? 'unknown'
        : union(shape.branches.slice(0, MAX_CHOICES).map((branch) => typeAt(branch, inner)));
    case 'map':
      return inner.depth > MAX_DEPTH ? 'object' : mapType(typeAt(shape.values, inner));
    case 'array':
      return arrayOf(typeAt(shape.items, inner));
    case 'tuple':
      return `[${shape.first
        .slice(0, MAX_FIELDS)
        .map((item) => typeAt(item, inner))
        .join(', ')}]`;
    case 'object':
      return objectType(shape, inner);
    default:
      return shape satisfies never;
  }
}

function mapType(values: string): string {
  return values === 'unknown' ? 'object' : `Record<string, ${values}>`;
}

function objectType({ fields, schema }: Shape & { readonly kind: 'object' }, inner: Place): string {
  if (fields.length === 0) return '{}';
  if (inner.depth > MAX_DEPTH) return 'object';
  const shown = fields.slice(0, MAX_FIELDS).map((field) => fieldOf(field, inner));
  const text = `{ ${[...shown, ...(fields.length > MAX_FIELDS ? ['…'] : [])].join('; ')} }`;
  inner.note(text, schema['title']);
  return text;
}

function fieldOf({ name, schema, isRequired }: ShapeField, inner: Place): string {
  const label = IDENTIFIER.test(name) ? name : JSON.stringify(name);
  return `${label}${isRequired ? '' : '?'}: ${typeAt(schema, inner)}${commentOf(shapeOf(schema, inner.root), inner)}`;
}

/** Adds to a type the format, the default and, for the arguments themselves, the description. */
function commentOf({ schema }: Shape, { depth }: Place): string {
  const { format, default: value, description } = schema;
  const words = [
    ...(typeof format === 'string' ? [line(format, 20)] : []),
    ...(value !== undefined && value !== null ? [`default ${line(literalText(value), 30)}`] : []),
    ...(depth === 1 && typeof description === 'string' ? [line(description, MAX_FIELD_COMMENT)] : []),
  ];
  return words.length === 0 ? '' : ` /* ${words.join(', ')} */`;
}

function literal(value: unknown): string {
  const isPlain = value === null || ['string', 'number', 'boolean'].includes(typeof value);
  return isPlain ? line(literalText(value), 80) : 'unknown';
}

function literalText(value: unknown): string {
  return JSON.stringify(value) ?? 'undefined';
}

function union(types: readonly string[]): string {
  const all = [...new Set(types)];
  return all.includes('unknown') || all.length === 0 ? 'unknown' : all.join(' | ');
}

function arrayOf(item: string): string {
  return item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
}

/** A string on one line. It may come from another server: it must not end the comment that it is in. */
function line(text: string, limit: number): string {
  const plain = text
    .replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll('*/', '* /')
    .trim();
  return plain.length <= limit ? plain : `${plain.slice(0, limit - 1)}…`;
}
