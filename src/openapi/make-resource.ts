// Makes a resource or a template of an operation.

import { isObject } from '../jsonrpc/message.js';
import { McpError } from '../protocol/errors.js';
import { type Resource, resource } from '../server/define/resource.js';
import { ToolError } from '../server/results/tool-error.js';
import { OpenAPIError } from './document/openapi-error.js';
import { nameOf } from './document/operations.js';
import { type Callable, callOperation, ReplyError } from './exchange.js';
import { describe, type Workshop } from './make-tool.js';
import type { Argument } from './request/arguments.js';
import { type Trimming, toContents } from './response/read-reply.js';

/** A resource, with its URI or its template. */
export interface NamedResource {
  readonly uri: string;
  readonly resource: Resource;
}

/** Makes the resource that reads an operation. `authority` is the part of the URI that stands for the document. */
export function makeResource(
  callable: Callable,
  {
    authority,
    trimming,
    name,
  }: { readonly authority: string; readonly trimming: Trimming; readonly name: string },
  { api, schemas }: Workshop,
): NamedResource {
  const { operation, request } = callable;
  const where = nameOf(operation.method, operation.path);
  if (operation.method !== 'get')
    throw new OpenAPIError(`A rule makes ${where} a resource, but only a GET can be one. Make it a tool.`);
  const variables = nameVariables(
    request.args.filter((argument) => {
      const fits =
        (argument.place === 'path' || argument.place === 'query') &&
        !isObjectSchema(schemas.resolve(argument.raw));
      if (fits || !argument.isRequired) return fits;
      throw new OpenAPIError(
        `A rule makes ${where} a resource, but "${argument.name}" (${argument.place}) cannot be part of a URI. Make it a tool.`,
      );
    }),
  );
  const read: Resource['read'] = async (values, ctx) => {
    const input = Object.fromEntries([...variables].map(([variable, { key }]) => [key, values[variable]]));
    try {
      return toContents(await callOperation(callable, input, { ctx, api }), trimming, ctx.uri);
    } catch (error) {
      if (error instanceof ReplyError && error.status === 404) return undefined;
      if (ToolError.is(error)) throw new McpError('internal_error', error.message, { cause: error });
      throw error;
    }
  };
  return {
    uri: uriOf(operation.path, {
      variables,
      authority,
      isList: (argument) => isListSchema(schemas.resolve(argument.raw)),
    }),
    resource: resource({ ...describe(operation, api.settings), name, read }) as Resource,
  };
}

/** The names of variables in templates may have only letters, digits and underscores. */
function nameVariables(args: readonly Argument[]): ReadonlyMap<string, Argument> {
  const variables = new Map<string, Argument>();
  for (const argument of args) {
    let name = argument.key.replaceAll(/[^A-Za-z0-9_]/g, '_');
    while (variables.has(name)) name += '_';
    variables.set(name, argument);
  }
  return variables;
}

interface UriParts {
  readonly variables: ReadonlyMap<string, Argument>;
  readonly authority: string;
  readonly isList: (argument: Argument) => boolean;
}

function uriOf(path: string, { variables, authority, isList }: UriParts): string {
  const [route = ''] = path.split(/[?#]/, 1);
  const inPath = new Map(
    [...variables].flatMap(([name, argument]) => (argument.place === 'path' ? [[argument.name, name]] : [])),
  );
  // The parts between variables alternate with their names.
  const filled = route
    .split(/\{([^{}/]+)\}/)
    .map((part, at) => (at % 2 === 0 ? encodeURI(part) : `{${inPath.get(part)}}`))
    .join('');
  const query = [...variables].flatMap(([name, argument]) =>
    argument.place === 'query' ? [isList(argument) ? `${name}*` : name] : [],
  );
  return `api://${authority}${filled}${query.length === 0 ? '' : `{?${query.join(',')}}`}`;
}

function isListSchema(schema: unknown): boolean {
  return isObject(schema) && schema['type'] === 'array';
}

function isObjectSchema(schema: unknown): boolean {
  return isObject(schema) && (schema['type'] === 'object' || isObject(schema['properties']));
}
