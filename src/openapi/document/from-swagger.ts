// Converts a document of Swagger 2.0 to OpenAPI 3.0. Loaded only for such documents.
//
// Schemas are left where they are, and so are the references to them: `#/definitions/Pet` has a target in the result, too.

import { isObject } from '../../jsonrpc/message.js';
import { OpenAPIError } from './openapi-error.js';
import { listOf, nameOf, stringOf } from './operations.js';
import { DocumentReferences, type Json } from './references.js';

/** The document as one of OpenAPI 3.0. */
export function fromSwagger(root: Json): Json {
  const { paths, definitions, parameters, responses, info, tags, security } = root;
  const conversion = { root, references: new DocumentReferences(root) };
  if (paths !== undefined && !isObject(paths)) throw new OpenAPIError('"paths" must be an object.');
  const converted = Object.entries(paths ?? {}).map(([path, item]) => [
    path,
    path.startsWith('x-') ? item : convertItem(path, item, conversion),
  ]);
  return {
    openapi: '3.0.4',
    // References may lead to all of these.
    ...{ definitions, parameters, responses, info, tags, security },
    servers: serversOf(root),
    paths: Object.fromEntries(converted),
    components: { securitySchemes: securitySchemes(root['securityDefinitions']) },
  };
}

interface Conversion {
  readonly root: Json;
  readonly references: DocumentReferences;
}

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];

/** https comes first, since a server of a document must have it. */
function serversOf({ schemes, host, basePath }: Json): readonly Json[] {
  const path = stringOf(basePath) ?? '/';
  if (stringOf(host) === undefined) return [{ url: path }];
  const listed = listOf(schemes).filter((scheme) => scheme === 'https' || scheme === 'http');
  const [scheme = 'https'] = listed.includes('https') ? ['https'] : listed;
  return [{ url: `${String(scheme)}://${String(host)}${path.startsWith('/') ? path : `/${path}`}` }];
}

function convertItem(path: string, value: unknown, conversion: Conversion): Json {
  const item = conversion.references.object(value, `the path ${path}`);
  const operations = methods
    .filter((method) => Object.hasOwn(item, method))
    .map((method) => [method, convertOperation(item, { method, path }, conversion)]);
  return Object.fromEntries(operations);
}

function convertOperation(
  item: Json,
  { method, path }: { readonly method: string; readonly path: string },
  { root, references }: Conversion,
): Json {
  const where = nameOf(method, path);
  const raw = references.object(item[method], where);
  const consumes = mediaTypes(raw['consumes'] ?? root['consumes']);
  const produces = mediaTypes(raw['produces'] ?? root['produces']);
  const parameters = new Map<string, Json>();
  for (const entry of [...listOf(item['parameters']), ...listOf(raw['parameters'])]) {
    const parameter = references.object(entry, `a parameter of ${where}`);
    parameters.set(`${String(parameter['in'])} ${String(parameter['name'])}`, parameter);
  }
  const all = [...parameters.values()];
  const requestBody = bodyOf(all, consumes);
  const responses = Object.entries(isObject(raw['responses']) ? raw['responses'] : {}).map(
    ([status, response]) => [
      status,
      convertResponse(references.object(response, `the response ${status} of ${where}`), produces),
    ],
  );
  return {
    ...raw,
    parameters: all.filter((one) => one['in'] !== 'body' && one['in'] !== 'formData').map(convertParameter),
    ...(requestBody !== undefined && { requestBody }),
    responses: Object.fromEntries(responses),
  };
}

function mediaTypes(value: unknown): readonly string[] {
  return listOf(value).filter((type) => typeof type === 'string');
}

/** The styles of OpenAPI for lists. `multi` has a pair for each value. */
const styles = new Map<unknown, Json>([
  ['ssv', { style: 'spaceDelimited', explode: false }],
  ['tsv', { style: 'tabDelimited', explode: false }],
  ['pipes', { style: 'pipeDelimited', explode: false }],
  ['multi', { style: 'form', explode: true }],
]);

function styleOf({ in: place, type, collectionFormat }: Json): Json {
  if (type !== 'array' || (place !== 'query' && place !== 'formData')) return {};
  return styles.get(collectionFormat) ?? { style: 'form', explode: false };
}

const notOfSchemas = ['name', 'in', 'required', 'description', 'collectionFormat', 'allowEmptyValue'];

/** A parameter without a schema is one itself. */
function schemaOf(parameter: Json): Json {
  const keywords = Object.entries(parameter).filter(([key]) => !notOfSchemas.includes(key));
  return { ...Object.fromEntries(keywords), ...(parameter['type'] === 'file' && binary) };
}

const binary = { type: 'string', format: 'binary' };

function convertParameter(parameter: Json): Json {
  const { name, in: place, required, description } = parameter;
  return { name, in: place, required, description, schema: schemaOf(parameter), ...styleOf(parameter) };
}

function bodyOf(parameters: readonly Json[], consumes: readonly string[]): Json | undefined {
  const body = parameters.find((one) => one['in'] === 'body');
  if (body !== undefined) {
    const types = consumes.length > 0 ? consumes : ['application/json'];
    const { description, required, schema } = body;
    return { description, required, content: Object.fromEntries(types.map((type) => [type, { schema }])) };
  }
  const fields = parameters.filter((one) => one['in'] === 'formData');
  if (fields.length === 0) return undefined;
  const isMultipart =
    fields.some(({ type }) => type === 'file') || consumes[0]?.startsWith('multipart/form-data') === true;
  const required = fields.filter((one) => one['required'] === true).map(({ name }) => String(name));
  const properties = fields.map((one) => [
    String(one['name']),
    { ...schemaOf(one), ...(one['description'] !== undefined && { description: one['description'] }) },
  ]);
  const encoding = fields.map((one) => [String(one['name']), styleOf(one)]);
  const schema = { type: 'object', properties: Object.fromEntries(properties), required };
  const mediaType = isMultipart ? 'multipart/form-data' : 'application/x-www-form-urlencoded';
  return {
    required: required.length > 0,
    content: { [mediaType]: { schema, encoding: Object.fromEntries(encoding) } },
  };
}

function convertResponse({ description, schema }: Json, produces: readonly string[]): Json {
  if (schema === undefined) return { description };
  const isFile = isObject(schema) && schema['type'] === 'file';
  const types = produces.length > 0 ? produces : [isFile ? 'application/octet-stream' : 'application/json'];
  const media = isFile ? {} : { schema };
  return { description, content: Object.fromEntries(types.map((type) => [type, media])) };
}

function securitySchemes(definitions: unknown): Json {
  const entries = Object.entries(isObject(definitions) ? definitions : {});
  return Object.fromEntries(
    entries.map(([name, scheme]) => [
      name,
      isObject(scheme) && scheme['type'] === 'basic' ? { type: 'http', scheme: 'basic' } : scheme,
    ]),
  );
}
