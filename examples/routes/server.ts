import { createServer } from 'fullmcp';
import { createHandler } from 'fullmcp/http';
import { fromRoutes } from 'fullmcp/openapi';
import { expressApp, fastifyApp, honoApp, mounts, routes } from './apps.js';

// #region server
const shop = await fromRoutes(honoApp, {
  info: { title: 'Shop', version: '1.0.0' },
  headers: ({ auth }) => ({ 'x-user': auth?.subject }), // nothing of the caller is forwarded unless you do it
  rules: [{ methods: ['DELETE'], as: 'nothing' }],
});
export const server = createServer(shop);

const mcp = createHandler(server);
honoApp.all('/mcp', (c) => mcp(c.req.raw)); // the same app serves the tools
// #endregion

// #region others
const stock = await fromRoutes(expressApp, { mounts, info: { title: 'Stock', version: '1.0.0' } });
const rates = await fromRoutes(fastifyApp, { routes, info: { title: 'Rates', version: '1.0.0' } });
// #endregion

export const others = { stock: createServer(stock), rates: createServer(rates) };
