// Builds values of the protocol, for tests of functions that accept or return them.

import type { JsonObject } from '../jsonrpc/message.js';
import type { Call, Outcome } from '../protocol/call.js';
import type { ResourceContents } from '../protocol/model/content.js';
import type { ListedPrompt, ListedResource, ListedTemplate, ListedTool } from '../protocol/model/model.js';
import { newestRevision } from '../protocol/tables/revisions.js';
import { type GetPromptResult, toPromptResult } from '../server/catalog/prompts.js';
import { toContents } from '../server/results/contents.js';
import { toolFailure, toToolResult } from '../server/results/results.js';
import type { ToolResult } from '../server/results/tool-result.js';

/** The contents of a resource, as a server sends them. */
type BuiltResource = {
  /** The parts: text, or bytes as base64. */
  readonly contents: readonly ResourceContents[];
};

/** A call that records its notifications. */
export interface BuiltCall extends Call {
  /** The notifications of the call so far, in order. */
  readonly notifications: readonly {
    /** The notification's method, such as `notifications/progress`. */
    readonly method: string;
    /** The notification's parameters. */
    readonly params: JsonObject | undefined;
  }[];
}

/**
 * Builds a call for a direct test of a `Dispatch` or a `Middleware`. Default: the newest revision, no capabilities, an anonymous
 * caller; `overrides` changes that.
 */
export function buildCall(method: string, params: JsonObject = {}, overrides: Partial<Call> = {}): BuiltCall {
  const notifications: { method: string; params: JsonObject | undefined }[] = [];
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
    notify: (name, content) => void notifications.push({ method: name, params: content }),
    ...overrides,
    notifications,
  };
}

/** Builds the result of a tool whose handler returns this value. An `Error` makes a result with `isError`. */
export function toolResult(value: unknown): ToolResult & Outcome {
  return {
    resultType: 'complete',
    ...(value instanceof Error ? toolFailure(value.message) : toToolResult(value)),
  };
}

/** Builds the result of a resource whose reader returns this value: a string, bytes, a JSON value, or contents. */
export function resourceResult(uri: string, value: unknown): BuiltResource & Outcome {
  const contents = toContents(value, { uri, mimeType: undefined }) ?? [];
  return { resultType: 'complete', contents };
}

/** Builds the result of a prompt whose handler returns this value: a string, a message, a content block, or an array of these. */
export function promptResult(value: unknown, description?: string): GetPromptResult & Outcome {
  return { resultType: 'complete', ...toPromptResult(value, description) };
}

/** Builds a resource as a server lists it. Default of `name`: the URI. */
export function listedResource(uri: string, overrides: Partial<ListedResource> = {}): ListedResource {
  return { uri, name: uri, ...overrides };
}

/** Builds a URI template as a server lists it. Default of `name`: the template. */
export function listedTemplate(uriTemplate: string, overrides: Partial<ListedTemplate> = {}): ListedTemplate {
  return { uriTemplate, name: uriTemplate, ...overrides };
}

/** Builds a prompt as a server lists it. Default of `arguments`: none. */
export function listedPrompt(name: string, overrides: Partial<ListedPrompt> = {}): ListedPrompt {
  return { name, ...overrides };
}

/** Builds a tool as a server lists it. Default of `inputSchema`: any object. */
export function listedTool(name: string, overrides: Partial<ListedTool> = {}): ListedTool {
  return { name, inputSchema: { type: 'object' }, ...overrides };
}
