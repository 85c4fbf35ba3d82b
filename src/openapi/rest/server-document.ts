// The OpenAPI document of a server.

import { isObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch } from '../../protocol/call.js';
import type { Implementation, ListedPrompt, ListedResource, ListedTool } from '../../protocol/model/model.js';
import { KEEPS_KEYS, TAGS } from '../../protocol/tables/meta-keys.js';
import type { AuthProvider } from '../../state/auth-provider.js';
import { listOf } from '../document/operations.js';
import type { Json } from '../document/references.js';
import { ComponentSchemas } from '../schema/component-schemas.js';
import { listAll } from './list-all.js';
import { pathOf } from './rest-paths.js';

/** The parts of a server's document. */
export interface ServerDocumentParts {
  readonly dispatch: Dispatch;
  readonly info: Implementation;
  readonly caller: Pick<Call, 'auth' | 'http'>;
  /** The provider of the server's `auth`; undefined if there is none, or if it is a function. */
  readonly provider: AuthProvider | undefined;
  /** The security schemes, in place of those of the provider. */
  readonly securitySchemes?: Readonly<Record<string, object>> | undefined;
  /** The URL of the API. */
  readonly url: string | undefined;
}

/** Makes the document of what a caller sees. */
export async function serverDocument(parts: ServerDocumentParts): Promise<Json> {
  const { dispatch, caller, info, url } = parts;
  const [tools, prompts, resources] = await Promise.all([
    listAll<ListedTool>(dispatch, { list: 'tools', caller }),
    listAll<ListedPrompt>(dispatch, { list: 'prompts', caller }),
    listAll<ListedResource>(dispatch, { list: 'resources', caller }),
  ]);
  const schemas = new ComponentSchemas();
  schemas.define('Problem', problemSchema, { io: 'output', where: 'problem' });
  const paths: [string, object][] = [
    ...tools.flatMap((tool) => operation(pathOf('tool', tool.name), () => toolOperation(tool, schemas))),
    ...prompts.flatMap((prompt) => operation(pathOf('prompt', prompt.name), () => promptOperation(prompt))),
    ...(resources.length > 0
      ? [['/resources', { get: resourceOperation(resources) }] as [string, object]]
      : []),
  ];
  return {
    openapi: '3.1.0',
    info: {
      title: info.title ?? info.name,
      version: info.version,
      ...(info.description !== undefined && { description: info.description }),
    },
    ...(url !== undefined && { servers: [{ url }] }),
    ...securityOf(parts),
    paths: Object.fromEntries(paths),
    components: {
      schemas: schemas.all,
      responses: {
        Problem: {
          description: 'A failure.',
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
      ...schemesOf(parts),
    },
  };
}

const problemSchema = {
  type: 'object',
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', description: 'The stable name of the failure.' },
    data: { description: 'More about the failure.' },
  },
  required: ['type', 'title', 'status', 'detail', 'code'],
};

function operation(path: string | undefined, make: () => object): readonly [string, object][] {
  return path === undefined ? [] : [[path, { post: make() }]];
}

function toolOperation(tool: ListedTool, schemas: ComponentSchemas): object {
  const { name, inputSchema, outputSchema, _meta } = tool;
  const component = /^[A-Za-z0-9._-]+$/.test(name) ? name : encodeURIComponent(name).replaceAll('%', '_');
  const schema = (part: string, json: unknown, io: 'input' | 'output'): object => ({
    schema: {
      $ref: schemas.define(`${component}_${part}`, json, { io, where: `${part} schema of ${name}` }).ref,
    },
  });
  const output = outputSchema && schema('output', outputSchema, 'output');
  return {
    ...described('tool', tool),
    ...(isObject(_meta) && isObject(_meta[KEEPS_KEYS]) && { parameters: [keyParameter] }),
    requestBody: {
      required: listOf(inputSchema['required']).length > 0,
      content: { 'application/json': schema('input', inputSchema, 'input') },
    },
    responses: {
      200: {
        description: 'The result of the tool.',
        content:
          output === undefined
            ? { 'text/plain': { schema: { type: 'string' } }, '*/*': {} }
            : { 'application/json': output },
      },
      default: { $ref: '#/components/responses/Problem' },
    },
  };
}

const keyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A repeated request with the same key gets the reply to the first, and the tool is not called again.',
  schema: { type: 'string', minLength: 1, maxLength: 256 },
};

