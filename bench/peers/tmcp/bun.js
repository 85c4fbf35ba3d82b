import { HttpTransport } from '@tmcp/transport-http';
import server from './server.js';

const transport = new HttpTransport(server, { path: '/mcp' });
Bun.serve({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  fetch: async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 }),
});
