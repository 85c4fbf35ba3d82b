import { createServer, tool } from 'fullmcp';
import { quickjs } from 'fullmcp/code';
import { z } from 'zod';

const invoice = z.object({ id: z.string(), amount: z.number(), days: z.int() });
const invoices = [
  { id: 'in_1', amount: 120, days: 3 },
  { id: 'in_2', amount: 4000, days: 45 },
  { id: 'in_3', amount: 900, days: 60 },
];
/** The reminders that were sent. */
export const sent: string[] = [];

/** The tools, with and without code mode. */
export const tools = {
  list_invoices: tool({
    description: 'Lists the invoices that are not paid, with the days since they were sent',
    annotations: { readOnly: true },
    output: z.array(invoice),
    run: () => invoices,
  }),
  remind: tool({
    description: 'Sends a reminder for an invoice',
    annotations: { destructive: false, idempotent: true },
    input: z.object({ id: z.string() }),
    output: z.object({ sent: z.boolean() }),
    // A call that is repeated after a crash has the same key, and sends nothing again.
    idempotency: true,
    run({ id }) {
      sent.push(id);
      return { sent: true };
    },
  }),
};

// #region server
export const server = createServer({
  name: 'billing',
  version: '1.0.0',
  tools,
  // Clients list search_tools and run_code. The user approves what a program would delete.
  code: { engine: quickjs(), maxCalls: 200, approve: 'destructive' },
});
// #endregion

/** A program, as a model writes it. */
export const program = `
// #region program
const open = await tools.list_invoices({});
const late = open.filter((one) => one.days > 30);
await Promise.all(late.map((one) => tools.remind({ id: one.id })));
return { reminded: late.length };
// #endregion
`;
