import { isObject, type JsonObject } from '../jsonrpc/message.js';
import type { ContentBlock, Role } from './content.js';
import type { ListedTool } from './model.js';

// What a server may ask its client for, in whatever era: a user's input, a model's answer, the open folders.

/** A request that the client is to fulfil. */
export interface InputRequest {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params?: JsonObject;
}

/** Where a server of ours says under which key it asks, in the session era, whose requests have no keys. */
export const QUESTION_KEY = 'fullmcp/key';

export interface SamplingMessage {
  readonly role: Role;
  readonly content: SamplingContent | readonly SamplingContent[];
}

export type SamplingContent =
  | ContentBlock
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: JsonObject }
  | {
      readonly type: 'tool_result';
      readonly toolUseId: string;
      readonly content: readonly ContentBlock[];
      readonly structuredContent?: unknown;
      readonly isError?: boolean;
    };

/** What both ends of a sampling request know of it. */
export interface SamplingSettings {
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  /** Whose context the model is to be given; for clients that declare `context`. */
  readonly includeContext?: 'none' | 'thisServer' | 'allServers';
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly modelPreferences?: JsonObject;
  readonly metadata?: JsonObject;
  /** Tools that the model may ask for. */
  readonly tools?: readonly ListedTool[];
  readonly toolChoice?: { readonly mode?: 'auto' | 'required' | 'none' };
}

export interface Root {
  readonly uri: string;
  readonly name?: string;
}

/** What is missing in an answer, from the form's defaults. */
export function withDefaults(form: JsonObject, content: unknown): unknown {
  if (!isObject(content)) return content;
  const fields = isObject(form['properties']) ? (form['properties'] as Record<string, unknown>) : {};
  const missing = Object.entries(fields).filter(
    ([name, field]) => isObject(field) && field['default'] !== undefined && !Object.hasOwn(content, name),
  );
  return missing.length === 0
    ? content
    : {
        ...content,
        ...Object.fromEntries(missing.map(([name, field]) => [name, (field as JsonObject)['default']])),
      };
}
