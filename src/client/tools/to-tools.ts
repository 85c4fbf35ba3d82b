// Gives the tools of a client to a model, in the shape of its API.

import { isObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import type { ListedTool } from '../../protocol/model/model.js';
import { closestName } from '../../schema/explain/closest-name.js';
import type { ToolCallOptions } from '../model/client.js';
import type { ToolAnswer } from '../model/results.js';
import { resultParts } from './result-parts.js';
import { vendorNames } from './vendor-names.js';
import { vendorSchema } from './vendor-schema.js';
import type {
  AISDKTool,
  AnthropicTool,
  AnthropicToolResult,
  AnthropicToolUse,
  ChatTool,
  ChatToolCall,
  ChatToolMessage,
  OpenAITool,
  OpenAIToolCall,
  OpenAIToolOutput,
} from './vendor-types.js';
import { aiSDK, anthropic, chat, openAI, type VendorResult, type VendorTool } from './vendors.js';

/** The tools of a server, in the shape of one API, and a function that makes the calls of the model. */
export interface ModelTools<Tool, Call, Result> {
  /** The definitions, for the request to the API. */
  readonly tools: Tool[];
  /**
   * Makes a call of the model, and returns the result for the next request. A failure of the tool, an unknown tool and wrong arguments are
   * results, which the model reads. Rejects if the server cannot be reached, the call is cancelled, or the user has to log in.
   */
  readonly run: (call: Call, options?: ToolCallOptions) => Promise<Result>;
}

/** The tools of a server for each API. */
export interface VendorTools {
  /** Anthropic's Messages API. */
  readonly anthropic: ModelTools<AnthropicTool, AnthropicToolUse, AnthropicToolResult>;
  /** OpenAI's Responses API. */
  readonly openai: ModelTools<OpenAITool, OpenAIToolCall, OpenAIToolOutput>;
  /** OpenAI's Chat Completions API, which many other services have, too. */
  readonly 'openai-chat': ModelTools<ChatTool, ChatToolCall, ChatToolMessage>;
  /** The AI SDK, whose tools make the calls themselves. */
  readonly 'ai-sdk': {
    /** The tools by name, for `generateText`, `streamText` and agents. */
    readonly tools: Record<string, AISDKTool>;
  };
}

/** The tools to give to a model, and how to call them. */
export interface ToolCaller {
  readonly tools: readonly ListedTool[];
  readonly call: (name: string, args: object, options?: ToolCallOptions) => Promise<ToolAnswer>;
}

/** Errors that the model can do something about. All others are for the program. */
const FOR_THE_MODEL: ReadonlySet<string> = new Set([
  'invalid_params',
  'method_not_found',
  'internal_error',
  'resource_not_found',
  'tool_failed',
  'remote_error',
]);

/** Makes the tools for an API. Throws a `TypeError` for an API that is not known. */
export function vendorTools<V extends keyof VendorTools>(source: ToolCaller, vendor: V): VendorTools[V] {
  const { tools, run } = prepare(source);
  const made: { readonly [Name in keyof VendorTools]: () => VendorTools[Name] } = {
    anthropic: () => ({
      tools: tools.map(anthropic.tool),
      run: async ({ id, name, input }, options) => anthropic.result(id, await run(name, input, options)),
    }),
    openai: () => ({
      tools: tools.map(openAI.tool),
      run: async ({ call_id, name, arguments: json }, options) =>
        openAI.result(call_id, await run(name, parse(json), options)),
    }),
    'openai-chat': () => ({
      tools: tools.map(chat.tool),
      run: async ({ id, function: { name, arguments: json } }, options) =>
        chat.result(id, await run(name, parse(json), options)),
    }),
    'ai-sdk': () => ({
      tools: Object.fromEntries(
        tools.map(({ name, description, schema }): [string, AISDKTool] => [
          name,
          {
            type: 'dynamic',
            ...(description !== undefined && { description }),
            inputSchema: aiSDK.schema(schema),
            async execute(input, { abortSignal }) {
              const result = await run(name, input, abortSignal && { signal: abortSignal });
              const content = aiSDK.content(result.parts);
              if (result.isError) throw new Error(content.map(textOf).join('\n'));
              return { content };
            },
            toModelOutput: ({ output }) => ({
              type: 'content',
              value: (output as { content: ReturnType<typeof aiSDK.content> }).content,
            }),
          },
        ]),
      ),
    }),
  };
  if (!Object.hasOwn(made, vendor))
    throw new TypeError(`toTools: "${vendor}" is not an API. Known: ${Object.keys(made).join(', ')}.`);
  return made[vendor]() as VendorTools[V];
}

interface Prepared {
  readonly tools: VendorTool[];
  readonly run: (name: string, args: unknown, options?: ToolCallOptions) => Promise<VendorResult>;
}

function prepare({ tools, call }: ToolCaller): Prepared {
  const names = vendorNames(tools.map(({ name }) => name));
  const byName = new Map(tools.map((tool) => [tool.name, tool]));

  async function run(name: string, args: unknown, options?: ToolCallOptions): Promise<VendorResult> {
    const original = names.get(name);
    if (original === undefined) return failure(unknownTool(name, [...names.keys()]));
    if (!isObject(args)) return failure(`The arguments of ${name} must be a JSON object.`);
    try {
      const answer = await call(original, args, options);
      return { parts: resultParts(answer), isError: answer.isError };
    } catch (error) {
      if (McpError.is(error) && FOR_THE_MODEL.has(error.code)) return failure(error.message);
      throw error;
    }
  }

  return {
    run,
    tools: [...names].map(([name, original]) => {
      const { description, title, inputSchema } = byName.get(original) as ListedTool;
      return { name, description: description ?? title, schema: vendorSchema(inputSchema) };
    }),
  };
}

function unknownTool(name: string, names: readonly string[]): string {
  const closest = closestName(name, names);
  return `There is no tool "${name.slice(0, 64)}".${closest === undefined ? '' : ` Did you mean "${closest}"?`}`;
}

function failure(text: string): VendorResult {
  return { parts: [{ type: 'text', text }], isError: true };
}

/** The arguments as a value. A model that has no arguments may send an empty string. */
function parse(json: string): unknown {
  try {
    return json === '' ? {} : JSON.parse(json);
  } catch {
    return undefined;
  }
}

function textOf(part: ReturnType<typeof aiSDK.content>[number]): string {
  return part.type === 'text' ? part.text : `(${part.mediaType})`;
}
