import { createServer, McpError } from 'fullmcp';
import { Orders } from './app.js';
import { findOrder, listOrders, myOrders } from './order-tools.js';

// #region server
export default createServer({
  name: 'orders',
  version: '1.0.0',
  lifespan: async function* () {
    const orders = new Orders();
    yield { orders };
    orders.close();
  },
  context: ({ request }) => {
    const account = request?.header('x-account');
    if (account === undefined) throw new McpError('invalid_request', 'Who are you? Send X-Account.');
    return { account };
  },
  tools: { list_orders: listOrders, find_order: findOrder },
  resources: { 'orders://mine': myOrders },
});
// #endregion
