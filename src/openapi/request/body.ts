// The body of a request: the choice among its media types, its arguments, and its bytes.

import { isObject } from '../../jsonrpc/message.js';
import { OpenAPIError } from '../document/openapi-error.js';
import { nameOf, type ReadOperation, stringOf } from '../document/operations.js';
import type { DocumentReferences, Json } from '../document/references.js';
import type { Schemas } from '../schema/schemas.js';
import { bytesOf, type Field, mediaTypeOf, printMultipart } from './multipart.js';
import { inQuery, print, type Style, styleOf } from './styles.js';

/** How a body is printed. `lines` is a JSON value in each line; `file` is binary with a media type that the caller chooses. */
type BodyKind = 'json' | 'lines' | 'form' | 'multipart' | 'text' | 'bytes' | 'file';

/** A field of a body whose fields are arguments of their own, or of a form. */
export interface BodyField {
  readonly name: string;
  readonly schema: unknown;
  readonly isRequired: boolean;
  readonly isFile: boolean;
  readonly isList: boolean;
  readonly contentType: string | undefined;
  /** The style of the field of a form; undefined if objects in it are printed as JSON. */
  readonly style: Style | undefined;
}

/** The body of an operation. */
export interface BodyPlan {
  readonly kind: BodyKind;
  readonly mediaType: string;
  readonly schema: unknown;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  readonly fields: ReadonlyMap<string, BodyField>;
  /** Whether each field is an argument. Otherwise, the body is one argument. */
  readonly isFlat: boolean;
}

/** Plans the body of an operation; undefined if it does not have one, or one that is always empty. */
export function planBody(
  operation: ReadOperation,
  {
    references,
    schemas,
    contentTypes,
  }: { references: DocumentReferences; schemas: Schemas; contentTypes: readonly string[] },
): BodyPlan | undefined {
  const where = `the request body of ${nameOf(operation.method, operation.path)}`;
  if (operation.raw['requestBody'] === undefined) return undefined;
  const raw = references.object(operation.raw['requestBody'], where);
  const types = references.object(raw['content'] ?? {}, where);
  const mediaType = choose(Object.keys(types), contentTypes);
  if (mediaType === undefined) return undefined;
  const media = references.object(types[mediaType], where);
  const isLines = media['itemSchema'] !== undefined && isSequence(essenceOf(mediaType));
  const schema = media[isLines ? 'itemSchema' : 'schema'];
  const target = schemas.resolve(schema);
  const kind = isLines ? 'lines' : kindOf(mediaType, target);
  const fields = fieldsOf(target, { media, schemas, kind, references });
  const isRequired = raw['required'] === true;
  const isClosed = isObject(target) && target['additionalProperties'] === false;
  if (fields.size === 0 && isClosed && !isRequired) return undefined;
  return {
    ...{ kind, mediaType, schema, description: stringOf(raw['description']), isRequired, fields },
    isFlat: isFlat(target, { kind, fields, isRequired }),
  };
}

const preferred = [
  'application/json',
  '*+json',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'text/plain',
];

function choose(types: readonly string[], first: readonly string[]): string | undefined {
  for (const wish of [...first, ...preferred]) {
    const found = types.find((type) => {
      const essence = essenceOf(type);
      return wish === '*+json' ? essence.endsWith('+json') : essence === wish.toLowerCase();
    });
    if (found !== undefined) return found;
  }
  return types[0];
}

