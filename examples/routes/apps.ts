import express from 'express';
import fastify from 'fastify';
import { describeRoute, recordRoutes } from 'fullmcp/openapi';
import { Hono } from 'hono';
import { z } from 'zod';

// Apps that exist already, in three frameworks.

const orders = new Map([['1', { id: '1', item: 'Tea' }]]);

// #region hono
const newOrder = z.object({ item: z.string().describe('The name of the article') });

export const honoApp = new Hono();
honoApp.get('/orders/:id', describeRoute({ operationId: 'readOrder', summary: 'Reads an order' }), (c) => {
  const order = orders.get(c.req.param('id'));
  return order === undefined ? c.json({ title: 'There is no such order.' }, 404) : c.json(order);
});
honoApp.post('/orders', describeRoute({ operationId: 'placeOrder', body: newOrder }), async (c) => {
  const { item } = newOrder.parse(await c.req.json());
  const order = { id: String(orders.size + 1), item, by: c.req.header('x-user') ?? 'nobody' };
  orders.set(order.id, order);
  return c.json(order, 201);
});
honoApp.delete('/orders', (c) => {
  orders.clear();
  return c.body(null, 204);
});
// #endregion

// #region express
const stock = express.Router();
stock.get(
  '/:article',
  describeRoute({ operationId: 'readStock', response: z.object({ left: z.number() }) }),
  (_, res) => {
    res.json({ left: 12 });
  },
);

export const expressApp = express();
expressApp.use('/stock', stock);
export const mounts = { '/stock': stock }; // Express does not tell where a router is mounted
// #endregion

// #region fastify
export const fastifyApp = fastify();
export const routes = recordRoutes(fastifyApp); // before the first route
fastifyApp.get(
  '/rates/:currency',
  { schema: { params: { type: 'object', properties: { currency: { enum: ['EUR', 'USD'] } } } } },
  async () => ({ rate: 1.5 }),
);
// #endregion
