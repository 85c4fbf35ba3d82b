// Compares content blocks, and describes them in a few words.

import { isObject } from '../../jsonrpc/message.js';
import { encodeBase64 } from '../../protocol/encoding/base64.js';
import { quote, shorten } from '../../protocol/encoding/shorten.js';
import type { ContentBlock } from '../../protocol/model/content.js';

/** The expected fields of a content block. Fields that are not named are not compared. */
export interface ContentMatch {
  /** The type of the block. Contents of resources have none. */
  readonly type?: ContentBlock['type'];
  /** The text of the block, or a regular expression that it matches. */
  readonly text?: string | RegExp;
  /** The bytes of an image or a sound; a string is compared with their base64 form. */
  readonly data?: Uint8Array | string;
  /** The bytes of a resource; a string is compared with their base64 form. */
  readonly blob?: Uint8Array | string;
  /** The media type, or a regular expression that it matches. */
  readonly mimeType?: string | RegExp;
  /** The URI of a resource, or a regular expression that it matches. */
  readonly uri?: string | RegExp;
  /** Any other field. */
  readonly [field: string]: unknown;
}

export type Equals = (a: unknown, b: unknown) => boolean;

const MAX_LISTED = 20;

/** The content blocks of a tool's result, the contents of a resource, or the contents of a prompt's messages. */
export function blocksOf(result: unknown): readonly unknown[] | undefined {
  if (Array.isArray(result)) return result;
  if (!isObject(result)) return undefined;
  const { content, contents, messages } = result;
  if (Array.isArray(messages))
    return messages.map((message) => (isObject(message) ? message['content'] : message));
  return [content, contents].find((list) => Array.isArray(list)) as readonly unknown[] | undefined;
}

/** Whether a block has all expected fields. */
export function matchesBlock(block: unknown, expected: ContentMatch, equals: Equals): boolean {
  return (
    isObject(block) && Object.entries(expected).every(([name, value]) => isFit(block[name], value, equals))
  );
}

function isFit(actual: unknown, expected: unknown, equals: Equals): boolean {
  // `search` ignores the position that a global expression keeps between two uses.
  if (expected instanceof RegExp) return typeof actual === 'string' && actual.search(expected) >= 0;
  if (expected instanceof Uint8Array) return actual === encodeBase64(expected);
  return equals(actual, expected);
}

/** Describes the blocks of a result, each in a few words. */
export function describeBlocks(blocks: readonly unknown[]): string {
  if (blocks.length === 0) return 'no content';
  const more = blocks.length > MAX_LISTED ? `, and ${blocks.length - MAX_LISTED} more` : '';
  return `[${blocks.slice(0, MAX_LISTED).map(describeBlock).join(', ')}${more}]`;
}

function describeBlock(block: unknown): string {
  if (!isObject(block)) return shorten(JSON.stringify(block) ?? String(block), 100);
  const { type, text, data, blob, mimeType, uri, resource } = block;
  if (isObject(resource)) return `${type} ${describeBlock(resource)}`;
  const bytes = [data, blob].find((field) => typeof field === 'string') as string | undefined;
  const parts = [
    type,
    uri === undefined ? undefined : quote(String(uri), 100),
    mimeType,
    typeof text === 'string' ? quote(text, 100) : undefined,
    bytes === undefined ? undefined : `of ${lengthOf(bytes)} bytes`,
  ].filter((part) => part !== undefined);
  return shorten(parts.join(' ') || JSON.stringify(block), 300);
}

/** The number of bytes in base64. */
function lengthOf(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.floor((base64.length * 3) / 4) - padding;
}

/** Describes expected blocks. */
export function describeMatch(expected: ContentMatch | readonly ContentMatch[]): string {
  const print = (_key: string, value: unknown): unknown => {
    if (value instanceof RegExp) return String(value);
    return value instanceof Uint8Array ? `${value.length} bytes` : value;
  };
  return shorten(JSON.stringify(expected, print), 500);
}
