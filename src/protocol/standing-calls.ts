// The calls that stay open until their client, or the server, ends them.

import { EVENT_STREAM } from './events/methods.js';

/** Whether calls of a method stay open: they have no time limit, and end with a result when they are ended. */
export function staysOpen(method: string): boolean {
  return method === 'subscriptions/listen' || method === EVENT_STREAM;
}

/** Whether calls of a method notify their clients at intervals. A stream of such a call carries nothing else, not even comments. */
export function hasHeartbeat(method: string): boolean {
  return method === EVENT_STREAM;
}
