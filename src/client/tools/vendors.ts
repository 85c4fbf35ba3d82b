// The shapes of the APIs of models: definitions of tools, calls of the model, and results.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { StandardJsonSchema } from '../../schema/standard.js';
import { leftOut, type ResultPart } from './result-parts.js';
import type { ObjectSchema } from './vendor-schema.js';

/** A tool under the name for an API. */
export interface VendorTool {
  readonly name: string;
  readonly description: string | undefined;
  readonly schema: ObjectSchema;
}

/** A result, for an API. */
export interface VendorResult {
  readonly parts: readonly ResultPart[];
  readonly isError: boolean;
}

/** A tool of Anthropic's Messages API. */
export interface AnthropicTool {
  /** The name of the tool for the model. */
  name: string;
  /** The purpose of the tool. */
  description?: string;
  /** The JSON Schema of the arguments. */
  input_schema: ObjectSchema;
}

/** A block `tool_use` of Anthropic's Messages API. */
export interface AnthropicToolUse {
  /** The id of the call. */
  readonly id: string;
  /** The name of the tool. */
  readonly name: string;
  /** The arguments. */
  readonly input: unknown;
}

/** A block `tool_result` of Anthropic's Messages API. */
export interface AnthropicToolResult {
  /** Always `tool_result`. */
  type: 'tool_result';
  /** The id of the call. */
  tool_use_id: string;
  /** The result, in blocks. */
  content: AnthropicContent[];
  /** Whether the tool failed. */
  is_error: boolean;
}

/** A block of a `tool_result`. */
export type AnthropicContent =
  | { type: 'text'; text: string }
  | { type: 'image'; source: { type: 'base64'; media_type: AnthropicImageType; data: string } }
  | { type: 'document'; source: { type: 'base64'; media_type: 'application/pdf'; data: string } };

type AnthropicImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';

/** A function of OpenAI's Responses API. */
export interface OpenAITool {
  /** Always `function`. */
  type: 'function';
  /** The name of the function for the model. */
  name: string;
  /** The purpose of the function. */
  description?: string;
  /** The JSON Schema of the arguments. */
  parameters: ObjectSchema;
  /** Always false: the schemas of MCP tools need not follow the rules of strict mode. */
  strict: false;
}

/** An item `function_call` of OpenAI's Responses API. */
export interface OpenAIToolCall {
  /** The id of the call. */
  readonly call_id: string;
  /** The name of the function. */
  readonly name: string;
  /** The arguments, as JSON. */
  readonly arguments: string;
}

/** An item `function_call_output` of OpenAI's Responses API. */
export interface OpenAIToolOutput {
  /** Always `function_call_output`. */
  type: 'function_call_output';
  /** The id of the call. */
  call_id: string;
  /** The result, in parts. */
  output: OpenAIContent[];
}

/** A part of a `function_call_output`. */
export type OpenAIContent =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string; detail: 'auto' }
  | { type: 'input_file'; filename: string; file_data: string };

/** A function of OpenAI's Chat Completions API, which many other services have, too. */
export interface ChatTool {
  /** Always `function`. */
  type: 'function';
  /** The function. */
  function: { name: string; description?: string; parameters: ObjectSchema };
}

