// The shapes of the APIs of models: definitions of tools, calls of the model, and results.

import type { StandardJsonSchema } from '../../schema/standard.js';
import type { ObjectSchema } from './vendor-schema.js';

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

/** A block of a `tool_result`: text, an image or a document. */
export type AnthropicContent =
  | TextPart
  | {
      /** Always `image`. */
      type: 'image';
      /** The image. */
      source: AnthropicSource<AnthropicImageType>;
    }
  | {
      /** Always `document`. */
      type: 'document';
      /** The document. */
      source: AnthropicSource<'application/pdf'>;
    };

/** A part of a result that is text. */
type TextPart = {
  /** Always `text`. */
  type: 'text';
  /** The text itself. */
  text: string;
};

/** The bytes of a block of a `tool_result`. */
type AnthropicSource<MediaType> = {
  /** Always `base64`. */
  type: 'base64';
  /** The media type of the bytes. */
  media_type: MediaType;
  /** The bytes, as base64. */
  data: string;
};

/** The media types of images that Anthropic's Messages API takes. */
export type AnthropicImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';

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

/** A part of a `function_call_output`: text, an image or a file. */
export type OpenAIContent =
  | {
      /** Always `input_text`. */
      type: 'input_text';
      /** The text itself. */
      text: string;
    }
  | {
      /** Always `input_image`. */
      type: 'input_image';
      /** The image, as a `data:` URL. */
      image_url: string;
      /** The resolution that the model sees. */
      detail: 'auto';
    }
  | {
      /** Always `input_file`. */
      type: 'input_file';
      /** The name of the file. */
      filename: string;
      /** The file, as a `data:` URL. */
      file_data: string;
    };

/** A function of OpenAI's Chat Completions API, which many other services have, too. */
export interface ChatTool {
  /** Always `function`. */
  type: 'function';
  /** The function. */
  function: {
    /** The name of the function for the model. */
    name: string;
    /** The purpose of the function. */
    description?: string;
    /** The JSON Schema of the arguments. */
    parameters: ObjectSchema;
  };
}

/** A tool call of the Chat Completions API. */
export interface ChatToolCall {
  /** The id of the call. */
  readonly id: string;
  /** The function, with its arguments as JSON. */
  readonly function: {
    /** The name of the function. */
    readonly name: string;
    /** The arguments, as JSON. */
    readonly arguments: string;
  };
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
  execute: (input: unknown, options: AISDKExecution) => Promise<unknown>;
  /** Turns the result into content for the model. */
  toModelOutput: (options: AISDKResult) => AISDKOutput;
}

/** The options of a call by the AI SDK. */
type AISDKExecution = {
  /** The id of the call. */
  toolCallId: string;
  /** Aborts when the whole generation is cancelled. */
  abortSignal?: AbortSignal;
};

/** The result of an AI SDK tool. */
type AISDKResult = {
  /** The value that `execute` returned. */
  output: unknown;
};

/** The result of an AI SDK tool, for the model. */
type AISDKOutput = {
  /** Always `content`. */
  type: 'content';
  /** The parts. */
  value: AISDKContent[];
};

/** A part of the output of an AI SDK tool: text, an image or a file. */
export type AISDKContent =
  | TextPart
  | {
      /** Always `image-data`. */
      type: 'image-data';
      /** The bytes, as base64. */
      data: string;
      /** The media type of the bytes. */
      mediaType: string;
    }
  | {
      /** Always `file-data`. */
      type: 'file-data';
      /** The bytes, as base64. */
      data: string;
      /** The media type of the bytes. */
      mediaType: string;
      /** The name of the file. */
      filename: string;
    };
