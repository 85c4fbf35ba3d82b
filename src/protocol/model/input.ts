import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { ContentBlock, Role } from './content.js';
import type { ListedTool } from './model.js';

// The input that a server may ask its client for, in both eras: a user's answer, a model's message, the open folders.

/** A request of a server for input, which the client fulfils. */
export interface InputRequest {
  /** The kind of input: from the user, from a model, or the open folders. */
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  /** The parameters of the request. */
  readonly params?: JsonObject;
}

/** The number of the error with which a client of a session says that its user rejected a request for sampling. */
const REJECTED = -1;

/** The answer to a request for sampling that the user has rejected. Only calls of sessions have it: 2026-07-28 has no such answer. */
const rejectedSampling: JsonObject = Object.freeze({ error: Object.freeze({ code: REJECTED }) });

/** Whether an answer says that the user rejected a request for sampling. */
export function isRejectedSampling(answer: unknown): boolean {
  return isObject(answer) && isObject(answer['error']) && answer['error']['code'] === REJECTED;
}

/** The answer in the error with which a client responded to a question; undefined if the client could not answer. */
export function rejectionIn(method: string, error: { readonly code: number }): JsonObject | undefined {
  return method === 'sampling/createMessage' && error.code === REJECTED ? rejectedSampling : undefined;
}

/** One message of the conversation that a model continues. */
export interface SamplingMessage {
  /** The speaker: `user`, or `assistant` for the model. */
  readonly role: Role;
  /** One block, or several in order. */
  readonly content: SamplingContent | readonly SamplingContent[];
}

/** One piece of a sampling message: content, a model's use of a tool, or the result of that tool. */
export type SamplingContent =
  | ContentBlock
  | {
      /** Always `tool_use`. */
      readonly type: 'tool_use';
      /** The id of this use, which its result repeats. */
      readonly id: string;
      /** The tool's name. */
      readonly name: string;
      /** The arguments for the tool. */
      readonly input: JsonObject;
    }
  | {
      /** Always `tool_result`. */
      readonly type: 'tool_result';
      /** The `id` of the use that this result belongs to. */
      readonly toolUseId: string;
      /** The result as content blocks. */
      readonly content: readonly ContentBlock[];
      /** The result as JSON. */
      readonly structuredContent?: unknown;
      /** Whether the tool failed. Default: false. */
      readonly isError?: boolean;
    };

/** The settings of a sampling request, the same at both ends. */
export interface SamplingSettings {
  /** The most tokens that the model may produce. The client may use fewer. */
  readonly maxTokens: number;
  /** The system prompt that the server proposes. The client may change or ignore it. */
  readonly systemPrompt?: string;
  /** The servers whose context the model is given. Only for clients that declare `context`. Default: `none`. */
  readonly includeContext?: 'none' | 'thisServer' | 'allServers';
  /** The model's temperature, in the model's own range. */
  readonly temperature?: number;
  /** Strings at which the model stops. */
  readonly stopSequences?: readonly string[];
  /** Hints on which model to choose: `hints`, `costPriority`, `speedPriority`, `intelligencePriority`. */
  readonly modelPreferences?: JsonObject;
  /** Parameters for the model's provider, passed on as they are. */
  readonly metadata?: JsonObject;
  /** Tools that the model may use. Only for clients that declare `tools`. */
  readonly tools?: readonly ListedTool[];
  /** Whether the model may, must or must not use a tool. */
  readonly toolChoice?: {
    /** `auto` leaves it to the model, `required` demands a use, `none` forbids it. Default: `auto`. */
    readonly mode?: 'auto' | 'required' | 'none';
  };
}

/** A folder or file that the client opens to the server. */
export interface Root {
  /** A `file:` URI. */
  readonly uri: string;
  /** A name to show to people. */
  readonly name?: string;
}

/** An answer to a form, with missing fields filled in from the form's defaults. */
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

/** The user's answer to a request to visit a page. */
export interface ElicitUrlResult {
  /**
   * `accept`: the user agreed to open the page, but may not have finished there yet; `decline`: the user refused; `cancel`: the
   * user closed the question.
   */
  readonly action: 'accept' | 'decline' | 'cancel';
}