function promptOperation(prompt: ListedPrompt): object {
  const args = listOf(prompt.arguments).filter((argument) => isObject(argument));
  const required = args.filter((argument) => argument['required'] === true).map(({ name }) => name);
  const properties = Object.fromEntries(
    args.map(({ name, description }) => [
      name,
      { type: 'string', ...(description !== undefined && { description }) },
    ]),
  );
  return {
    ...described('prompt', prompt),
    requestBody: {
      required: required.length > 0,
      content: {
        'application/json': { schema: { type: 'object', properties, required, additionalProperties: false } },
      },
    },
    responses: {
      200: {
        description: 'The messages of the prompt.',
        content: {
          'application/json': {
            schema: {
              type: 'object',
              properties: {
                description: { type: 'string' },
                messages: { type: 'array', items: { type: 'object' } },
              },
              required: ['messages'],
            },
          },
        },
      },
      default: { $ref: '#/components/responses/Problem' },
    },
  };
}

const MAX_EXAMPLES = 100;

function resourceOperation(resources: readonly ListedResource[]): object {
  return {
    operationId: 'readResource',
    summary: 'Reads a resource',
    tags: ['resources'],
    parameters: [
      {
        ...{ name: 'uri', in: 'query', required: true, schema: { type: 'string' } },
        description: 'The URI of the resource.',
        examples: Object.fromEntries(
          resources
            .slice(0, MAX_EXAMPLES)
            .map(({ uri, name }, at) => [`resource${at}`, { summary: name, value: uri }]),
        ),
      },
    ],
    responses: {
      200: { description: 'The contents, with their own media type.', content: { '*/*': {} } },
      default: { $ref: '#/components/responses/Problem' },
    },
  };
}

function described(
  kind: 'tool' | 'prompt',
  { name, title, description, _meta }: ListedTool | ListedPrompt,
): object {
  const own = isObject(_meta) ? listOf(_meta[TAGS]).filter((tag) => typeof tag === 'string') : [];
  return {
    // Names of prompts may be those of tools.
    operationId: kind === 'tool' ? name : `prompt_${name}`,
    ...(title !== undefined && { summary: title }),
    ...(description !== undefined && { description }),
    tags: own.length > 0 ? own : [`${kind}s`],
  };
}

/** The schemes by their names in `WWW-Authenticate`. A key in a header of its own cannot be told from its scheme. */
const known: Readonly<Record<string, object>> = {
  Bearer: { type: 'http', scheme: 'bearer' },
  Basic: { type: 'http', scheme: 'basic' },
  DPoP: { type: 'http', scheme: 'DPoP' },
};

function schemesBy({ provider, securitySchemes }: ServerDocumentParts): Readonly<Record<string, object>> {
  if (securitySchemes !== undefined) return securitySchemes;
  const names = provider === undefined ? [] : (provider.schemes ?? ['Bearer']);
  return Object.fromEntries(
    names.flatMap((name) =>
      Object.hasOwn(known, name) ? [[name.toLowerCase(), known[name] as object]] : [],
    ),
  );
}

function schemesOf(parts: ServerDocumentParts): object {
  const schemes = schemesBy(parts);
  return Object.keys(schemes).length === 0 ? {} : { securitySchemes: schemes };
}

function securityOf(parts: ServerDocumentParts): object {
  const names = Object.keys(schemesBy(parts));
  if (names.length === 0) return {};
  const isOptional = parts.provider === undefined || parts.provider.optional === true;
  return { security: [...(isOptional ? [{}] : []), ...names.map((name) => ({ [name]: [] }))] };
}
