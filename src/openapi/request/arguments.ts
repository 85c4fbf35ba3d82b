// The arguments of an operation: parameters and fields of the body, under names that clients accept.

import { isObject } from '../../jsonrpc/message.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import type { JsonSchema } from '../../schema/document/plain-json.js';
import { type Place, places, type ReadOperation, stringOf } from '../document/operations.js';
import type { DocumentReferences } from '../document/references.js';
import { uniqueNames } from '../schema/names.js';
import type { Convert, Schemas } from '../schema/schemas.js';
import { type BodyField, type BodyPlan, essenceOf, isJsonType } from './body.js';
import { fileSchema } from './multipart.js';
import { type Style, styleOf } from './styles.js';

/** One argument of a tool, and its place in the request. */
export interface Argument {
  /** The name of the argument. */
  readonly key: string;
  /** The name in the request. */
  readonly name: string;
  /** `field` is a field of the body. */
  readonly place: Place | 'field' | 'body';
  readonly isRequired: boolean;
  /** The schema in the document. */
  readonly raw: unknown;
  readonly style: Style;
  readonly toSchema: (convert: Convert) => JsonSchema;
}

/** Headers that belong to the connection, to the body or to credentials: a parameter with such a name is ignored. */
const IGNORED_HEADERS = [
  ...['accept', 'content-type', 'authorization', 'connection', 'content-length', 'cookie', 'expect', 'host'],
  ...[
    'keep-alive',
    'proxy-authorization',
    'proxy-connection',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
  ],
  ...['accept-encoding', 'user-agent'],
];

interface Planning {
  readonly references: DocumentReferences;
  readonly schemas: Schemas;
  readonly body: BodyPlan | undefined;
  readonly maxDescriptionChars: number;
  /** Whether credentials fill in a parameter, so that it is not an argument. */
  readonly isFilled: (place: Place, name: string) => boolean;
}

/** Plans the arguments of an operation. */
export function planArguments(operation: ReadOperation, planning: Planning): readonly Argument[] {
  const { body } = planning;
  const parameters = operation.parameters
    .filter(({ place, name }) => {
      if (place === 'path') return operation.path.includes(`{${name}}`);
      const isIgnored = place === 'header' && IGNORED_HEADERS.includes(name.toLowerCase());
      return !isIgnored && !planning.isFilled(place, name);
    })
    .map((parameter) => planParameter(parameter, planning));
  const declared = new Set(parameters.filter(({ place }) => place === 'path').map(({ name }) => name));
  const undeclared = variablesOf(operation.path)
    .filter((name) => !declared.has(name))
    .map((name) => planParameter({ name, place: 'path', raw: { schema: { type: 'string' } } }, planning));
  const all = [...parameters, ...undeclared, ...(body === undefined ? [] : bodyArguments(body, planning))];
  const named = uniqueNames(all.map(toUnnamed), '.');
  return [...named].map(([key, { argument }]) => ({ ...argument, key })).sort(byPlace);
}

/** The names between braces in a path, each once. */
function variablesOf(path: string): readonly string[] {
  return [...new Set([...path.matchAll(/\{([^{}/]+)\}/g)].map(([, name = '']) => name))];
}

type Unkeyed = Omit<Argument, 'key'>;
const order: readonly Argument['place'][] = [...places, 'body', 'field'];

function toUnnamed(argument: Unkeyed): { wish: string; second: string; key: string; argument: Unkeyed } {
  const { name, place } = argument;
  const prefix = place === 'field' ? 'body' : place;
  return { wish: name, second: `${prefix}_${name}`, key: `${order.indexOf(place)} ${name}`, argument };
}

function byPlace(a: Argument, b: Argument): number {
  return order.indexOf(a.place) - order.indexOf(b.place);
}

function planParameter(
  { name, place, raw }: ReadOperation['parameters'][number],
  { references, maxDescriptionChars }: Planning,
): Unkeyed {
  const { content } = raw;
  const [[mediaType, media] = ['', undefined]] = isObject(content) ? Object.entries(content) : [];
  const schema =
    media === undefined ? raw['schema'] : references.object(media, `the parameter ${name}`)['schema'];
  const description = stringOf(raw['description']);
  return {
    ...{ name, place, raw: schema },
    isRequired: place === 'path' || raw['required'] === true,
    style:
      place === 'querystring'
        ? { ...styleOf(name, {}, 'form'), isJson: isJsonType(essenceOf(mediaType)) }
        : styleOf(name, raw, place === 'query' || place === 'cookie' ? 'form' : 'simple'),
    toSchema: (convert) => described(convert(schema), description, maxDescriptionChars),
  };
}

function bodyArguments(body: BodyPlan, { maxDescriptionChars }: Planning): readonly Unkeyed[] {
  const style = styleOf('body', {}, 'form');
  if (body.isFlat)
    return [...body.fields.values()].map((field) => ({
      ...{
        name: field.name,
        place: 'field' as const,
        isRequired: field.isRequired,
        raw: field.schema,
        style,
      },
      toSchema: (convert) => fieldSchema(field, convert),
    }));
  return [
    {
      ...{ name: 'body', place: 'body', isRequired: body.isRequired, raw: body.schema, style },
      toSchema: (convert) => described(bodySchema(body, convert), body.description, maxDescriptionChars),
    },
  ];
}

function bodySchema({ kind, schema, fields }: BodyPlan, convert: Convert): JsonSchema | boolean {
  if (kind === 'text') return { type: 'string' };
  if (kind === 'lines') return { type: 'array', items: convert(schema) };
  if (kind === 'bytes')
    return { type: 'string', contentEncoding: 'base64', description: 'The bytes, as base64.' };
  if (kind === 'file') return fileSchema;
  if (kind !== 'multipart' || fields.size === 0) return convert(schema);
  const all = [...fields.values()];
  const required = all.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(all.map((field) => [field.name, fieldSchema(field, convert)])),
    ...(required.length > 0 && { required }),
  };
}

function fieldSchema({ schema, isFile, isList }: BodyField, convert: Convert): JsonSchema {
  if (!isFile) return described(convert(schema), undefined, 0);
  const description = isObject(schema) ? stringOf(schema['description']) : undefined;
  const file = isList ? { type: 'array', items: fileSchema } : fileSchema;
  return described(file, description, 1000);
}

function described(
  schema: JsonSchema | boolean,
  description: string | undefined,
  maxChars: number,
): JsonSchema {
  const object = typeof schema === 'boolean' ? (schema ? {} : { not: {} }) : schema;
  return description === undefined ? object : { ...object, description: shorten(description, maxChars) };
}

/** The schema of all arguments. */
export function inputSchema(args: readonly Argument[], schemas: Schemas): JsonSchema {
  const required = args.filter(({ isRequired }) => isRequired).map(({ key }) => key);
  return schemas.build('input', (convert) => ({
    type: 'object',
    properties: Object.fromEntries(args.map(({ key, toSchema }) => [key, toSchema(convert)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }));
}
