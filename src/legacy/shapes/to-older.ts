import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Outcome } from '../../protocol/call.js';
import { SERVER_INFO, SUBSCRIPTION_ID } from '../../protocol/meta.js';
import { has } from '../../protocol/tables/features.js';
import { taskSupportOf } from '../../protocol/tables/meta-keys.js';
import type { Revision } from '../../protocol/tables/revisions.js';
import { withObject, withoutStructured } from './structured.js';

// Translates results and notifications of the newest revision into the shapes of an older one. Fields that older clients ignore are
// left in; only shapes that would break those clients are translated.

const printedResults = new WeakMap<Outcome, Map<Revision, string>>();

/** The JSON of a result for `revision`. A list is printed once for each revision that requests it. */
export function printAsOlder(revision: Revision, method: string, outcome: Outcome): string {
  if (!Object.isFrozen(outcome)) return JSON.stringify(toOlder(revision, method, outcome));
  const byRevision = printedResults.get(outcome) ?? new Map<Revision, string>();
  printedResults.set(outcome, byRevision);
  const text = byRevision.get(revision) ?? JSON.stringify(toOlder(revision, method, outcome));
  byRevision.set(revision, text);
  return text;
}

function toOlder(revision: Revision, method: string, outcome: Outcome): JsonObject {
  const { resultType, ttlMs, cacheScope, _meta, ...result } = outcome;
  const meta = withoutKey(_meta, SERVER_INFO);
  const rest = meta === undefined ? result : { ...result, _meta: meta };
  switch (method) {
    case 'tools/list':
      return { ...rest, tools: (result['tools'] as JsonObject[]).map((tool) => toOlderTool(revision, tool)) };
    case 'tools/call':
      return toOlderToolResult(revision, rest);
    case 'prompts/get':
      return {
        ...rest,
        messages: (result['messages'] as JsonObject[]).map((message) => toOlderMessage(revision, message)),
      };
    default:
      return rest;
  }
}

/** The parameters of a notification without the metadata of a subscription stream. */
export function toOlderNotification(params: JsonObject | undefined): JsonObject | undefined {
  if (params === undefined || !isObject(params['_meta'])) return params;
  const { _meta, ...rest } = params;
  const meta = withoutKey(_meta, SUBSCRIPTION_ID);
  if (meta !== undefined) return { ...rest, _meta: meta };
  return Object.keys(rest).length === 0 ? undefined : rest;
}

function withoutKey(meta: unknown, key: string): JsonObject | undefined {
  if (!isObject(meta)) return undefined;
  const { [key]: _, ...rest } = meta;
  return Object.keys(rest).length === 0 ? undefined : rest;
}

// Before 2026-07-28 structured content must be an object, so an output schema of any other type is left out.
function toOlderTool(revision: Revision, tool: JsonObject): JsonObject {
  const { outputSchema, ...rest } = tool;
  const hasObjectSchema =
    has(revision, 'structuredContent') && isObject(outputSchema) && outputSchema['type'] === 'object';
  const older = hasObjectSchema ? tool : rest;
  const taskSupport = has(revision, 'coreTasks') ? taskSupportOf(tool) : undefined;
  return taskSupport === undefined ? older : { ...older, execution: { taskSupport } };
}

function toOlderToolResult(revision: Revision, result: JsonObject): JsonObject {
  const content = (result['content'] as JsonObject[]).map((block) => toOlderBlock(revision, block));
  const older = { ...result, content };
  return has(revision, 'structuredContent') ? withObject(older) : withoutStructured(older);
}

function toOlderMessage(revision: Revision, message: JsonObject): JsonObject {
  return isObject(message['content'])
    ? { ...message, content: toOlderBlock(revision, message['content']) }
    : message;
}

function toOlderBlock(revision: Revision, block: JsonObject): JsonObject {
  if (block['type'] === 'audio' && !has(revision, 'audio')) {
    const { data, mimeType } = block;
    return { type: 'resource', resource: { uri: 'data:audio', mimeType, blob: data } };
  }
  if (block['type'] === 'resource_link' && !has(revision, 'resourceLinks')) {
    const { name, uri, description } = block;
    return { type: 'text', text: [name, uri, description].filter(Boolean).join('\n') };
  }
  return block;
}
