// The complete result of a tool.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { ContentBlock } from '../../protocol/model/content.js';

/** A complete result of a tool. Return one from a handler to send more than a value. */
export interface ToolResult {
  /** The blocks that the model reads. */
  readonly content: readonly ContentBlock[];
  /** The value that programs read. It must fit the tool's `output`. */
  readonly structuredContent?: unknown;
  /** Whether the call failed in a way that the model should read about. Default: false. */
  readonly isError?: boolean;
  /** The `_meta` of the result. */
  readonly _meta?: JsonObject;
}
