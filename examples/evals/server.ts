import { createServer, tool } from 'fullmcp';
import { z } from 'zod';

/** A server with its data: each run of an eval gets a new one, so that no run sees what another one did. */
export default function billing() {
  const invoices = [{ customer: 'Ada', amount: 1200 }];
  const tickets = new Map([
    ['T-7', 'The printer smokes'],
    ['T-9', 'A key is missing'],
  ]);
  return createServer({
    name: 'billing',
    version: '1.0.0',
    instructions: 'Amounts are in euros.',
    tools: {
      create_invoice: tool({
        description: 'Bills a customer. The invoice is sent at once.',
        input: z.object({ customer: z.string(), amount: z.number() }),
        annotations: { destructive: false },
        run: (invoice) => {
          invoices.push(invoice);
          return `Billed ${invoice.amount} to ${invoice.customer}`;
        },
      }),
      create_quote: tool({
        description: 'Writes an offer for a customer, which can be accepted or not.',
        input: z.object({ customer: z.string(), amount: z.number() }),
        run: ({ customer }) => `Wrote an offer to ${customer}`,
      }),
      list_invoices: tool({
        description: 'Lists the invoices that were sent, with their sum.',
        annotations: { readOnly: true },
        run: () => {
          const sum: number = invoices.reduce((total, { amount }) => total + amount, 0);
          return { invoices, sum };
        },
      }),
      list_tickets: tool({
        description: 'Lists open tickets of customers, the oldest first.',
        annotations: { readOnly: true },
        run: () => [...tickets].map(([id, title]) => ({ id, title })),
      }),
      close_ticket: tool({
        description: 'Closes a ticket. Asks the user first.',
        input: z.object({ id: z.string() }),
        run: async ({ id }, ctx) => {
          const schema = z.object({ sure: z.boolean() });
          const { sure } = await ctx.ask('sure', { message: `Close ${id}?`, schema });
          return sure && tickets.delete(id) ? `Closed ${id}` : `${id} stays open`;
        },
      }),
    },
  });
}
