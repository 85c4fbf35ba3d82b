import { createServer, type Server, ToolError, tool } from 'fullmcp';
import { postgres } from 'fullmcp/postgres';
import { z } from 'zod';

const book = tool({
  description: 'Book seats of a show',
  input: z.object({ show: z.string(), seats: z.int().min(1).max(10) }),
  task: { support: 'required', pollIntervalMs: 100 },
  async run({ show, seats }, ctx) {
    // The statements and the record of the step are one transaction: all of it happens once, or nothing does.
    await ctx.step('book', async ({ transaction }) => {
      const free = await transaction.query(
        'UPDATE shows SET free = free - $2 WHERE name = $1 AND free >= $2',
        [show, seats],
      );
      if (free.rowCount === 0) throw new ToolError(`There are not ${seats} free seats.`);
      await transaction.query('INSERT INTO bookings (show, seats) VALUES ($1, $2)', [show, seats]);
    });
    return `Booked ${seats} seats of ${show}`;
  },
});

/** The tasks are in the same database as the tables. Start any number of processes. */
export function theatre(url: string): Server<undefined, undefined> {
  return createServer({ name: 'theatre', version: '1.0.0', cluster: postgres({ url }), tools: { book } });
}
