import { createServer, ToolError, tool } from 'fullmcp';
import { z } from 'zod';

const prices: Readonly<Record<string, number>> = { apple: 3, pear: 2 };

export default createServer({
  name: 'shop',
  version: '1.0.0',
  tools: {
    price: tool({
      input: z.object({ item: z.string() }),
      run: ({ item }) => {
        const price = prices[item];
        if (price === undefined) throw new ToolError(`There is no ${item}`);
        return { item, price };
      },
    }),
    wipe: tool({
      run: async (_, ctx) => {
        if (!ctx.auth?.scopes.includes('admin')) throw new ToolError('Only for admins');
        const schema = z.object({ ok: z.boolean() });
        const { ok } = await ctx.ask('confirm', { message: 'Wipe it all?', schema });
        return ok ? 'done' : 'nothing done';
      },
    }),
    count: tool({
      input: z.object({ to: z.number() }),
      run: ({ to }, ctx) => {
        for (let i = 1; i <= to; i++) ctx.progress(i, to);
        return to;
      },
    }),
  },
});
