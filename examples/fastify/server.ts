import fastify from 'fastify';
import { createPlugin } from 'fullmcp/fastify';
import server from '../basic-server/server.js';

// #region mount
export const app = fastify();

await app.register(createPlugin(server), { prefix: '/mcp' });
app.get('/', () => 'The rest of the app');
app.addHook('onClose', () => server.close());

export const url = await app.listen({ port: Number(process.env['PORT'] ?? 3000) });
// #endregion
