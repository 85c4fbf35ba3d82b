// The OpenAPI document of a server.

import { isObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch, Outcome } from '../../protocol/call.js';
import type { Implementation, ListedPrompt, ListedResource, ListedTool } from '../../protocol/model/model.js';
import { KEEPS_KEYS, TAGS } from '../../protocol/tables/meta-keys.js';
import { listOf } from '../document/operations.js';
import type { Json } from '../document/references.js';
import { ComponentSchemas } from '../schema/component-schemas.js';
import { type SecurityParts, schemesOf, securityOf } from './document-security.js';
import { listAll, type WholeList } from './list-all.js';
import { pathOf } from './rest-paths.js';

/** The parts of a server's document. */
export interface ServerDocumentParts extends SecurityParts {
  readonly dispatch: Dispatch;
  readonly info: Implementation;
  readonly caller: Pick<Call, 'auth' | 'http'>;
  /** The URL of the API. */
  readonly url: string | undefined;
}

/** Makes the document of what a caller sees. */
export async function serverDocument(parts: ServerDocumentParts): Promise<Json> {
  return printDocument(parts, await readLists(parts));
}

/** Makes documents as JSON. One of a thousand tools takes 20 ms, so it is made again only if a list has changed, or is another caller's. */
export function documentPrinter(
  parts: Omit<ServerDocumentParts, 'caller'>,
): (caller: ServerDocumentParts['caller']) => Promise<string> {
  const known = new WeakMap<object, { readonly pages: readonly Outcome[]; readonly json: string }>();
  return async function documentFor(caller) {
    const lists = await readLists({ ...parts, caller });
    const pages = [...lists.tools.pages, ...lists.prompts.pages, ...lists.resources.pages];
    const [first] = pages;
    const last = first && known.get(first);
    const isSame = (page: Outcome, at: number): boolean => Object.isFrozen(page) && page === last?.pages[at];
    if (last?.pages.length === pages.length && pages.every(isSame)) return last.json;
    const json = JSON.stringify(printDocument({ ...parts, caller }, lists));
    if (first !== undefined) known.set(first, { pages, json });
    return json;
  };
}

interface Lists {
  readonly tools: WholeList<ListedTool>;
  readonly prompts: WholeList<ListedPrompt>;
  readonly resources: WholeList<ListedResource>;
}

async function readLists({ dispatch, caller }: ServerDocumentParts): Promise<Lists> {
  const [tools, prompts, resources] = await Promise.all([
    listAll<ListedTool>(dispatch, { list: 'tools', caller }),
    listAll<ListedPrompt>(dispatch, { list: 'prompts', caller }),
    listAll<ListedResource>(dispatch, { list: 'resources', caller }),
  ]);
  return { tools, prompts, resources };
}

function printDocument(parts: ServerDocumentParts, lists: Lists): Json {
  const { info, url } = parts;
  const [tools, prompts, resources] = [lists.tools.items, lists.prompts.items, lists.resources.items];
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
