import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Outcome } from '../../protocol/call.js';
import type { InputRequest } from '../../protocol/model/input.js';
import type { ServerCapabilities } from '../../protocol/model/model.js';
import { QUESTION_KEY } from '../../protocol/tables/meta-keys.js';
import { withoutObject } from './structured.js';

// Translates results and notifications of the session era into the shapes of the newest revision.

/** The outcome for a session-era result. */
export function modernOutcome(method: string, result: JsonObject): Outcome {
  return { ...(method === 'tools/call' ? toolResult(result) : result), resultType: 'complete' };
}

// Some servers leave out the content if there is structured content.
function toolResult(result: JsonObject): JsonObject {
  const restored = withoutObject(result);
  return Array.isArray(restored['content']) ? restored : { ...restored, content: [] };
}

const lists: ReadonlyMap<string, readonly [keyof ServerCapabilities, string]> = new Map([
  ['prompts/list', ['prompts', 'prompts']],
  ['resources/list', ['resources', 'resources']],
  ['resources/templates/list', ['resources', 'resourceTemplates']],
]);

/**
 * An empty list, for a list that the server does not offer; undefined for any other method. Asked for such a list, servers of the
 * session era respond with an error or not at all. Tools are always requested: many servers have them without declaring them.
 */
export function emptyList(method: string, capabilities: Readonly<ServerCapabilities>): Outcome | undefined {
  const [capability, field] = lists.get(method) ?? [];
  return capability === undefined || field === undefined || capabilities[capability] !== undefined
    ? undefined
    : { resultType: 'complete', [field]: [] };
}

/** A task of 2025-11-25 in the shape of the extension. */
export function modernTask(task: JsonObject): JsonObject {
  const { ttl, pollInterval, ...rest } = task;
  return {
    ...rest,
    ...(ttl !== undefined && { ttlMs: ttl }),
    ...(pollInterval !== undefined && { pollIntervalMs: pollInterval }),
  };
}

/** A notification of the session era in the shape of the newest revision. */
export function modernNotification(
  method: string,
  params: JsonObject | undefined,
): readonly [method: string, params: JsonObject | undefined] {
  return method === 'notifications/tasks/status' && isObject(params)
    ? ['notifications/tasks', modernTask(params)]
    : [method, params];
}

/** A question of a session-era server, in the form of the newest revision. There, its key is not part of it, and URLs have no ids. */
export function modernQuestion({ method, params = {} }: InputRequest): InputRequest {
  const { elicitationId, _meta, ...rest } = params;
  const { [QUESTION_KEY]: key, ...meta } = isObject(_meta) ? _meta : {};
  const isUrl = params['mode'] === 'url';
  return {
    method,
    params: {
      ...rest,
      ...(elicitationId !== undefined && !isUrl && { elicitationId }),
      ...(Object.keys(meta).length > 0 && { _meta: meta }),
    },
  };
}
