// The operations of a document, each with what its path and the document add to it.

import { isObject } from '../../jsonrpc/message.js';
import { quote } from '../../protocol/encoding/shorten.js';
import { OpenAPIError } from './openapi-error.js';
import type { DocumentReferences, Json } from './references.js';

/** An operation, for the functions and rules that choose among operations. */
export interface OpenAPIOperation {
  /** The HTTP method, in lower case. */
  readonly method: string;
  /** The path, as the document writes it. */
  readonly path: string;
  /** The `operationId`; undefined if the operation does not have one. */
  readonly operationId: string | undefined;
  /** The `tags`; empty if the operation has none. */
  readonly tags: readonly string[];
  /** The `summary`; undefined if the operation does not have one. */
  readonly summary: string | undefined;
  /** The `description`; undefined if the operation does not have one. */
  readonly description: string | undefined;
  /** Whether the operation is marked as deprecated. */
  readonly deprecated: boolean;
}

/** A parameter of an operation, without references. */
interface Parameter {
  readonly name: string;
  readonly place: Place;
  readonly raw: Json;
}

/** `querystring` is the whole query. */
export type Place = 'path' | 'query' | 'header' | 'cookie' | 'querystring';
export const places: readonly Place[] = ['path', 'query', 'header', 'cookie', 'querystring'];

/** An operation with everything that its request and its reply need. */
export interface ReadOperation extends OpenAPIOperation {
  /** The method as it is sent. */
  readonly verb: string;
  readonly raw: Json;
  readonly parameters: readonly Parameter[];
  /** The `servers` of the operation, of its path or of the document. */
  readonly servers: unknown;
  /** The address that the document gives itself, to which its servers may be relative. */
  readonly self: unknown;
  /** The `security` of the operation or of the document. */
  readonly security: unknown;
}

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'];

/** Reads the operations one by one, so that a caller can stop at a limit. */
export function* readOperations(root: Json, references: DocumentReferences): Generator<ReadOperation, void> {
  const paths = root['paths'] ?? {};
  if (!isObject(paths)) throw new OpenAPIError('"paths" must be an object.');
  for (const [path, value] of Object.entries(paths)) {
    if (path.startsWith('x-')) continue;
    const item = references.object(value, `the path ${path}`);
    for (const [verb, value] of operationsOf(item, path)) {
      const method = verb.toLowerCase();
      const where = nameOf(method, path);
      checkPath(path, where);
      const raw = references.object(value, where);
      yield {
        method,
        verb,
        path,
        operationId: stringOf(raw['operationId']),
        tags: listOf(raw['tags']).filter((tag) => typeof tag === 'string'),
        summary: stringOf(raw['summary']),
        description: stringOf(raw['description']),
        deprecated: raw['deprecated'] === true,
        raw,
        parameters: readParameters([...listOf(item['parameters']), ...listOf(raw['parameters'])], {
          references,
          where,
        }),
        servers: raw['servers'] ?? item['servers'] ?? root['servers'],
        self: root['$self'],
        security: raw['security'] ?? root['security'],
      };
    }
  }
}

/** The operations of a path by their methods, as they are sent. OpenAPI 3.2 has further methods in `additionalOperations`. */
function* operationsOf(item: Json, path: string): Generator<readonly [verb: string, operation: unknown]> {
  for (const method of methods) if (Object.hasOwn(item, method)) yield [method.toUpperCase(), item[method]];
  const { additionalOperations: more } = item;
  for (const [verb, operation] of Object.entries(isObject(more) ? more : {})) {
    // A method is a token of HTTP. CONNECT opens a tunnel.
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,40}$/.test(verb) || verb.toLowerCase() === 'connect')
      throw new OpenAPIError(
        `The path ${path} has an additional operation that is not a method: ${quote(verb, 60)}.`,
      );
    if (methods.includes(verb.toLowerCase()))
      throw new OpenAPIError(
        `The path ${path} has ${quote(verb, 60)} in "additionalOperations". Put it beside them, as "${verb.toLowerCase()}".`,
      );
    yield [verb, operation];
  }
}

/** The name of an operation in messages. */
export function nameOf(method: string, path: string): string {
  return `${method.toUpperCase()} ${path.length > 200 ? `${path.slice(0, 200)}…` : path}`;
}

function checkPath(path: string, where: string): void {
  if (!path.startsWith('/')) throw new OpenAPIError(`The path of ${where} must begin with "/".`);
  if (hasDotSegment(path))
    throw new OpenAPIError(
      `The path of ${where} has the segment "." or "..", which leads to another path. Remove it.`,
    );
}

/** Whether a path has a segment that URLs resolve: `.` or `..`, as it is or percent-encoded. */
export function hasDotSegment(path: string): boolean {
  const [withoutQuery = ''] = path.split(/[?#]/, 1);
  return withoutQuery.split(/[/\\]/).some((segment) => {
    const plain = segment.replaceAll(/%2e/gi, '.');
    return plain === '.' || plain === '..';
  });
}

/** The parameters of the operation replace those of its path. They are sorted, so that their order in the document has no effect. */
function readParameters(
  list: readonly unknown[],
  { references, where }: { readonly references: DocumentReferences; readonly where: string },
): readonly Parameter[] {
  const found = new Map<string, Parameter>();
  for (const entry of list) {
    const raw = references.object(entry, `a parameter of ${where}`);
    const { name, in: place } = raw;
    if (typeof name !== 'string' || !places.includes(place as Place))
      throw new OpenAPIError(
        `A parameter of ${where} needs a "name", and "in" must be one of ${places.join(', ')}.`,
      );
    found.set(`${place} ${name}`, { name, place: place as Place, raw });
  }
  const order = (parameter: Parameter): string => `${places.indexOf(parameter.place)} ${parameter.name}`;
  return [...found.values()].sort((a, b) => compare(order(a), order(b)));
}

/** The order of two strings, the same in every locale. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
