// A server whose events happen on a schedule.

import { createServer, event } from 'fullmcp';
import { z } from 'zod';

const tickets = [{ id: 'T-1', status: 'open', since: Date.parse('2026-11-01T09:00:00Z') }];

export const server = createServer({
  name: 'desk',
  version: '1.0.0',
  // #region schedule
  events: {
    ticket_overdue: event({
      description: 'A ticket has been open for a week',
      payload: z.object({ id: z.string() }),
      schedule: {
        every: '5m',
        run: ({ at, previous }) => {
          const isDue = (ticket: { since: number }, time: Date) => ticket.since + 7 * 86_400_000 <= +time;
          // Those that were overdue at the moment before were told then.
          return tickets.filter(
            (ticket) => isDue(ticket, at) && (previous === undefined || !isDue(ticket, previous)),
          );
        },
      },
    }),
    week_began: event({
      description: 'On Monday at nine: the number of open tickets',
      payload: z.object({ open: z.number() }),
      schedule: {
        cron: '0 9 * * MON',
        timeZone: 'Europe/Berlin',
        run: () => ({ open: tickets.filter(({ status }) => status === 'open').length }),
      },
    }),
  },
  // #endregion
});
