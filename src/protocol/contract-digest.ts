// The digest of what a tool accepts and returns, by which an older version of it is known again.

import { canonical } from './canonical.js';
import { encodeBase64Url } from './encoding/base64.js';
import { sha256 } from './encoding/sha256.js';
import type { ListedTool } from './model/model.js';

/** Computes the digest of a tool's schemas. Descriptions of the tool and its annotations make no difference. */
export function contractDigest({
  inputSchema = {},
  outputSchema = null,
}: Partial<Record<keyof Pick<ListedTool, 'inputSchema' | 'outputSchema'>, unknown>>): string {
  const text = canonical([inputSchema, outputSchema]);
  return `sha256:${encodeBase64Url(sha256(new TextEncoder().encode(text)))}`;
}
