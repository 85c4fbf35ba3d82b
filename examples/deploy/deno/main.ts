import process from 'node:process';
import { createHandler } from 'fullmcp/http';
import server from '../../basic-server/server.js';

/** The part of Deno that is used here, for compilers that do not know it. */
declare const Deno: {
  serve(handler: (request: Request) => Promise<Response>): { readonly shutdown: () => Promise<void> };
};

// #region serve
const handler = createHandler(server, {
  publicUrl: process.env['MCP_PUBLIC_URL'],
  secret: process.env['MCP_SECRET'],
});
const http = Deno.serve((request) => handler(request));

process.once('SIGTERM', async () => {
  // Deno would wait for open streams, so they are ended first.
  await Promise.all([handler.close({ deadlineMs: 5000 }), server.drain()]);
  await http.shutdown();
  await server.close();
});
// #endregion
