import { type RevisionSpan, within } from './features.js';
import type { Revision } from './revisions.js';

// The methods of the protocol as rows of a table: the revisions that have them, and how clients treat them.

/** A method of the protocol, and the revisions that have it. */
interface Method extends RevisionSpan {
  /** The parameter that HTTP mirrors into `Mcp-Name`. */
  readonly nameParam?: string;
  /** Whether a call can do no harm if it is made twice. */
  readonly safe?: true;
  /** Whether a client may cache the result (spec 2026-07-28, Caching). */
  readonly cacheable?: true;
  /** The notification that makes all cached results of the method stale. */
  readonly staleOn?: string;
}

const RESOURCES_CHANGED = 'notifications/resources/list_changed';

const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['initialize', { since: '2024-11-05', until: '2026-07-28' }],
  ['ping', { since: '2024-11-05', until: '2026-07-28' }],
  ['logging/setLevel', { since: '2024-11-05', until: '2026-07-28' }],
  ['resources/subscribe', { since: '2024-11-05', until: '2026-07-28' }],
  ['resources/unsubscribe', { since: '2024-11-05', until: '2026-07-28' }],
  [
    'tools/list',
    { since: '2024-11-05', safe: true, cacheable: true, staleOn: 'notifications/tools/list_changed' },
  ],
  ['tools/call', { since: '2024-11-05', nameParam: 'name' }],
  ['resources/list', { since: '2024-11-05', safe: true, cacheable: true, staleOn: RESOURCES_CHANGED }],
  [
    'resources/templates/list',
    { since: '2024-11-05', safe: true, cacheable: true, staleOn: RESOURCES_CHANGED },
  ],
  ['resources/read', { since: '2024-11-05', nameParam: 'uri', safe: true, cacheable: true }],
  [
    'prompts/list',
    { since: '2024-11-05', safe: true, cacheable: true, staleOn: 'notifications/prompts/list_changed' },
  ],
  ['prompts/get', { since: '2024-11-05', nameParam: 'name', safe: true }],
  ['completion/complete', { since: '2024-11-05', safe: true }],
  ['tasks/list', { since: '2025-11-25', until: '2026-07-28' }],
  ['tasks/result', { since: '2025-11-25', until: '2026-07-28' }],
  ['tasks/get', { since: '2025-11-25', nameParam: 'taskId', safe: true }],
  ['tasks/cancel', { since: '2025-11-25', nameParam: 'taskId', safe: true }],
  ['tasks/update', { since: '2026-07-28', nameParam: 'taskId' }],
  ['server/discover', { since: '2026-07-28', safe: true, cacheable: true }],
  ['subscriptions/listen', { since: '2026-07-28' }],
]);

/** Whether the protocol itself defines the method, in any revision. */
export function isProtocolMethod(method: string): boolean {
  return methods.has(method);
}

/** Whether `revision` has the method. A method that the protocol does not define is a server's own, in every revision. */
export function knows(revision: Revision, method: string): boolean {
  const row = methods.get(method);
  return row === undefined || within(revision, row);
}

/** The parameter that HTTP mirrors into `Mcp-Name`: the name, URI or id that the method acts on. */
export function nameParam(method: string): string | undefined {
  return methods.get(method)?.nameParam;
}

/** Whether a call of the method can do no harm if it is made twice. */
export function isSafe(method: string): boolean {
  return methods.get(method)?.safe === true;
}

/** Whether a client may cache the result of the method. */
export function isCacheable(method: string): boolean {
  return methods.get(method)?.cacheable === true;
}

/** The methods whose cached results a notification makes stale. */
export function staleMethods(notification: string): readonly string[] {
  return staleOn.get(notification) ?? [];
}

// Made once, because every notification that a client receives is looked up here.
const staleOn: ReadonlyMap<string, readonly string[]> = methodsByStaleOn();

function methodsByStaleOn(): Map<string, string[]> {
  const byNotification = new Map<string, string[]>();
  for (const [method, row] of methods) {
    if (row.staleOn !== undefined)
      byNotification.set(row.staleOn, [...(byNotification.get(row.staleOn) ?? []), method]);
  }
  return byNotification;
}
