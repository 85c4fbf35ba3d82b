// The body of a reply: what a tool, a resource or a prompt has returned, in the form that the client prefers.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Outcome } from '../../protocol/call.js';
import { decodeBase64 } from '../../protocol/encoding/base64.js';
import { isPrinted } from '../../protocol/encoding/printed-value.js';
import { INVALID_ARGUMENTS, MASKED, notCalled } from '../../protocol/tables/failure-texts.js';
import { listOf } from '../document/operations.js';
import type { Problem } from './problem.js';
import type { RestTarget } from './rest-paths.js';

/** A body and its media type. */
export interface Representation {
  readonly type: string;
  readonly body: string | Uint8Array<ArrayBuffer>;
}

const JSON_TYPE = 'application/json';

/** The problem that an outcome is; undefined if it is a success. */
export function failureOf(outcome: Outcome, target: RestTarget): Problem | undefined {
  if (outcome.resultType !== 'complete')
    return {
      ...{ status: 409, code: 'needs_mcp_client' },
      detail:
        'The call did not end with a result: it asks a question, or became a task. Such calls need an MCP client.',
    };
  if (target.kind !== 'tool' || outcome['isError'] !== true) return undefined;
  const detail = listOf(outcome['content'])
    .map((block) => (isObject(block) && typeof block['text'] === 'string' ? block['text'] : ''))
    .join('\n');
  if (detail.startsWith(INVALID_ARGUMENTS)) return { status: 422, code: 'invalid_arguments', detail };
  if (detail.startsWith(notCalled(target.name))) return { status: 403, code: 'forbidden', detail };
  if (detail.startsWith(MASKED)) return { status: 500, code: 'internal_error', detail };
  const data = outcome['structuredContent'];
  return { status: 422, code: 'tool_failed', detail, ...(data !== undefined && { data }) };
}

/** The representations of a successful outcome, the usual one first; none if there is nothing to send. */
export function representationsOf(outcome: Outcome, { kind }: RestTarget): readonly Representation[] {
  if (kind === 'tool') return ofTool(outcome);
  if (kind === 'resource') return ofResource(outcome);
  const { description, messages } = outcome;
  return [json({ ...(description !== undefined && { description }), messages })];
}

function ofTool(outcome: Outcome): readonly Representation[] {
  const { content, structuredContent } = outcome;
  if (structuredContent !== undefined) return [json(structuredContent)];
  const blocks = listOf(content);
  const [only] = blocks;
  if (only === undefined) return [];
  const all = json({ content: blocks });
  if (!isObject(only)) return [all];
  const isText = blocks.every((block) => isObject(block) && block['type'] === 'text');
  if (isText && isPrinted(outcome)) return [{ type: JSON_TYPE, body: String(only['text']) }];
  if (isText)
    return [text('text/plain', blocks.map((block) => String((block as JsonObject)['text'])).join('\n')), all];
  if (blocks.length > 1) return [all];
  const { type, data, mimeType, resource } = only;
  if (type === 'image' || type === 'audio') return [...bytes(mimeType, data), all];
  return type === 'resource' && isObject(resource) ? [...contents(resource), all] : [all];
}

function ofResource({ contents: list }: Outcome): readonly Representation[] {
  const items = listOf(list);
  const all = json({ contents: items });
  const [only] = items;
  return items.length === 1 && isObject(only) ? [...contents(only), all] : [all];
}

function contents({ text: written, blob, mimeType }: JsonObject): readonly Representation[] {
  if (typeof written === 'string') return [text(typeOf(mimeType, 'text/plain'), written)];
  return bytes(mimeType, blob);
}

function json(value: unknown): Representation {
  return { type: JSON_TYPE, body: JSON.stringify(value) ?? 'null' };
}

// JSON is always UTF-8, and has no parameter for it.
function text(type: string, body: string): Representation {
  return { type: type.startsWith('text/') ? `${type};charset=utf-8` : type, body };
}

function bytes(mimeType: unknown, data: unknown): readonly Representation[] {
  const body = typeof data === 'string' ? decodeBase64(data) : undefined;
  return body === undefined ? [] : [{ type: typeOf(mimeType, 'application/octet-stream'), body }];
}

/** The media type that a tool has named. Nothing in it may end the header, and its parameters are not needed. */
function typeOf(mimeType: unknown, usual: string): string {
  const [essence = ''] = typeof mimeType === 'string' ? mimeType.split(';', 1) : [];
  return /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(essence.trim()) ? essence.trim() : usual;
}
