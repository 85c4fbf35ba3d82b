import { createServer, ToolError, tool } from 'fullmcp';
import { rest } from 'fullmcp/rest';
import { Hono } from 'hono';
import { z } from 'zod';

const orders = new Map([['1', { item: 'Tea' }]]);

export const server = createServer({
  name: 'shop',
  version: '1.0.0',
  tools: {
    read_order: tool({
      description: 'Reads an order.',
      input: z.object({ id: z.string() }),
      output: z.object({ item: z.string() }),
      run({ id }) {
        const order = orders.get(id);
        if (order === undefined) throw new ToolError(`Order ${id} does not exist.`);
        return order;
      },
    }),
    greet: tool({ run: () => 'Welcome to the shop.' }),
  },
});

// #region hono
const api = rest(server);

export const app = new Hono();
app.all('/api/*', (c) => api(c.req.raw));
// #endregion