/** A tool call of the Chat Completions API. */
export interface ChatToolCall {
  /** The id of the call. */
  readonly id: string;
  /** The function, with its arguments as JSON. */
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A message of the role `tool` of the Chat Completions API. It takes only text. */
export interface ChatToolMessage {
  /** Always `tool`. */
  role: 'tool';
  /** The id of the call. */
  tool_call_id: string;
  /** The result as text. */
  content: string;
}

/** A tool of the AI SDK. */
export interface AISDKTool {
  /** Always `dynamic`: the types are not known at development time. */
  type: 'dynamic';
  /** The purpose of the tool. */
  description?: string;
  /** The schema of the arguments, which the server checks. */
  inputSchema: StandardJsonSchema<unknown, unknown>;
  /** Calls the tool. Throws the text of the result if the tool fails. */
  execute: (input: unknown, options: { toolCallId: string; abortSignal?: AbortSignal }) => Promise<unknown>;
  /** Turns the result into content for the model. */
  toModelOutput: (options: { output: unknown }) => { type: 'content'; value: AISDKContent[] };
}

/** A part of the output of an AI SDK tool. */
export type AISDKContent =
  | { type: 'text'; text: string }
  | { type: 'image-data'; data: string; mediaType: string }
  | { type: 'file-data'; data: string; mediaType: string; filename: string };

const described = (description: string | undefined): { description?: string } =>
  description === undefined ? {} : { description };

const failed = ({ parts, isError }: VendorResult): readonly ResultPart[] =>
  isError ? [{ type: 'text', text: 'The tool failed:' }, ...parts] : parts;

export const anthropic = {
  tool: ({ name, description, schema }: VendorTool): AnthropicTool => ({
    name,
    ...described(description),
    input_schema: schema,
  }),
  result: (id: string, { parts, isError }: VendorResult): AnthropicToolResult => ({
    type: 'tool_result',
    tool_use_id: id,
    content: parts.map((part): AnthropicContent => {
      // An empty text block is an error of the API.
      if (part.type === 'text') return { type: 'text', text: part.text || '(empty)' };
      const { data, mimeType } = part;
      return part.type === 'image'
        ? { type: 'image', source: { type: 'base64', media_type: mimeType as AnthropicImageType, data } }
        : { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } };
    }),
    is_error: isError,
  }),
};

export const openAI = {
  tool: ({ name, description, schema }: VendorTool): OpenAITool => ({
    type: 'function',
    name,
    ...described(description),
    parameters: schema,
    strict: false,
  }),
  // The API has no field for failures: the model has to read it.
  result: (id: string, result: VendorResult): OpenAIToolOutput => ({
    type: 'function_call_output',
    call_id: id,
    output: failed(result).map((part): OpenAIContent => {
      if (part.type === 'text') return { type: 'input_text', text: part.text };
      const url = `data:${part.mimeType};base64,${part.data}`;
      return part.type === 'image'
        ? { type: 'input_image', image_url: url, detail: 'auto' }
        : { type: 'input_file', filename: fileName(part.name), file_data: url };
    }),
  }),
};

export const chat = {
  tool: ({ name, description, schema }: VendorTool): ChatTool => ({
    type: 'function',
    function: { name, ...described(description), parameters: schema },
  }),
  result: (id: string, result: VendorResult): ChatToolMessage => ({
    role: 'tool',
    tool_call_id: id,
    content: failed(result)
      .map((part) => (part.type === 'text' ? part : leftOut(part.type, part.mimeType)))
      .map((part) => (part as { text: string }).text)
      .join('\n'),
  }),
};

/** Marks a schema that the AI SDK takes as it is. It would add rules of its own to a Standard Schema. */
const AI_SDK_SCHEMA = Symbol.for('vercel.ai.schema');

export const aiSDK = {
  schema(schema: JsonObject): StandardJsonSchema<unknown, unknown> {
    const convert = (): JsonObject => structuredClone(schema);
    return {
      [AI_SDK_SCHEMA]: true,
      jsonSchema: schema,
      validate: undefined,
      '~standard': {
        version: 1,
        vendor: 'fullmcp',
        validate: (value: unknown) => ({ value }),
        jsonSchema: { input: convert, output: convert },
      },
    } as StandardJsonSchema<unknown, unknown>;
  },
  content: (parts: readonly ResultPart[]): AISDKContent[] =>
    parts.map((part) => {
      if (part.type === 'text') return { type: 'text', text: part.text };
      const { data, mimeType: mediaType } = part;
      return part.type === 'image'
        ? { type: 'image-data', data, mediaType }
        : { type: 'file-data', data, mediaType, filename: fileName(part.name) };
    }),
};

function fileName(uri: string): string {
  const last = uri.slice(uri.lastIndexOf('/') + 1);
  return last.endsWith('.pdf') ? last : 'document.pdf';
}
