import type { JsonObject } from '../../jsonrpc/message.js';
import type { CallSource } from '../../protocol/errors.js';
import type { ContentBlock, ResourceContents } from '../../protocol/model/content.js';
import type { PromptMessage } from '../../protocol/model/model.js';

// The results of calls that a program receives.

/** The result of a tool. A failure of the tool itself is a result, too; `unwrap` throws it. */
export interface CallResult {
  /** The content blocks, in order. */
  readonly content: readonly ContentBlock[];
  /** The text blocks, joined by line breaks. */
  readonly text: string;
  /**
   * The structured content; undefined if there is none. It is checked against the tool's output schema if the tool was listed
   * before.
   */
  readonly data: unknown;
  /** Whether the tool failed. */
  readonly isError: boolean;
  /**
   * The error that the tool has thrown, if the server runs in this process and the message is masked; otherwise undefined. Not
   * enumerable.
   */
  readonly cause?: unknown;
  /** The result's `_meta`. */
  readonly meta: JsonObject | undefined;
  /** The call that has this result, with its server. Not enumerable: not printed, compared or copied with the result. */
  readonly source: CallSource;
  /** Returns the data, or the text if there is no data. Throws `tool_failed` if the tool failed. */
  readonly unwrap: () => unknown;
}

/** The result of a tool that the model has called. */
export type ToolAnswer = Pick<CallResult, 'content' | 'text' | 'data' | 'isError'>;

/** The contents of a resource. */
export interface ReadResult {
  /** The parts: text, or bytes as base64. */
  readonly contents: readonly ResourceContents[];
  /** The text of all parts, joined; bytes are left out. */
  readonly text: string;
  /** The bytes of all parts, one after another: decoded, and text as UTF-8. Throws `bad_response` for a part that cannot be decoded. Not enumerable. */
  readonly bytes: () => Uint8Array;
  /** The result's `_meta`. */
  readonly meta: JsonObject | undefined;
  /** The call that has this result, with its server. Not enumerable. */
  readonly source: CallSource;
}

/** A prompt, filled in with its arguments. */
export interface PromptResult {
  /** A sentence about the prompt. */
  readonly description: string | undefined;
  /** The messages to give to a model, in order. */
  readonly messages: readonly PromptMessage[];
  /** The result's `_meta`. */
  readonly meta: JsonObject | undefined;
  /** The call that has this result, with its server. Not enumerable. */
  readonly source: CallSource;
}

/** The argument to complete: of a prompt, or of a URI template. */
export type CompletionRequest = (
  | {
      /** The name of the prompt. */
      readonly prompt: string;
      /** Not together with `prompt`. */
      readonly template?: never;
    }
  | {
      /** The URI template, as it is listed. */
      readonly template: string;
      /** Not together with `template`. */
      readonly prompt?: never;
    }
) & {
  /** The name of the argument or of the template's variable. */
  readonly argument: string;
  /** The part of the value that the user has typed. */
  readonly value: string;
  /** The values of the other arguments that are already filled in. */
  readonly filled?: Readonly<Record<string, string>>;
};

/** The values that complete an argument. */
export interface Completion {
  /** The values, the best first. */
  readonly values: readonly string[];
  /** The number of values that exist, if the server knows it. */
  readonly total: number | undefined;
  /** Whether there are more values than were sent. */
  readonly hasMore: boolean;
  /** The call that has this result, with its server. Not enumerable. */
  readonly source: CallSource;
}
