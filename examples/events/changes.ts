// A server whose announced changes of resources are events, too.

import { createServer, event, resource, tool } from 'fullmcp';
import { z } from 'zod';

const tickets = new Map([['T-1', { queue: 'billing', status: 'open' }]]);

export const server = createServer({
  name: 'desk',
  version: '1.0.0',
  // #region changes
  resources: {
    'tickets://{queue}/{id}': resource({ read: ({ id }) => JSON.stringify(tickets.get(id)) }),
  },
  events: {
    ticket_changed: event({
      description: 'A ticket changed. Read its resource for more',
      resource: 'tickets://{queue}/{id}',
      input: z.object({ queue: z.string().optional() }),
      match: (change, { queue }) => queue === undefined || change.queue === queue,
    }),
  },
  tools: {
    close_ticket: tool({
      input: z.object({ id: z.string() }),
      run: ({ id }, ctx) => {
        const ticket = tickets.get(id);
        if (ticket === undefined) return `There is no ticket ${id}`;
        ticket.status = 'closed';
        // Subscribers of the resource and subscribers of the event are told.
        ctx.changed.resource(`tickets://${ticket.queue}/${id}`);
        return `${id} is closed`;
      },
    }),
  },
  // #endregion
});
