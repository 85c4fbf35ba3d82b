// A client that polls for events, as any client of the protocol can.

import { type InProcess, inProcess } from 'fullmcp';
import { server } from './desk.js';

// #region poll
/** Returns the function that gets the events since the last time. Keep the cursor, and it continues after a restart. */
export async function follow(ask: InProcess, queue: string): Promise<() => Promise<unknown[]>> {
  const poll = (cursor: unknown) =>
    ask('events/poll', { name: 'ticket_changed', arguments: { queue }, cursor });
  let { cursor } = await poll(null);
  return async function news() {
    const events: unknown[] = [];
    for (;;) {
      const page = await poll(cursor);
      cursor = page['cursor'];
      events.push(...(page['events'] as unknown[]));
      if (!page['hasMore']) return events;
    }
  };
}
// #endregion

export const billing = (): Promise<() => Promise<unknown[]>> => follow(inProcess(server), 'billing');
