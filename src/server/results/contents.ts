// Converts the return value of a resource's reader to contents.

import { isObject } from '../../jsonrpc/message.js';
import { encodeBase64 } from '../../protocol/encoding/base64.js';
import { assertJson } from '../../protocol/encoding/json-value.js';
import type { ResourceContents } from '../../protocol/model/content.js';
import { UNSENDABLE } from './written-results.js';

/** The resource that is read. */
interface Source {
  readonly uri: string;
  readonly mimeType: string | undefined;
}

/** Converts a reader's return value to contents. `undefined` means that there is no such resource. */
export function toContents(value: unknown, source: Source): readonly ResourceContents[] | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' || isBytes(value) || isContents(value)) return [toPart(value, source)];
  if (Array.isArray(value)) {
    const parts = partsOf(value, source);
    if (parts !== undefined) return parts;
  }
  if (isObject(value)) {
    const contents = readContents(value, source);
    if (contents !== undefined) return contents;
  }
  assertJson(value, UNSENDABLE);
  const { uri, mimeType = 'application/json' } = source;
  return [{ uri, mimeType, text: JSON.stringify(value) }];
}

/** Reads an array of contents and bytes, with strings among them. Returns undefined for other arrays, which are JSON values. */
function partsOf(items: readonly unknown[], source: Source): readonly ResourceContents[] | undefined {
  if (!items.some((item) => isBytes(item) || isContents(item))) return undefined;
  return items.map((item, index) => {
    if (typeof item === 'string' || isBytes(item) || isContents(item)) return toPart(item, source);
    throw new TypeError(
      `${UNSENDABLE}: [${index}] is not contents, but others are. Make it a string, bytes, or { uri, text }.`,
    );
  });
}

/** Reads a complete result, `{ contents: [ … ] }`. Returns undefined for data. */
function readContents(
  value: Readonly<Record<string, unknown>>,
  source: Source,
): readonly ResourceContents[] | undefined {
  const { contents, uri, mimeType, text, blob } = value;
  if (Object.keys(value).every((key) => key === 'contents' || key === '_meta') && 'contents' in value) {
    const parts = Array.isArray(contents) && contents.length > 0 ? partsOf(contents, source) : undefined;
    if (parts !== undefined) return parts;
    throw new TypeError(`${UNSENDABLE}: "contents" must be an array of { uri, text } or { uri, blob }.`);
  }
  const isNearly =
    uri === undefined && typeof mimeType === 'string' && (text !== undefined || blob !== undefined);
  if (!isNearly) return undefined;
  throw new TypeError(`${UNSENDABLE}: it looks like contents, but has no "uri". Add uri: ctx.uri.`);
}

function toPart(
  value: string | Uint8Array | ArrayBuffer | ResourceContents,
  { uri, mimeType }: Source,
): ResourceContents {
  if (typeof value === 'string') return { uri, mimeType: mimeType ?? 'text/plain', text: value };
  if (!isBytes(value)) {
    assertJson(value, UNSENDABLE);
    return value;
  }
  const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : value;
  return { uri, mimeType: mimeType ?? 'application/octet-stream', blob: encodeBase64(bytes) };
}

function isBytes(value: unknown): value is Uint8Array | ArrayBuffer {
  return value instanceof Uint8Array || value instanceof ArrayBuffer;
}

function isContents(value: unknown): value is ResourceContents {
  return (
    isObject(value) &&
    typeof value['uri'] === 'string' &&
    (typeof value['text'] === 'string' || typeof value['blob'] === 'string')
  );
}