/** A media type without its parameters. */
export function essenceOf(mediaType: string): string {
  return (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

export function isJsonType(essence: string): boolean {
  return essence === 'application/json' || essence === 'text/json' || essence.endsWith('+json');
}

/** Whether a media type is a sequence of JSON values. */
function isSequence(essence: string): boolean {
  return /^application\/(jsonl|x-ndjson|json-seq)$/.test(essence);
}

export function isTextType(essence: string): boolean {
  return (
    essence.startsWith('text/') ||
    essence.endsWith('+xml') ||
    isSequence(essence) ||
    /^application\/(xml|yaml|x-yaml|javascript|graphql|sql|toml)$/.test(essence)
  );
}

function kindOf(mediaType: string, schema: unknown): BodyKind {
  const essence = essenceOf(mediaType);
  if (isJsonType(essence)) return 'json';
  if (essence === 'application/x-www-form-urlencoded') return 'form';
  if (essence.startsWith('multipart/')) return 'multipart';
  if (isTextType(essence)) return 'text';
  const isString = isObject(schema) && schema['type'] === 'string';
  if (essence.includes('*')) return isString || schema === undefined ? 'file' : 'json';
  return 'bytes';
}

function fieldsOf(
  target: unknown,
  {
    media,
    schemas,
    kind,
    references,
  }: { media: Json; schemas: Schemas; kind: BodyKind; references: DocumentReferences },
): ReadonlyMap<string, BodyField> {
  const fields = new Map<string, BodyField>();
  if (!isObject(target) || !isObject(target['properties']) || !['json', 'form', 'multipart'].includes(kind))
    return fields;
  const required = Array.isArray(target['required']) ? target['required'] : [];
  for (const [name, schema] of Object.entries(target['properties'])) {
    if (schemas.isHidden(schema, 'input')) continue;
    const encodings = isObject(media['encoding']) ? media['encoding'] : {};
    const encoding = Object.hasOwn(encodings, name)
      ? references.object(encodings[name], `the encoding of ${name}`)
      : {};
    const own = schemas.resolve(schema);
    const isList = isObject(own) && own['type'] === 'array';
    const item = isList ? schemas.resolve(own['items']) : own;
    const hasStyle = ['style', 'explode', 'allowReserved'].some((key) => key in encoding);
    fields.set(name, {
      ...{ name, schema, isList },
      isRequired: required.includes(name),
      isFile: kind === 'multipart' && isBinary(item),
      contentType: checkType(stringOf(encoding['contentType']), name),
      style: hasStyle ? styleOf(name, encoding, 'form') : undefined,
    });
  }
  return fields;
}

/** Only the first of several types, and only one without wildcards, can be sent as it is. */
function checkType(contentType: string | undefined, name: string): string | undefined {
  const [first = ''] = (contentType ?? '').split(',');
  if (/[\r\n]/.test(first))
    throw new OpenAPIError(`The content type of the field "${name}" has a line break.`);
  return first === '' || first.includes('*') ? undefined : first.trim();
}

function isBinary(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const { type, format, contentMediaType, contentEncoding } = schema;
  if (format === 'binary') return true;
  return (
    (type === 'string' || type === undefined) &&
    contentMediaType !== undefined &&
    contentEncoding === undefined
  );
}

const COMBINING = [
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'patternProperties',
  'dependentSchemas',
  'dependentRequired',
  'minProperties',
  'propertyNames',
];

/** Whether the fields can be arguments without changing what the schema accepts, other than fields that it does not mention. */
function isFlat(
  target: unknown,
  { kind, fields, isRequired }: Pick<BodyPlan, 'kind' | 'fields' | 'isRequired'>,
): boolean {
  if (!isObject(target) || fields.size === 0 || !['json', 'form', 'multipart'].includes(kind)) return false;
  const { additionalProperties: more, nullable } = target;
  if (nullable === true || isObject(more) || more === true) return false;
  if (COMBINING.some((keyword) => keyword in target)) return false;
  // Without a body, no field is required; with one, some are.
  return isRequired || ![...fields.values()].some((field) => field.isRequired);
}

/** A printed body. */
export interface PrintedBody {
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly contentType: string;
}

/** Prints the value of a body. */
export function printBody({ kind, mediaType, fields }: BodyPlan, value: unknown): PrintedBody {
  const entries = isObject(value) ? Object.entries(value).filter(([, item]) => item !== undefined) : [];
  switch (kind) {
    case 'json':
      return {
        body: JSON.stringify(value),
        contentType: mediaType.includes('*') ? 'application/json' : mediaType,
      };
    case 'lines': {
      // RFC 7464: each value of a JSON text sequence begins with a record separator.
      const start = essenceOf(mediaType) === 'application/json-seq' ? '\u001e' : '';
      const lines = [value].flat().map((item) => `${start}${JSON.stringify(item)}\n`);
      return { body: lines.join(''), contentType: mediaType };
    }
    case 'form': {
      const pairs = entries.flatMap(([name, item]) =>
        inQuery(fields.get(name)?.style ?? plainStyle(name, item), item),
      );
      return { body: pairs.join('&'), contentType: mediaType };
    }
    case 'multipart':
      return printMultipart(
        entries.map(([name, item]): Field => {
          const { isFile = false, contentType } = fields.get(name) ?? {};
          return { name, value: item, isFile, contentType };
        }),
      );
    case 'text':
      return { body: print(value), contentType: mediaType };
    case 'bytes':
      return { body: bytesOf(value, 'body'), contentType: mediaType };
    case 'file': {
      const { data, contentType } = isObject(value) ? value : {};
      return {
        body: bytesOf(data, 'body'),
        contentType: mediaTypeOf(contentType) ?? 'application/octet-stream',
      };
    }
    default:
      return kind satisfies never;
  }
}

function plainStyle(name: string, value: unknown): Style {
  return { name, style: 'form', explode: true, allowReserved: false, isJson: isObject(value) };
}
