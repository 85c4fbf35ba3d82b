import { createMcpHandler } from '@modelcontextprotocol/server';
import { makeServer } from './server.js';

const handler = createMcpHandler(makeServer);
Bun.serve({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  fetch: (request) => handler.fetch(request),
});
