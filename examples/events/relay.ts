// Tells the events of another server by webhook, which a gateway in front of that server does not.

import { createServer, event } from 'fullmcp';
import type { Client } from 'fullmcp/client';
import type { EventStore } from 'fullmcp/events';
import { z } from 'zod';
import type { server as desk } from './desk.js';

export const server = createServer({
  name: 'news',
  version: '1.0.0',
  webhooks: {},
  events: {
    ticket_changed: event({
      description: 'A ticket was opened, or its status changed',
      payload: z.object({ id: z.string(), queue: z.string(), status: z.string() }),
    }),
  },
});

// #region relay
/** Emits the events of another server again, from where the last run has stopped. */
export function relay(client: Client<typeof desk>, store: EventStore) {
  return client.on(
    'ticket_changed',
    {},
    async ({ data, eventId, timestamp }) => {
      await server.emit('ticket_changed', data, { eventId, timestamp });
    },
    { store },
  );
}
// #endregion
