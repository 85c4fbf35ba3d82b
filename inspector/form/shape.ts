// Finds the kind of field that a schema needs. A schema is a server's text: everything is read with care, and references are followed only so far.

import type { JsonObject } from '../../src/jsonrpc/message.js';

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

export interface Option {
  readonly value: unknown;
  readonly label: string;
}

export interface Shape {
  readonly kind: FieldKind;
  readonly schema: JsonObject;
  readonly isNullable: boolean;
  readonly isInteger: boolean;
  readonly options: readonly Option[];
  /** The schemas of a union. */
  readonly branches: readonly JsonObject[];
}

const MAX_REFERENCES = 20;
const MAX_OPTIONS = 1000;
const MAX_BRANCHES = 30;
const MAX_DEPTH = 5;

interface Place {
  readonly root: JsonObject;
  readonly depth: number;
}

// A form asks for the same shapes with every letter that is typed.
const known = new WeakMap<JsonObject, WeakMap<JsonObject, Shape>>();

/** The shape of a schema, whose references point into `root`. */
export function shapeOf(given: unknown, root: JsonObject, depth = 0): Shape {
  if (!isObject(given) || depth > 0) return readShape(given, root, depth);
  const shapes = known.get(root) ?? new WeakMap<JsonObject, Shape>();
  known.set(root, shapes);
  const shape = shapes.get(given) ?? readShape(given, root, depth);
  shapes.set(given, shape);
  return shape;
}

function readShape(given: unknown, root: JsonObject, depth: number): Shape {
  const schema = resolved(given, root);
  const types = typesOf(schema);
  const isNullable = types.includes('null') && types.length > 1;
  const shape = { schema, isNullable, isInteger: false, options: [], branches: [] };
  // An array of itself, or a union of itself, has no end.
  if (depth > MAX_DEPTH) return { ...shape, kind: 'json' };
  if (Object.hasOwn(schema, 'const')) return { ...shape, kind: 'const' };
  if (Array.isArray(schema['enum'])) return { ...shape, kind: 'choice', options: optionsOf(schema) };
  const branches = branchesOf(schema, root);
  if (branches.length > 0) return unionShape(schema, branches, { root, depth });
  const [type, second] = types.filter((each) => each !== 'null');
  if (second !== undefined) return { ...shape, kind: 'json' };
  switch (type) {
    case 'string':
      return { ...shape, kind: 'text' };
    case 'integer':
      return { ...shape, kind: 'number', isInteger: true };
    case 'number':
      return { ...shape, kind: 'number' };
    case 'boolean':
      return { ...shape, kind: 'boolean' };
    case 'array':
      return arrayShape(shape, { root, depth });
    case 'object':
      return { ...shape, kind: objectKind(schema) };
    default:
      return { ...shape, kind: schema['properties'] === undefined ? 'json' : 'object' };
  }
}

/** The schema with its references followed and the parts of `allOf` joined. */
function resolved(given: unknown, root: JsonObject): JsonObject {
  let schema = isObject(given) ? given : {};
  for (let hops = 0; typeof schema['$ref'] === 'string' && hops < MAX_REFERENCES; hops++) {
    const { $ref, ...beside } = schema;
    const target = pointedAt(String($ref), root);
    if (target === undefined) return beside;
    schema = { ...target, ...beside };
  }
  const parts = schema['allOf'];
  if (!Array.isArray(parts) || parts.length > MAX_BRANCHES) return schema;
  return parts.reduce<JsonObject>(
    (whole, part) => joined(whole, isObject(part) ? withoutRef(part, root) : {}),
    schema,
  );
}

export function propertiesOf(schema: JsonObject): readonly (readonly [string, unknown])[] {
  return isObject(schema['properties']) ? Object.entries(schema['properties']) : [];
}

export function requiredOf(schema: JsonObject): ReadonlySet<string> {
  const names = schema['required'];
  return new Set(
    Array.isArray(names) ? names.filter((name): name is string => typeof name === 'string') : [],
  );
}

