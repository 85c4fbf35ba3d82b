import type { JsonObject } from '../jsonrpc/message.js';
import type { Call, Outcome } from '../protocol/call.js';
import type { ListedTool } from '../protocol/model.js';
import { newestRevision } from '../protocol/revisions.js';
import type { ToolResult } from '../server/define.js';
import { toolFailure, toToolResult } from '../server/results.js';

// Values of the protocol, for tests of what takes or gives them.

/** A call that keeps what is notified in it. */
export interface BuiltCall extends Call {
  readonly notified: readonly { readonly method: string; readonly params: JsonObject | undefined }[];
}

/** A whole call, to hand to a Dispatch or a Middleware directly. */
export function callOf(method: string, params: JsonObject = {}, overrides: Partial<Call> = {}): BuiltCall {
  const notified: { method: string; params: JsonObject | undefined }[] = [];
  return {
    id: 1,
    method,
    params,
    peer: {
      revision: newestRevision,
      client: { name: 'test', version: '0.0.0' },
      capabilities: {},
      logLevel: undefined,
    },
    signal: new AbortController().signal,
    notify: (name, said) => void notified.push({ method: name, params: said }),
    ...overrides,
    notified,
  };
}

/** A tool's result, from what a handler would return; an Error makes a failure. */
export function toolResult(value: unknown): ToolResult & Outcome {
  return {
    resultType: 'complete',
    ...(value instanceof Error ? toolFailure(value.message) : toToolResult(value)),
  };
}

/** A tool as it is listed. It takes anything unless told. */
export function listedTool(name: string, overrides: Partial<ListedTool> = {}): ListedTool {
  return { name, inputSchema: { type: 'object' }, ...overrides };
}
