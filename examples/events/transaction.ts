// A shop whose events are committed together with its rows.

import { createServer, event, tool } from 'fullmcp';
import { postgres } from 'fullmcp/postgres';
import type { ClientBase } from 'pg';
import { z } from 'zod';

const purchased = event({ payload: z.object({ item: z.string(), isPaid: z.boolean() }) });

// #region step
const buy = tool({
  input: z.object({ item: z.string() }),
  task: { support: 'required' },
  run: async ({ item }, ctx) => {
    await ctx.step('buy', async ({ transaction, emit }) => {
      await transaction.query('INSERT INTO purchase (item) VALUES ($1)', [item]);
      await emit('purchased', { item, isPaid: true });
    });
    return `${item} is yours`;
  },
});
// #endregion

/** The tasks, the events and the purchases are in the same database. */
export function shopOf(url: string) {
  return createServer({
    name: 'shop',
    version: '1.0.0',
    cluster: postgres({ url }),
    events: { purchased },
    tools: { buy },
  });
}

type Shop = Pick<ReturnType<typeof shopOf>, 'emit'>;

// #region own
/** Deletes a purchase and tells it, or does neither. */
export async function refund(server: Shop, client: ClientBase, item: string): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query('DELETE FROM purchase WHERE item = $1', [item]);
    const data = { item, isPaid: false };
    await server.emit('purchased', data, { eventId: `refund-${item}`, transaction: client });
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}
// #endregion
