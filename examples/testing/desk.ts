// A server with events, for the tests beside it.

import { createServer, event } from 'fullmcp';
import { z } from 'zod';

export const ticket_changed = event({
  description: 'A ticket changed',
  input: z.object({ queue: z.string() }),
  payload: z.object({ id: z.string(), queue: z.string() }),
  match: (ticket, { queue }) => ticket.queue === queue,
});

export const server = createServer({ name: 'desk', version: '1.0.0', events: { ticket_changed } });
