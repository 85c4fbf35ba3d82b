import { createServer, type Server, ToolError, tool } from 'fullmcp';
import { postgres } from 'fullmcp/postgres';
import { z } from 'zod';

// #region transaction
const transfer = tool({
  description: 'Move money from one account to another',
  input: z.object({ from: z.string(), to: z.string(), cents: z.int().min(1) }),
  task: { support: 'required', pollIntervalMs: 50 },
  run: async ({ from, to, cents }, ctx) => {
    await ctx.step('transfer', async ({ transaction }) => {
      const taken = await transaction.query(
        'UPDATE account SET cents = cents - $2 WHERE name = $1 AND cents >= $2',
        [from, cents],
      );
      if (taken.rowCount === 0) throw new ToolError(`${from} does not have ${cents} cents`);
      await transaction.query('UPDATE account SET cents = cents + $2 WHERE name = $1', [to, cents]);
    });
    return `${cents} cents are in the account of ${to}`;
  },
});
// #endregion

// #region server
/** The tasks and the accounts are in the same database. */
export function bank(url: string): Server<undefined, undefined> {
  return createServer({ name: 'bank', version: '1.0.0', cluster: postgres({ url }), tools: { transfer } });
}
// #endregion
