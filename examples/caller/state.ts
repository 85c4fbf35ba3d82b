import { createServer, stored, tool } from 'fullmcp';
import { z } from 'zod';

// #region cart
const cart = stored({
  name: 'cart',
  schema: z.object({ items: z.array(z.string()) }),
  initial: { items: [] },
});

export const shop = createServer({
  name: 'shop',
  version: '1.0.0',
  tools: {
    add: tool({
      description: 'Adds an item to the cart of the user.',
      input: z.object({ item: z.string() }),
      run: ({ item }, ctx) => ctx.store(cart).update(({ items }) => ({ items: [...items, item] })),
    }),
    show: tool({ description: 'Shows the cart of the user.', run: (_input, ctx) => ctx.store(cart).get() }),
  },
});
// #endregion

const id = z.string().describe('The id that create_basket returned.');

// #region baskets
const basket = stored({
  name: 'basket',
  schema: z.object({ items: z.array(z.string()) }),
  ttlMs: 24 * 3_600_000,
});

export const baskets = createServer({
  name: 'baskets',
  version: '1.0.0',
  tools: {
    create_basket: tool({
      description:
        'Creates an empty basket. Returns its id. A basket expires 24 hours after its last change.',
      run: async (_input, ctx) => ({ id: await ctx.store(basket).create({ items: [] }) }),
    }),
    add_item: tool({
      description: 'Adds an item to a basket.',
      input: z.object({ id, item: z.string() }),
      run: ({ id, item }, ctx) => ctx.store(basket, id).update(({ items }) => ({ items: [...items, item] })),
    }),
    list_baskets: tool({
      description: 'Lists the baskets of the user, for a conversation that has lost their ids.',
      run: (_input, ctx) => ctx.store(basket).list(),
    }),
  },
});
// #endregion

// #region order
export const orders = createServer({
  name: 'orders',
  version: '1.0.0',
  tools: {
    checkout: tool({
      async run(_input, ctx) {
        const { items } = await ctx.store(cart).get();
        const message = `Order ${items.length} items?`;
        const { yes } = await ctx.ask('sure', { message, schema: z.object({ yes: z.boolean() }) });
        if (!yes) return 'Nothing was ordered';
        // The handler runs again from its first line when the answer arrives, and a step runs once.
        await ctx.step('empty', () => ctx.store(cart).delete());
        return `Ordered ${items.length} items`;
      },
    }),
  },
});
// #endregion
