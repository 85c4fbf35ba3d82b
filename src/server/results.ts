import type { JsonObject } from '../jsonrpc/message.js';
import type { Outcome } from '../protocol/call.js';
import { type ContentBlock, isContentBlock, type TextContent } from '../protocol/content.js';
import type { ToolResult } from './define.js';

// What handlers return, as results.

/** Completes a result with what every result carries. */
export type Complete = <T extends object>(fields: T, meta?: JsonObject) => T & Outcome;

export function completeAs(serverMeta: Readonly<JsonObject>): Complete {
  return function complete(fields, meta) {
    return {
      resultType: 'complete',
      ...fields,
      _meta: meta === undefined ? serverMeta : { ...serverMeta, ...meta },
    };
  };
}

/** A plain value becomes text for the model and, unless it is a text, the same value as structured content. */
export function toToolResult(value: unknown): ToolResult {
  if (typeof value === 'string') return { content: [textBlock(value)] };
  if (value === undefined) return { content: [] };
  if (isContentBlock(value)) return { content: [value] };
  if (Array.isArray(value) && value.length > 0 && value.every(isContentBlock)) return { content: value };
  if (isToolResult(value)) return value;
  return structured(value);
}

/** Text and structured content from one value, so that they cannot differ. */
export function structured(value: unknown): ToolResult {
  return { content: [textBlock(JSON.stringify(value) ?? 'null')], structuredContent: value };
}

export function toolFailure(message: string): ToolResult {
  return { content: [textBlock(message)], isError: true };
}

/** Tells a full result from an object that happens to have a field named `content`. */
export function isToolResult(value: unknown): value is ToolResult {
  if (typeof value !== 'object' || value === null) return false;
  const content = (value as JsonObject)['content'];
  return Array.isArray(content) && content.every((block): block is ContentBlock => isContentBlock(block));
}

function textBlock(text: string): TextContent {
  return { type: 'text', text };
}
