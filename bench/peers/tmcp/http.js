import { createServer } from 'node:http';
import { createRequestListener } from '@remix-run/node-fetch-server';
import { HttpTransport } from '@tmcp/transport-http';
import server from './server.js';

const transport = new HttpTransport(server, { path: '/mcp' });
const listener = createRequestListener(
  async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 }),
);
createServer(listener).listen(Number(process.env.PORT), '127.0.0.1');
