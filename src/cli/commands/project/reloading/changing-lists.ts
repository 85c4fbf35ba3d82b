// The lists of code that is being edited may change at any time, even if the code itself says that they never do.

import { isObject, type JsonObject } from '../../../../jsonrpc/message.js';
import type { Call, Outcome } from '../../../../protocol/call.js';
import type { SubscriptionFilter } from '../../../../protocol/model/model.js';
import { ACKNOWLEDGED, grant, listKinds, union } from '../../../../protocol/model/subscriptions.js';

/** The lists by their methods: the capability that they belong to, and the field of the result. */
const LISTS: ReadonlyMap<string, readonly [capability: string, field: string]> = new Map([
  ['tools/list', ['tools', 'tools']],
  ['prompts/list', ['prompts', 'prompts']],
  ['resources/list', ['resources', 'resources']],
  ['resources/templates/list', ['resources', 'resourceTemplates']],
]);

/** An outcome that may not be cached; of `server/discover`, one that announces changes of all lists. */
export function asChanging(call: Call, outcome: Outcome): Outcome {
  // Without a scope of caching, the time is something else: how long a task is kept.
  const fresh = 'cacheScope' in outcome ? { ...outcome, ttlMs: 0 } : outcome;
  if (call.method !== 'server/discover') return fresh;
  const capabilities = isObject(fresh['capabilities']) ? fresh['capabilities'] : {};
  const lists = listKinds.map((kind) => [kind, { ...(capabilities[kind] as object), listChanged: true }]);
  return { ...fresh, capabilities: { ...capabilities, ...Object.fromEntries(lists) } };
}

/** The empty list of a server that has none of this kind yet; undefined if the server has to be asked. */
export function emptyList({ method }: Call, capabilities: JsonObject): Outcome | undefined {
  const [capability, field] = LISTS.get(method) ?? [];
  if (capability === undefined || field === undefined || capabilities[capability] !== undefined)
    return undefined;
  return { resultType: 'complete', [field]: [], ttlMs: 0, cacheScope: 'private' };
}

/** The `notify` of a subscription that is granted the changes of lists, whatever the server grants. */
export function grantingChanges(call: Call): Call['notify'] {
  const wanted = (call.params['notifications'] ?? {}) as SubscriptionFilter;
  const own = grant(wanted, (kind) => kind !== 'resource');
  return (method, params) => {
    if (method !== ACKNOWLEDGED) return call.notify(method, params);
    const theirs = (params?.['notifications'] ?? {}) as SubscriptionFilter;
    call.notify(method, { ...params, notifications: union([own, theirs]) });
  };
}
