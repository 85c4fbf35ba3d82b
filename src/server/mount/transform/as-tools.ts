// Resources and prompts as tools, for clients that only know tools.

import type { JsonObject } from '../../../jsonrpc/message.js';
import type { Outcome } from '../../../protocol/call.js';
import { McpError } from '../../../protocol/errors.js';
import {
  audio,
  type ContentBlock,
  image,
  type ResourceContents,
  text,
} from '../../../protocol/model/content.js';
import type { PromptMessage } from '../../../protocol/model/model.js';
import { jsonSchema } from '../../../schema/schema.js';
import type { Composed } from '../../catalog/compile.js';
import type { CompiledTool } from '../../catalog/tools.js';
import type { CallContext } from '../../context/call-context.js';
import { type Tool, tool } from '../../define/tool.js';
import { ToolError } from '../../results/tool-error.js';

const annotations = { readOnly: true, openWorld: false } as const;

/** The input of a tool that lists. */
type ListPage = {
  /** The `nextCursor` of the page before. Default: the first page. */
  readonly cursor?: string;
};

const page = jsonSchema<ListPage>({
  type: 'object',
  properties: { cursor: { type: 'string', description: 'The nextCursor of the page before' } },
  additionalProperties: false,
});

/** The input of `read_resource`. */
type ResourceToRead = {
  /** The URI of the resource. */
  readonly uri: string;
};

/** The input of `get_prompt`. */
type PromptToGet = {
  /** The name of the prompt. */
  readonly name: string;
  /** The arguments of the prompt. Default: none. */
  readonly arguments?: Readonly<Record<string, string>>;
};

/** The tools of `resourcesAsTools`. */
export interface ResourceTools {
  /** Lists the resources and templates that the caller sees. */
  readonly list_resources: Tool<(args: ListPage) => unknown>;
  /** Reads a resource. */
  readonly read_resource: Tool<(args: ResourceToRead) => unknown>;
}

/** Makes the tools that list and read the resources of a server. */
export function resourceTools(): ResourceTools {
  return {
    list_resources: outermost(
      tool({
        description: 'Lists the resources of this server, and the templates of resource URIs',
        input: page,
        annotations,
        async run({ cursor }, ctx) {
          const listed = await request(ctx, 'resources/list', cursor === undefined ? {} : { cursor });
          const templates =
            cursor === undefined ? await request(ctx, 'resources/templates/list', {}) : undefined;
          return JSON.stringify({
            resources: listed['resources'],
            ...(templates && { resourceTemplates: templates['resourceTemplates'] }),
            ...(listed['nextCursor'] !== undefined && { nextCursor: listed['nextCursor'] }),
          });
        },
      }),
    ),
    read_resource: outermost(
      tool({
        description:
          'Reads a resource of this server, by a URI that list_resources gave or that fits one of its templates',
        input: jsonSchema<ResourceToRead>({
          type: 'object',
          properties: { uri: { type: 'string', description: 'The URI of the resource' } },
          required: ['uri'],
          additionalProperties: false,
        }),
        annotations,
        run: async ({ uri }, ctx) => (await forModel(ctx.read(uri))).map(toBlock),
      }),
    ),
  };
}

/** The tools of `promptsAsTools`. */
export interface PromptTools {
  /** Lists the prompts that the caller sees. */
  readonly list_prompts: Tool<(args: ListPage) => unknown>;
  /** Gets the messages of a prompt. */
  readonly get_prompt: Tool<(args: PromptToGet) => unknown>;
}

/** Makes the tools that list and get the prompts of a server. */
export function promptTools(): PromptTools {
  return {
    list_prompts: outermost(
      tool({
        description: 'Lists the prompts of this server, with their arguments',
        input: page,
        annotations,
        async run({ cursor }, ctx) {
          const { prompts, nextCursor } = await request(
            ctx,
            'prompts/list',
            cursor === undefined ? {} : { cursor },
          );
          return JSON.stringify({ prompts, ...(nextCursor !== undefined && { nextCursor }) });
        },
      }),
    ),
    get_prompt: outermost(
      tool({
        description: 'Gets the messages of a prompt of this server',
        input: jsonSchema<PromptToGet>({
          type: 'object',
          properties: {
            name: { type: 'string', description: 'The name of the prompt' },
            arguments: {
              type: 'object',
              description: 'The arguments of the prompt',
              additionalProperties: { type: 'string' },
            },
          },
          required: ['name'],
          additionalProperties: false,
        }),
        annotations,
        async run({ name, arguments: args = {} }, ctx) {
          const { messages } = await request(ctx, 'prompts/get', { name, arguments: args });
          return (messages as readonly PromptMessage[]).flatMap(({ role, content }) => [
            text(`${role}:`),
            content,
          ]);
        },
      }),
    ),
  };
}

/** A tool that acts on the server that clients connect to: its rules, and those of all mounted servers, decide what a caller gets. */
function outermost<T extends Tool>(definition: T): T {
  const composed: Composed<CompiledTool> = {
    '~compile': (compile, { tags }) => ({
      ...compile({ ...definition, options: { ...definition.options, ...(tags.length > 0 && { tags }) } }),
      isOutermost: true,
    }),
  };
  return { ...definition, ...composed };
}

async function request(ctx: object, method: string, params: JsonObject): Promise<Outcome> {
  const outcome = await forModel((ctx as CallContext<never, never>).callMethod(method, params));
  if (outcome.resultType !== 'complete')
    throw new ToolError(
      'This prompt asks the user questions, which only works with a client that supports prompts.',
    );
  return outcome;
}

// The model can mend a wrong name. Every other error is that of the call.
async function forModel<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const isMendable =
      McpError.is(error) && ['resource_not_found', 'invalid_params', 'method_not_found'].includes(error.code);
    throw isMendable ? new ToolError(error.message, { cause: error }) : error;
  }
}

function toBlock(contents: ResourceContents): ContentBlock {
  if ('text' in contents) return text(contents.text);
  const { blob, mimeType = '' } = contents;
  if (mimeType.startsWith('image/')) return image(blob, mimeType);
  if (mimeType.startsWith('audio/')) return audio(blob, mimeType);
  return { type: 'resource', resource: contents };
}