export function typesOf(schema: JsonObject): readonly string[] {
  const type = schema['type'];
  const types = Array.isArray(type) ? type : [type];
  return types.filter((each): each is string => typeof each === 'string');
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withoutRef(part: JsonObject, root: JsonObject): JsonObject {
  if (typeof part['$ref'] !== 'string') return part;
  const { $ref, ...beside } = part;
  return { ...pointedAt(String($ref), root), ...beside };
}

function joined(whole: JsonObject, part: JsonObject): JsonObject {
  return {
    ...part,
    ...whole,
    properties: { ...(part['properties'] as JsonObject), ...(whole['properties'] as JsonObject) },
    required: [...requiredOf(whole), ...requiredOf(part)],
  };
}

/** The schema that a reference inside the same document points at. References to elsewhere are never fetched. */
function pointedAt(reference: string, root: JsonObject): JsonObject | undefined {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let target: unknown = root;
  for (const part of reference.slice(2).split('/', 50)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, key)) return undefined;
    target = (target as Record<string, unknown>)[key];
  }
  return isObject(target) ? target : undefined;
}

function branchesOf(schema: JsonObject, root: JsonObject): readonly JsonObject[] {
  const branches = schema['oneOf'] ?? schema['anyOf'];
  if (!Array.isArray(branches) || branches.length > MAX_BRANCHES) return [];
  return branches.map((branch) => resolved(branch, root));
}

function unionShape(schema: JsonObject, branches: readonly JsonObject[], { root, depth }: Place): Shape {
  const { oneOf, anyOf, ...beside } = schema;
  const real = branches.filter((branch) => !(branch['type'] === 'null' || branch['const'] === null));
  const isNullable = real.length < branches.length;
  const [only] = real;
  if (only !== undefined && real.length === 1) {
    const shape = shapeOf({ ...only, ...beside }, root, depth + 1);
    return { ...shape, isNullable };
  }
  const shape = { schema: beside, isNullable, isInteger: false, options: [], branches: real };
  // Choices with a title each are often written as a union of constants.
  if (real.every((branch) => Object.hasOwn(branch, 'const')))
    return {
      ...shape,
      kind: 'choice',
      options: real.map((branch) => ({ value: branch['const'], label: labelOf(branch, branch['const']) })),
    };
  // Requirements only, as in "a or b": the fields beside them are enough.
  if (real.every((branch) => branch['properties'] === undefined && branch['type'] === undefined))
    return { ...shape, kind: beside['properties'] === undefined ? 'json' : 'object', branches: [] };
  const common = isObject(beside['properties']) ? beside : undefined;
  return { ...shape, kind: 'union', branches: common ? real.map((branch) => joined(branch, common)) : real };
}

function arrayShape(shape: Omit<Shape, 'kind'>, { root, depth }: Place): Shape {
  const { schema } = shape;
  if (Array.isArray(schema['prefixItems'])) return { ...shape, kind: 'json' };
  if (schema['items'] === undefined) return { ...shape, kind: 'json' };
  const item = shapeOf(schema['items'], root, depth + 1);
  if (item.kind === 'choice') return { ...shape, kind: 'choices', options: item.options };
  return { ...shape, kind: 'array' };
}

function objectKind(schema: JsonObject): FieldKind {
  if (propertiesOf(schema).length > 0) return 'object';
  return schema['additionalProperties'] === false ? 'object' : 'map';
}

function optionsOf(schema: JsonObject): readonly Option[] {
  const values = (schema['enum'] as readonly unknown[]).slice(0, MAX_OPTIONS);
  const names = Array.isArray(schema['enumNames']) ? schema['enumNames'] : [];
  return values
    .filter((value) => value !== null)
    .map((value, at) => ({ value, label: typeof names[at] === 'string' ? names[at] : wordOf(value) }));
}

function labelOf(schema: JsonObject, value: unknown): string {
  return typeof schema['title'] === 'string' ? schema['title'] : wordOf(value);
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
