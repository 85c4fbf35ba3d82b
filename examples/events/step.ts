// A handler that emits inside of a step.

import { createServer, event, tool } from 'fullmcp';
import { z } from 'zod';

export const server = createServer({
  name: 'payments',
  version: '1.0.0',
  events: { paid: event({ payload: z.object({ invoice: z.string() }) }) },
  tools: {
    // #region step
    pay: tool({
      input: z.object({ invoice: z.string() }),
      run: async ({ invoice }, ctx) => {
        const { sure } = await ctx.ask('confirm', {
          message: `Pay ${invoice}?`,
          schema: z.object({ sure: z.boolean() }),
        });
        if (!sure) return 'Not paid';
        // The handler may run again from its first line. The step does not, and its event has the same id in every run.
        await ctx.step('pay', (step) => step.emit('paid', { invoice }));
        return `${invoice} is paid`;
      },
    }),
    // #endregion
  },
});
