// The entry `fullmcp/tools`: the tools of a client or a server, for programs that call models.

import type { Client, ClientCode } from './client/model/client.js';
import { type VendorTools, vendorTools } from './client/tools/to-tools.js';
import type { ToolClient, ToolSearch } from './client/tools/tool-search.js';
import type { Dispatch } from './protocol/call.js';

export type { ToolAnswer } from './client/model/results.js';
export type { ModelTools, VendorTools } from './client/tools/to-tools.js';
export {
  type RankedTool,
  type ToolClient,
  type ToolSearch,
  type ToolSearchOptions,
  toolSearch,
} from './client/tools/tool-search.js';
export type { ObjectSchema } from './client/tools/vendor-schema.js';
export type {
  AISDKContent,
  AISDKTool,
  AnthropicContent,
  AnthropicTool,
  AnthropicToolResult,
  AnthropicToolUse,
  ChatTool,
  ChatToolCall,
  ChatToolMessage,
  OpenAIContent,
  OpenAITool,
  OpenAIToolCall,
  OpenAIToolOutput,
} from './client/tools/vendor-types.js';

/** The tools of a server for an API, and the connection that `toTools` has made for them. */
export type ConnectedTools<V extends keyof VendorTools> = VendorTools[V] & {
  /** Closes the connection to a server in the same process. A client that was passed stays open. */
  readonly close: () => Promise<void>;
};

/**
 * Gives the tools of a client, of a search, of code mode, or of a server in the same process to a model, in the shape of its API, with a function that
 * makes the calls of the model. The tools are those that the server lists now.
 *
 * @example
 * const { tools, run } = await toTools(client, 'anthropic');
 * const message = await api.messages.create({ model, max_tokens, messages, tools });
 * const results = await Promise.all(message.content.filter((block) => block.type === 'tool_use').map((use) => run(use)));
 */
export async function toTools<V extends keyof VendorTools>(
  source: ToolClient | ToolSearch | ClientCode | { readonly dispatch: Dispatch },
  vendor: V,
): Promise<ConnectedTools<V>> {
  if (typeof source !== 'object' || source === null)
    throw new TypeError(
      'toTools needs a client, a search of toolSearch, or a server: toTools(client, "anthropic").',
    );
  if ('call' in source && Array.isArray(source.tools))
    return { ...vendorTools(source as ToolSearch, vendor), close: async () => undefined };
  const own = 'dispatch' in source ? await connectTo(source) : undefined;
  const client = own ?? (source as ToolClient);
  const tools = await client.tools().all();
  const call: ToolSearch['call'] = (name, args, options) => client.callTool(name, args, options);
  return {
    ...vendorTools({ tools, call }, vendor),
    close: async () => own?.close(),
  };
}

async function connectTo(server: { readonly dispatch: Dispatch }): Promise<Client> {
  const { connect } = await import('./client-web.js');
  return connect(server as never) as Promise<Client>;
}
