import { createServer, ToolError, tool } from 'fullmcp';
import { z } from 'zod';

const PAGE = 50;
const orders = Array.from({ length: 230 }, (_, i) => ({ id: 230 - i, total: (i * 37) % 500 })); // newest first

export default createServer({
  name: 'orders',
  version: '1.0.0',
  tools: {
    list_orders: tool({
      description: `List orders, newest first, ${PAGE} at a time. Pass "next" on as "cursor" for the next page.`,
      input: z.object({ cursor: z.string().max(20).optional() }),
      output: z.object({
        orders: z.array(z.object({ id: z.int(), total: z.number() })),
        next: z.string().optional(),
      }),
      annotations: { readOnly: true },
      run({ cursor }) {
        // The id of the last order, not a number of rows: new orders do not shift the pages.
        const before = cursor === undefined ? Number.POSITIVE_INFINITY : Number(cursor);
        if (Number.isNaN(before)) throw new ToolError('The cursor is wrong. Start without one.');
        const rest = orders.filter(({ id }) => id < before);
        const page = rest.slice(0, PAGE);
        return { orders: page, ...(rest.length > PAGE && { next: String(page.at(-1)?.id) }) };
      },
    }),
  },
});
