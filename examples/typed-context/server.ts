// #region server
import { createServer } from './app.js';
import { findOrder, listOrders, myOrders } from './order-tools.js';

export default createServer({
  name: 'orders',
  version: '1.0.0',
  tools: { list_orders: listOrders, find_order: findOrder },
  resources: { 'orders://mine': myOrders },
});
// #endregion
