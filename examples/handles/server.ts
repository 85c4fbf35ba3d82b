import { createServer, tool } from 'fullmcp';
import { z } from 'zod';

const order = z.object({ id: z.string(), country: z.string(), amount: z.number() });
const countries = ['DE', 'FR', 'PL', 'SE'];
const orders = Array.from({ length: 5000 }, (_, n) => ({
  id: `o${n}`,
  country: countries[n % countries.length] as string,
  amount: n % 100,
}));

// #region server
export const server = createServer({
  name: 'orders',
  version: '1.0.0',
  tools: {
    find_orders: tool({
      description: 'Finds all orders',
      output: z.array(order),
      // The model gets a handle and a summary in place of 5,000 orders.
      handle: true,
      run: () => orders,
    }),
    totals: tool({
      description: 'Adds up the amounts of orders, by country',
      // The value, or the handle that stands for it. The handler gets the value.
      input: z.object({ orders: z.array(order) }),
      run({ orders }) {
        const totals = new Map<string, number>();
        for (const { country, amount } of orders) totals.set(country, (totals.get(country) ?? 0) + amount);
        return Object.fromEntries(totals);
      },
    }),
  },
});
// #endregion
