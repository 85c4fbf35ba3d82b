import { type RevisionSpan, within } from './features.js';
import type { Revision } from './revisions.js';

/** A method of the protocol: who has it, and which parameter HTTP mirrors into `Mcp-Name`. */
interface Method extends RevisionSpan {
  readonly nameParam?: string;
}

const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['initialize', { since: '2024-11-05', until: '2026-07-28' }],
  ['ping', { since: '2024-11-05', until: '2026-07-28' }],
  ['logging/setLevel', { since: '2024-11-05', until: '2026-07-28' }],
  ['resources/subscribe', { since: '2024-11-05', until: '2026-07-28' }],
  ['resources/unsubscribe', { since: '2024-11-05', until: '2026-07-28' }],
  ['tools/list', { since: '2024-11-05' }],
  ['tools/call', { since: '2024-11-05', nameParam: 'name' }],
  ['resources/list', { since: '2024-11-05' }],
  ['resources/templates/list', { since: '2024-11-05' }],
  ['resources/read', { since: '2024-11-05', nameParam: 'uri' }],
  ['prompts/list', { since: '2024-11-05' }],
  ['prompts/get', { since: '2024-11-05', nameParam: 'name' }],
  ['completion/complete', { since: '2024-11-05' }],
  ['tasks/list', { since: '2025-11-25', until: '2026-07-28' }],
  ['tasks/result', { since: '2025-11-25', until: '2026-07-28' }],
  ['tasks/get', { since: '2025-11-25', nameParam: 'taskId' }],
  ['tasks/cancel', { since: '2025-11-25', nameParam: 'taskId' }],
  ['tasks/update', { since: '2026-07-28', nameParam: 'taskId' }],
  ['server/discover', { since: '2026-07-28' }],
  ['subscriptions/listen', { since: '2026-07-28' }],
]);

/** Whether the protocol itself defines the method, in whatever revision. */
export function isProtocolMethod(method: string): boolean {
  return methods.has(method);
}

/** Whether `revision` knows the method. A method that the protocol does not define is a server's own: any may call it. */
export function knows(revision: Revision, method: string): boolean {
  const row = methods.get(method);
  return row === undefined || within(revision, row);
}

/** The parameter that names what the method acts on, where HTTP mirrors one. */
export function nameParam(method: string): string | undefined {
  return methods.get(method)?.nameParam;
}
