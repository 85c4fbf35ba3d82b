import { createServer, defineWith, resource, tool } from 'fullmcp';
import { z } from 'zod';

// #region servers
const weather = createServer({
  name: 'weather',
  version: '1.0.0',
  tools: {
    forecast: tool({
      description: 'The forecast for a city',
      input: z.object({ city: z.string() }),
      run: ({ city }) => `${city}: sunny`,
    }),
  },
  resources: { 'stations://all': resource({ read: () => ['Rome', 'Oslo'] }) },
});

const { tool: ordersTool, createServer: createOrders } = defineWith({
  lifespan: async function* () {
    yield { orders: new Map([[1, 'Compass']]) };
  },
});

const orders = createOrders({
  name: 'orders',
  version: '1.0.0',
  tools: {
    find: ordersTool({
      input: z.object({ id: z.int() }),
      run: ({ id }, { state }) => state.orders.get(id) ?? 'There is no such order',
    }),
  },
});

export const server = createServer({
  name: 'shop',
  version: '1.0.0',
  // weather_forecast, weather+stations://all, orders_find
  mount: { weather, orders },
  tools: {
    delivery: tool({
      description: 'Whether an order can be delivered today',
      input: z.object({ id: z.int(), city: z.string() }),
      async run({ id, city }, ctx) {
        const [order] = (await ctx.call('orders_find', { id })).content;
        const [sky] = (await ctx.call('weather_forecast', { city })).content;
        return [order, sky];
      },
    }),
  },
});
// #endregion

// #region live
export function season(month: number): void {
  if (month === 12) {
    const gifts = createServer({
      name: 'gifts',
      version: '1.0.0',
      tools: { wrap: tool({ run: () => 'Wrapped' }) },
    });
    holidays = server.mount('gifts', gifts);
  } else {
    holidays?.remove();
  }
}
// #endregion

let holidays: ReturnType<typeof server.mount> | undefined;
