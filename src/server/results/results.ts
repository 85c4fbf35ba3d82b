// Converts the values that handlers return to results.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Outcome } from '../../protocol/call.js';
import { assertJson } from '../../protocol/encoding/json-value.js';
import { type ContentBlock, isContentBlock, type TextContent } from '../../protocol/model/content.js';
import type { ToolResult } from './tool-result.js';
import { buriedBlock, readToolResult, UNSENDABLE } from './written-results.js';

/** Adds the fields that every result has. */
export type Complete = <T extends object>(fields: T, meta?: JsonObject) => T & Outcome;

/** Makes the function that completes results with the metadata of the server. */
export function completeAs(serverMeta: Readonly<JsonObject>): Complete {
  return function complete(fields, meta) {
    return {
      resultType: 'complete',
      ...fields,
      _meta: meta === undefined ? serverMeta : { ...serverMeta, ...meta },
    };
  };
}

/** Converts a handler's value to a result: text for the model and, unless the value is a string, structured content. */
export function toToolResult(value: unknown): ToolResult {
  if (typeof value === 'string') return { content: [textBlock(value)] };
  if (value === undefined) return { content: [] };
  if (typeof value !== 'object' || value === null) return structuredResult(value);
  const content = isContentBlock(value) ? [value] : Array.isArray(value) ? blocksOf(value) : undefined;
  if (content !== undefined) {
    // Some fields of a block, such as `_meta`, may have any value.
    assertJson(value, UNSENDABLE);
    return { content };
  }
  return readToolResult(value) ?? withoutBuriedBlocks(structuredResult(value));
}

/** Makes the text and the structured content from one value, so that they cannot differ. */
export function structuredResult(value: unknown): ToolResult {
  assertJson(value, UNSENDABLE);
  const json = JSON.stringify(value) ?? 'null';
  const content = [textBlock(json)];
  if (!isObject(value)) return new BareValue(content, value);
  // A Date is an object here, but a string for every client.
  return json[0] === '{' ? { content, structuredContent: value } : new BareValue(content, JSON.parse(json));
}

/**
 * The result for a value that is not an object. If the tool has no output schema, only the text is sent: the current revision
 * allows any structured content, but through a bridge to a client of the session era the whole result would be invalid. Our own
 * client reads the value from the text. It is a class, to distinguish it from a result that a handler wrote itself.
 */
export class BareValue implements ToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent: unknown;

  constructor(content: readonly ContentBlock[], value: unknown) {
    this.content = content;
    this.structuredContent = value;
  }
}

/** Converts the return value of a server's own method: it has the fields of the result. */
export function toMethodResult(value: unknown): object {
  if (value === undefined) return {};
  if (!isObject(value))
    throw new TypeError(`${UNSENDABLE}: a method returns an object. Put the value in a field of one.`);
  assertJson(value, UNSENDABLE);
  return value;
}

/** Makes the result of a failed call, for the model to read. */
export function toolFailure(message: string): ToolResult {
  return { content: [textBlock(message)], isError: true };
}

// Reads an array of blocks, with strings for captions among them; undefined for an array of anything else.
function blocksOf(items: readonly unknown[]): readonly ContentBlock[] | undefined {
  let blocks = 0;
  for (const [index, item] of items.entries()) {
    if (isContentBlock(item)) blocks++;
    else if (typeof item !== 'string') {
      if (blocks === 0) return undefined;
      throw new TypeError(
        `${UNSENDABLE}: [${index}] is not a content block, but others are. Make it a string or a block, such as text(JSON.stringify(value)).`,
      );
    }
  }
  return blocks === 0 ? undefined : items.map(toBlock);
}

function toBlock(item: unknown): ContentBlock {
  return typeof item === 'string' ? textBlock(item) : (item as ContentBlock);
}

const LONG = 1000;

// The model would read an image inside data as thousands of tokens of base64.
function withoutBuriedBlocks(result: ToolResult): ToolResult {
  const [{ text }] = result.content as readonly [TextContent];
  // For long data only the first item of each array is searched: a complete search would cost more than it saves.
  const isLikely = text.length > LONG || text.includes('mimeType":"');
  const path = isLikely ? buriedBlock(result.structuredContent, text.length > LONG) : undefined;
  if (path === undefined) return result;
  throw new TypeError(
    `${UNSENDABLE}: ${path} is a content block inside data, which models would read as base64. Return an array of blocks and strings.`,
  );
}

function textBlock(text: string): TextContent {
  return { type: 'text', text };
}
