import { setTimeout } from 'node:timers/promises';
import { tool } from 'fullmcp';
import { z } from 'zod';
import { mail } from './mail.js';

// #region optional
export const render = tool({
  description: 'Render the pages of a book',
  input: z.object({ pages: z.int().min(1).max(500), msPerPage: z.int().min(1).default(100) }),
  task: 'optional',
  run: async ({ pages, msPerPage }, { progress, signal }) => {
    for (let page = 1; page <= pages; page++) {
      await setTimeout(msPerPage, undefined, { signal });
      progress(page, pages, `Page ${page}`);
    }
    return `${pages} pages`;
  },
});
// #endregion

// #region steps
export const newsletter = tool({
  description: 'Send a newsletter',
  input: z.object({ text: z.string(), to: z.array(z.email()).max(1000) }),
  task: { support: 'required', ttlMs: 24 * 3_600_000, pollIntervalMs: 50 },
  run: async ({ text, to }, ctx) => {
    const { send } = await ctx.ask('sure', {
      message: `Send this to ${to.length} people?\n\n${text}`,
      schema: z.object({ send: z.boolean() }),
    });
    if (!send) return 'Nothing was sent';
    for (const [done, address] of to.entries()) {
      await ctx.step(`mail ${address}`, ({ idempotencyKey }) => mail.send(address, text, idempotencyKey));
      ctx.progress(done + 1, to.length, 'Sending');
    }
    return `Sent to ${to.length}`;
  },
});
// #endregion

// #region background
export const order = tool({
  description: 'Order a print',
  task: { support: 'optional', start: 'on-background', pollIntervalMs: 50 },
  run: async (_input, ctx) => {
    const { address } = await ctx.ask('address', {
      message: 'Where do we send it?',
      schema: z.object({ address: z.string() }),
    });
    await ctx.background(); // the client gets the task here, and may disconnect
    const paper = await ctx.step('print', () => 'A3, folded');
    const { gift } = await ctx.ask('gift', {
      message: 'Printed. Wrap it as a gift?',
      schema: z.object({ gift: z.boolean() }),
    });
    return `${paper}${gift ? ', wrapped' : ''}, to ${address}`;
  },
});
// #endregion
