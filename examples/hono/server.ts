import { serve } from '@hono/node-server';
import { createHandler } from 'fullmcp/http';
import { Hono } from 'hono';
import server from '../basic-server/server.js';

// #region mount
const app = new Hono();
const mcp = createHandler(server);

app.all('/mcp/*', (c) => mcp(c.req.raw));
app.get('/', (c) => c.text('The rest of the app'));

export default app;
// #endregion

export const listening = serve({
  fetch: app.fetch,
  port: Number(process.env['PORT'] ?? 3000),
  hostname: '127.0.0.1',
});
