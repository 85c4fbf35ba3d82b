// Reads the reply of an API by its media type.

import { encodeBase64 } from '../../protocol/encoding/base64.js';
import { quote } from '../../protocol/encoding/shorten.js';
import type { ContentBlock, ResourceContents } from '../../protocol/model/content.js';
import { ToolError } from '../../server/results/tool-error.js';
import type { ToolResult } from '../../server/results/tool-result.js';
import { essenceOf, isJsonType, isTextType } from '../request/body.js';
import { cutText, type FieldTree, pickFields } from './trim.js';

/** A successful reply. */
export type Reply =
  | { readonly kind: 'empty'; readonly status: number }
  | { readonly kind: 'json'; readonly status: number; readonly value: unknown; readonly mediaType: string }
  | { readonly kind: 'text'; readonly status: number; readonly text: string; readonly mediaType: string }
  | { readonly kind: 'binary'; readonly status: number; readonly data: string; readonly mediaType: string };

/** Whether a reply has no body, whatever its headers and the document say. RFC 9110, 6.4.1. */
export function isBodyless(status: number, method: string): boolean {
  return method === 'head' || status === 204 || status === 205 || status === 304;
}

/** Reads the body of a reply to an operation. */
export async function readReply(response: Response, method: string, where: string): Promise<Reply> {
  const { status } = response;
  if (isBodyless(status, method)) {
    await response.body?.cancel();
    return { kind: 'empty', status };
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (bytes.length === 0) return { kind: 'empty', status };
  const declared = essenceOf(response.headers.get('content-type') ?? '');
  const mediaType = declared === '' ? 'text/plain' : declared;
  if (isJsonType(mediaType)) return { kind: 'json', status, value: parse(bytes, where, status), mediaType };
  if (isTextType(mediaType) || mediaType === 'application/x-www-form-urlencoded')
    return { kind: 'text', status, text: new TextDecoder().decode(bytes), mediaType };
  return { kind: 'binary', status, data: encodeBase64(bytes), mediaType };
}

function parse(bytes: Uint8Array, where: string, status: number): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw new ToolError(
      `${where} succeeded with status ${status}, but its reply is not valid JSON: ${quote(error instanceof Error ? error.message : '', 200)}`,
    );
  }
}

/** How replies are made smaller. */
export interface Trimming {
  readonly pick: FieldTree;
  readonly maxChars: number | undefined;
}

/** The result of a tool. It is complete, since data with a field `content` could be mistaken for a result. */
export function toResult(reply: Reply, { pick, maxChars }: Trimming, where: string): ToolResult {
  switch (reply.kind) {
    case 'empty':
      return { content: [{ type: 'text', text: describeEmpty(reply.status) }] };
    case 'json': {
      const value = pickFields(reply.value, pick);
      const text = JSON.stringify(value);
      const isCut = maxChars !== undefined && text.length > maxChars;
      return {
        content: [{ type: 'text', text: cutText(text, maxChars) }],
        ...(!isCut && { structuredContent: value }),
      };
    }
    case 'text':
      return { content: [{ type: 'text', text: cutText(reply.text, maxChars) }] };
    case 'binary':
      return { content: [toBlock(reply, where)] };
    default:
      return reply satisfies never;
  }
}

function describeEmpty(status: number): string {
  return status === 304 ? 'Not modified (status 304).' : `Done (status ${status}, no content).`;
}

function toBlock({ data, mediaType }: Extract<Reply, { kind: 'binary' }>, where: string): ContentBlock {
  if (mediaType.startsWith('image/')) return { type: 'image', data, mimeType: mediaType };
  if (mediaType.startsWith('audio/')) return { type: 'audio', data, mimeType: mediaType };
  const uri = `reply:${encodeURIComponent(where)}`;
  return { type: 'resource', resource: { uri, mimeType: mediaType, blob: data } };
}

/** The contents of a resource. */
export function toContents(reply: Reply, { pick, maxChars }: Trimming, uri: string): ResourceContents {
  switch (reply.kind) {
    case 'empty':
      return { uri, mimeType: 'text/plain', text: '' };
    case 'json':
      return {
        uri,
        mimeType: reply.mediaType,
        text: cutText(JSON.stringify(pickFields(reply.value, pick)), maxChars),
      };
    case 'text':
      return { uri, mimeType: reply.mediaType, text: cutText(reply.text, maxChars) };
    case 'binary':
      return { uri, mimeType: reply.mediaType, blob: reply.data };
    default:
      return reply satisfies never;
  }
}
