// A ticket desk that tells its clients what happens.

// #region define
import { createServer, event, tool } from 'fullmcp';
import { z } from 'zod';

const tickets = new Map<string, { id: string; queue: string; status: string }>();

export const server = createServer({
  name: 'desk',
  version: '1.0.0',
  events: {
    ticket_changed: event({
      description: 'A ticket was opened, or its status changed',
      input: z.object({ queue: z.string().optional() }),
      payload: z.object({ id: z.string(), queue: z.string(), status: z.string() }),
      match: (ticket, { queue }) => queue === undefined || ticket.queue === queue,
    }),
  },
  tools: {
    open_ticket: tool({
      description: 'Open a ticket',
      input: z.object({ id: z.string(), queue: z.string() }),
      run: async ({ id, queue }, ctx) => {
        const ticket = { id, queue, status: 'open' };
        tickets.set(id, ticket);
        await ctx.emit('ticket_changed', ticket, { eventId: `${id}-open` });
        return ticket;
      },
    }),
  },
});
// #endregion

// #region emit
/** Closes a ticket. It may be called again after a failure: the event has the same id, and is told once. */
export async function close(id: string): Promise<void> {
  const ticket = tickets.get(id);
  if (ticket === undefined) throw new Error(`There is no ticket ${id}`);
  ticket.status = 'closed';
  await server.emit('ticket_changed', ticket, { eventId: `${id}-closed` });
}
// #endregion
