import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Outcome } from '../../protocol/call.js';
import { assertJson } from '../../protocol/encoding/json-value.js';
import { type ContentBlock, isContentBlock, type TextContent } from '../../protocol/model/content.js';
import type { ToolResult } from './tool-result.js';
import { buriedBlock, readToolResult, UNSENDABLE } from './written-results.js';

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
  if (typeof value !== 'object' || value === null) return structuredResult(value);
  const content = isContentBlock(value) ? [value] : Array.isArray(value) ? blocksOf(value) : undefined;
  if (content !== undefined) {
    // A block's own fields, such as `_meta`, may hold anything.
    assertJson(value, UNSENDABLE);
    return { content };
  }
  return readToolResult(value) ?? withoutBuriedBlocks(structuredResult(value));
}

/** Text and structured content from one value, so that they cannot differ. */
export function structuredResult(value: unknown): ToolResult {
  assertJson(value, UNSENDABLE);
  const json = JSON.stringify(value) ?? 'null';
  const content = [textBlock(json)];
  if (!isObject(value)) return new BareValue(content, value);
  // A Date is an object here, and a string to every client.
  return json[0] === '{' ? { content, structuredContent: value } : new BareValue(content, JSON.parse(json));
}

/**
 * The result of a value that is not an object. Where no schema tells clients what to expect, only its text is sent: today's
 * revision allows any structured content, but a bridge that passes it on to a client of the session era breaks the whole
 * result. Our own client reads the value from the text. A class, so that a result which a handler wrote out is another.
 */
export class BareValue implements ToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent: unknown;

  constructor(content: readonly ContentBlock[], value: unknown) {
    this.content = content;
    this.structuredContent = value;
  }
}

/** What a method of the server's own returned: the fields of its result. */
export function toMethodResult(value: unknown): object {
  if (value === undefined) return {};
  if (!isObject(value))
    throw new TypeError(`${UNSENDABLE}: a method returns an object. Put the value in a field of one.`);
  assertJson(value, UNSENDABLE);
  return value;
}

export function toolFailure(message: string): ToolResult {
  return { content: [textBlock(message)], isError: true };
}

// Blocks, with strings among them for captions; undefined where it is an array of something else.
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

// An image inside of data would be thousands of tokens of base64 for the model.
function withoutBuriedBlocks(result: ToolResult): ToolResult {
  const [{ text }] = result.content as readonly [TextContent];
  // Of a long text only the first of each list is looked at: a search of the whole would cost more than the block saves.
  const isLikely = text.length > LONG || text.includes('mimeType":"');
  const path = isLikely ? buriedBlock(result.structuredContent, text.length > LONG) : undefined;
  if (path === undefined) return result;
  throw new TypeError(
    `${UNSENDABLE}: ${path} is a content block inside of data, which models would read as base64. Return an array of blocks and strings.`,
  );
}

function textBlock(text: string): TextContent {
  return { type: 'text', text };
}
