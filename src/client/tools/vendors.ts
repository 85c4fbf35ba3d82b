// Makes definitions and results in the shapes of the APIs of models.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { StandardJsonSchema } from '../../schema/standard.js';
import { leftOut, type ResultPart } from './result-parts.js';
import type { ObjectSchema } from './vendor-schema.js';
import type {
  AISDKContent,
  AnthropicContent,
  AnthropicImageType,
  AnthropicTool,
  AnthropicToolResult,
  ChatTool,
  ChatToolMessage,
  OpenAIContent,
  OpenAITool,
  OpenAIToolOutput,
} from './vendor-types.js';

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
