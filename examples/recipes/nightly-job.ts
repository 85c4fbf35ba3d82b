import { createServer, tool } from 'fullmcp';
import { connect, type Target } from 'fullmcp/client';

export const sent: string[] = [];
const customers = ['ada@example.com', 'bea@example.com', 'carl@example.com'];

export default createServer({
  name: 'billing',
  version: '1.0.0',
  tools: {
    send_invoices: tool({
      description: 'Send the invoices of the day. Takes a while, so it runs as a task.',
      task: { support: 'required', ttlMs: 48 * 3_600_000, pollIntervalMs: 100 },
      async run(_input, ctx) {
        for (const [done, customer] of customers.entries()) {
          await ctx.step(`invoice ${customer}`, () => sent.push(customer)); // once, however often the handler runs
          ctx.progress(done + 1, customers.length, customer);
        }
        return `Sent ${customers.length} invoices`;
      },
    }),
  },
});

/** Cron runs this at 02:00. It returns at once; write the id to a file. */
export async function start(target: Target): Promise<string | undefined> {
  await using client = await connect(target);
  return (await client.startTool('send_invoices')).id;
}

/** Cron runs this at 08:00, in another process: the id is enough. */
export async function collect(target: Target, id: string): Promise<string> {
  await using client = await connect(target);
  return (await client.task(id).result()).text;
}
