import { createServer, tool } from 'fullmcp';
import { z } from 'zod';
import { render } from '../tasks/tools.js';

const cancel_order = tool({
  title: 'Cancel an order',
  description: 'Cancels an order, after the customer has confirmed it',
  annotations: { readOnly: false, destructive: true, openWorld: false },
  input: z.object({ order: z.string() }),
  run: async ({ order }, ctx) => {
    const { reason } = await ctx.ask('reason', {
      message: `Why is ${order} cancelled?`,
      schema: z.object({ reason: z.enum(['too late', 'too expensive', 'a mistake']) }),
    });
    // #region by
    const { sure } = await ctx.ask('sure', {
      by: 'user', // an answer of the model does not count
      message: `Cancel ${order}?`,
      schema: z.object({ sure: z.boolean() }),
    });
    // #endregion
    return sure ? `${order} is cancelled: ${reason}` : 'Nothing was cancelled';
  },
});

// #region fallbacks
export default createServer({
  name: 'shop',
  version: '1.0.0',
  secret: process.env['MCP_SECRET'] ?? 'only for the examples: not a secret',
  tools: { render, cancel_order },
  fallbacks: {
    tasks: { after: 45_000 }, // a call that takes longer ends, and its work continues
    asking: 'model', // the model passes questions on
    page: 'https://shop.example.com/ask', // asks what only the user may answer
    hosts: { 'acme-desktop': { callMs: 30_000, asks: false } }, // what you know of a host
  },
});
// #endregion
