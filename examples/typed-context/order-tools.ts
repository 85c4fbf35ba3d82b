// #region tools
import { ToolError } from 'fullmcp';
import { z } from 'zod';
import { resource, tool } from './app.js';

export const listOrders = tool({
  description: 'The orders of the caller',
  run: (_input, { state, user }) => state.orders.of(user.account),
});

export const findOrder = tool({
  description: 'One order by its number',
  input: z.object({ id: z.int() }),
  run: ({ id }, { state, user }) => {
    const mine = state.orders.of(user.account);
    const order = mine.find((row) => row.id === id);
    if (order) return order;
    throw new ToolError(`Order ${id} does not exist. Yours are: ${mine.map((row) => row.id).join(', ')}`);
  },
});
// #endregion

export const myOrders = resource({
  title: 'My orders',
  read: (_values, { state, user }) => state.orders.of(user.account),
});
